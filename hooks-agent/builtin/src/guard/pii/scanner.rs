//! One pass over a text for several built-in kinds.

use std::ops::Range;
use std::sync::Arc;

use crate::guard::fold;
use crate::guard::pii::confidence::PiiConfidence;
use crate::guard::pii::detector::{PiiDetector, PiiMatch};
use crate::guard::pii::folded::{self, Folded, Match};
use crate::guard::pii::id::Ids;
use crate::guard::pii::kind::PiiKind;
use crate::guard::pii::overlap::{PiiCluster, pii_clusters, settled_clusters};
use crate::guard::pii::shape::phone::region::Region;
use crate::guard::pii::shape::{
    birth, card, coordinates, crypto, email, iban, ip, mac, phone, plain, url,
};

/// The most bytes from the start of a match to the byte that triggers its parser.
const LOOK_BACK: usize = 288;
/// The most characters that a match which is not a URL has, with what is read before and after it.
const WINDOW: usize = 400;

/// Finds built-in kinds of personal data in one pass.
///
/// A byte that each match of a kind has (`@`, `:`, a digit, …) triggers the parser of this kind, which
/// reads a bounded number of bytes around it. The time is linear in the length of any text.
///
/// As a [`PiiDetector`], [`find`](PiiDetector::find) merges kinds that overlap: the range is all of
/// them, the kind that of the longest match. [`scan`](PiiDetector::scan) returns every match.
///
/// A value is found in other forms, too: in full width, with characters that do not show, with other blanks
/// and dashes, over a line break, as entities and escapes. The range is that of the value as it is written.
///
/// A URL is cut after 4096 bytes and the rest of it is text; other matches are shorter than 400 bytes.
/// [`settled`](PiiDetector::settled) is exact to the byte for the end of a word: nothing is pending after
/// a space, except behind digits that may be the first group of a number.
///
/// ```
/// use hooks_agent::builtin::guard::pii::{PiiDetector, PiiKind, PiiScanner};
///
/// let scanner = PiiScanner::new([PiiKind::Email, PiiKind::Phone]);
/// let text = "写信给 ana@example.com，或 +49 30 901820";
/// let mut found = Vec::new();
/// scanner.scan(text, 0, &mut found);
/// let found: Vec<_> = found.iter().map(|it| (&*it.kind, &text[it.range.clone()])).collect();
/// assert_eq!(found, [("email", "ana@example.com"), ("phone", "+49 30 901820")]);
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct PiiScanner {
    /// In the order of registration, without repetitions.
    kinds: Vec<PiiKind>,
    active: Active,
    triggers: Triggers,
    ids: Arc<Ids>,
    /// The regions whose telephone numbers may lack the country code.
    regions: Vec<&'static Region>,
    least: PiiConfidence,
}

/// No telephone numbers of a region of this name are known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no region `{name}`: expected two letters, such as `DE` or `US`")]
pub struct UnknownRegion {
    /// The name.
    pub name: String,
}

#[derive(Clone, Copy, Debug)]
struct Active([bool; PiiKind::ALL.len()]);

impl Active {
    const NONE: Self = Self([false; PiiKind::ALL.len()]);

    fn has(self, kind: PiiKind) -> bool {
        self.0[kind as usize]
    }
}

/// The bytes that trigger a parser, and those with which something starts that stands for something else.
#[derive(Clone)]
struct Triggers(Box<[bool; 256]>);

impl std::fmt::Debug for Triggers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Triggers")
    }
}

impl Triggers {
    fn new(kinds: &[PiiKind]) -> Self {
        let mut table = Box::new([false; 256]);
        let bytes = kinds.iter().flat_map(|kind| triggers(*kind)).copied();
        let leads = (0..=u8::MAX).filter(|byte| !kinds.is_empty() && fold::is_lead(*byte));
        bytes.chain(leads).for_each(|byte| table[usize::from(byte)] = true);
        Self(table)
    }

    /// The first trigger at `at` or later.
    fn next(&self, text: &[u8], at: usize) -> Option<usize> {
        let rest = text.get(at..)?;
        Some(at + rest.iter().position(|byte| self.0[usize::from(*byte)])?)
    }
}

fn triggers(kind: PiiKind) -> &'static [u8] {
    match kind {
        PiiKind::Email => b"@",
        PiiKind::Ipv6 => b":",
        PiiKind::MacAddress => b":-.",
        PiiKind::Url => b":./",
        PiiKind::Phone => b"0123456789+(",
        _ => b"0123456789",
    }
}

impl PiiScanner {
    /// A scanner for these kinds. When two matches of the same length overlap, the kind that is first
    /// here names the token.
    pub fn new(kinds: impl IntoIterator<Item = PiiKind>) -> Self {
        let (mut unique, mut active) = (Vec::new(), Active::NONE);
        for kind in kinds {
            if !std::mem::replace(&mut active.0[kind as usize], true) {
                unique.push(kind);
            }
        }
        let least = PiiConfidence::default();
        let ids = Arc::new(Ids::new(&unique, least));
        Self {
            triggers: Triggers::new(&unique),
            kinds: unique,
            active,
            ids,
            regions: Vec::new(),
            least,
        }
    }

    /// Sets how sure it must be that an identity or tax number is one.
    ///
    /// ```
    /// use hooks_agent::builtin::guard::pii::{PiiConfidence, PiiDetector, PiiKind, PiiScanner};
    ///
    /// let scanner = PiiScanner::new([PiiKind::UsSsn]);
    /// assert!(scanner.find("SSN 219-09-9999", 0).is_some());
    /// assert!(scanner.find("part 219-09-9999", 0).is_none());
    /// let scanner = scanner.min_confidence(PiiConfidence::Low);
    /// assert!(scanner.find("part 219-09-9999", 0).is_some());
    /// ```
    pub fn min_confidence(mut self, least: PiiConfidence) -> Self {
        self.ids = Arc::new(Ids::new(&self.kinds, least));
        self.least = least;
        self
    }

    /// Names regions whose telephone numbers are found without a country code, too: by two letters, such as
    /// `DE`. Of other regions, only numbers of a clear shape are found so, and what a word such as `tel`
    /// announces. The plans of all regions are those of libphonenumber.
    ///
    /// # Errors
    /// [`UnknownRegion`] if there are no numbers of a region of this name.
    ///
    /// ```
    /// use hooks_agent::builtin::guard::pii::{PiiDetector, PiiKind, PiiScanner};
    ///
    /// let scanner = PiiScanner::new([PiiKind::Phone]);
    /// assert!(scanner.find("612 34 56 78 90", 0).is_none());
    /// assert!(scanner.find("tel 612 345 678", 0).is_some());
    /// let scanner = scanner.phone_regions(["ES", "FR"])?;
    /// assert!(scanner.find("612 345 678", 0).is_some());
    /// # Ok::<(), hooks_agent::builtin::guard::pii::UnknownRegion>(())
    /// ```
    pub fn phone_regions<R: AsRef<str>>(
        mut self,
        regions: impl IntoIterator<Item = R>,
    ) -> Result<Self, UnknownRegion> {
        self.regions.clear();
        for name in regions {
            let name = name.as_ref();
            let before = self.regions.len();
            self.regions.extend(Region::named(name));
            if self.regions.len() == before {
                return Err(UnknownRegion { name: name.to_owned() });
            }
        }
        Ok(self)
    }

    /// A scanner for [all kinds](PiiKind::ALL) but those [by choice](PiiKind::is_by_choice).
    pub fn all() -> Self {
        Self::new(PiiKind::ALL.into_iter().filter(|kind| !kind.is_by_choice()))
    }

    /// The kinds that are found, in the order of registration.
    #[must_use]
    pub fn kinds(&self) -> &[PiiKind] {
        &self.kinds
    }

    /// Runs the parsers on the text from `from`, and sorts what they find. `first_only` ends early, once
    /// the first cluster is complete.
    fn run(&self, text: &str, from: usize, first_only: bool) -> Vec<Match> {
        let bytes = text.as_bytes();
        let (mut found, mut folded) = (Found::new(from), Folded::default());
        // A unit before `from` may touch what starts there.
        let least = text.floor_char_boundary(from.saturating_sub(fold::LONGEST_UNIT));
        for (at, _) in text[least..from.min(text.len())].char_indices() {
            if fold::is_lead(bytes[least + at]) && self.triggers.0[usize::from(bytes[least + at])] {
                folded.search(text, least + at, from, |copy, from| self.run_copy(copy, from));
            }
        }
        // An IPv6 address starts behind the colon of its label.
        let (mut at, mut complete_at) = (from.saturating_sub(1), 0);
        while let Some(trigger) = self.triggers.next(bytes, at) {
            let has_any = !found.matches.is_empty() || !folded.is_empty();
            if first_only && trigger > complete_at && has_any {
                let matches = folded.with(text, &found.matches);
                let clusters = pii_clusters(&self.ranked(&matches));
                if let Some(PiiCluster { range: cluster, .. }) = clusters.first() {
                    let complete = cluster.end + LOOK_BACK;
                    if trigger > complete {
                        break;
                    }
                    // The distance doubles, so that a long chain is not looked through at each trigger.
                    complete_at = complete.max(trigger + (trigger - cluster.start.min(trigger)));
                }
            }
            at = self.parse(bytes, trigger, &mut found);
            if fold::is_lead(bytes[trigger]) {
                folded.search(text, trigger, from, |copy, from| self.run_copy(copy, from));
            }
        }
        let mut matches = folded.with(text, &found.matches);
        matches.sort_by_key(|(kind, range)| (range.start, self.rank(*kind)));
        matches
    }

    /// Returns what is in a copy of a part of a text, from a place of the copy on.
    fn run_copy(&self, copy: &[u8], from: usize) -> Vec<Match> {
        let mut found = Found::new(from);
        let mut at = from.saturating_sub(1);
        while let Some(trigger) = self.triggers.next(copy, at) {
            at = self.parse(copy, trigger, &mut found);
        }
        found.matches
    }

    fn rank(&self, kind: PiiKind) -> usize {
        self.kinds.iter().position(|it| *it == kind).unwrap_or(self.kinds.len())
    }

    fn ranked(&self, found: &[Match]) -> Vec<(usize, Range<usize>)> {
        found.iter().map(|(kind, range)| (self.rank(*kind), range.clone())).collect()
    }

    /// Runs the parsers of a trigger. Returns the position behind the trigger.
    fn parse(&self, text: &[u8], at: usize, found: &mut Found) -> usize {
        let byte = text[at];
        match byte {
            b'@' => self.offer(found, PiiKind::Email, at, || email::at(text, at)),
            b':' | b'.' | b'/' | b'-' => {
                if byte != b'-' {
                    let url = || url::at(text, at).map(|found| found.range);
                    self.offer(found, PiiKind::Url, at, url);
                }
                if byte == b':' {
                    self.offer(found, PiiKind::Ipv6, at, || ip::v6(text, at));
                }
                if byte != b'/' {
                    self.offer(found, PiiKind::MacAddress, at, || mac::at(text, at));
                }
            }
            b'+' | b'(' => {
                self.offer(found, PiiKind::Phone, at, || phone::at(text, at, &self.regions));
            }
            b'0'..=b'9' => return self.parse_digits(text, at, found),
            _ => {}
        }
        at + 1
    }

    /// Runs the parsers of digits, on the first of a run. Returns the position behind the run.
    fn parse_digits(&self, text: &[u8], at: usize, found: &mut Found) -> usize {
        if at == 0 || !text[at - 1].is_ascii_digit() {
            self.offer(found, PiiKind::Ipv4, at, || ip::v4(text, at));
            self.offer(found, PiiKind::CreditCard, at, || card::at(text, at));
            self.offer(found, PiiKind::Phone, at, || phone::at(text, at, &self.regions));
            self.offer(found, PiiKind::Iban, at, || iban::at(text, at));
            self.offer(found, PiiKind::CryptoAddress, at, || crypto::at(text, at));
            self.offer(found, PiiKind::Coordinates, at, || coordinates::at(text, at));
            self.offer(found, PiiKind::BirthDate, at, || birth::at(text, at));
            self.ids.at(text, at, |kind, range| found.take(kind, range));
        }
        let digits = text[at..].iter().take_while(|byte| byte.is_ascii_digit());
        at + digits.count()
    }

    fn offer(
        &self,
        found: &mut Found,
        kind: PiiKind,
        at: usize,
        parse: impl FnOnce() -> Option<Range<usize>>,
    ) {
        // A trigger inside of the last match of its kind is a part of this match.
        if !self.active.has(kind) || (at < found.ends[kind as usize] && at >= found.from) {
            return;
        }
        if let Some(range) = parse() {
            found.take(kind, range);
        }
    }

    /// Returns the position from which on a match may still appear, grow or go.
    fn open(&self, text: &[u8], from: usize) -> usize {
        let has_words = self.active.has(PiiKind::Email) || self.active.has(PiiKind::Url);
        match plain::end(text, from) {
            // Only groups of an account, of a number and of a date may go on behind a word.
            Some(mut at) if has_words => {
                if self.active.has(PiiKind::Iban) {
                    at = at.min(iban::open(text, from));
                }
                if self.active.has(PiiKind::BirthDate) {
                    at = at.min(birth::open(text, from));
                }
                at.min(self.ids.open(text, from))
            }
            _ => self.open_of_kinds(text, from),
        }
    }

    fn open_of_kinds(&self, text: &[u8], from: usize) -> usize {
        let open = self.kinds.iter().map(|kind| match kind {
            PiiKind::Email => email::open(text, from),
            PiiKind::CreditCard => card::open(text, from),
            PiiKind::Ipv4 => ip::v4_open(text, from),
            PiiKind::Ipv6 => ip::v6_open(text, from),
            PiiKind::MacAddress => mac::open(text, from),
            PiiKind::Url => url::open(text, from),
            PiiKind::Phone => phone::open(text, from),
            PiiKind::Iban => iban::open(text, from),
            PiiKind::CryptoAddress => crypto::open(text, from),
            PiiKind::Coordinates => coordinates::open(text, from),
            PiiKind::BirthDate => birth::open(text, from),
            _ => text.len(),
        });
        open.chain([self.ids.open(text, from)]).min().unwrap_or(text.len())
    }
}

/// What was found so far.
struct Found {
    from: usize,
    /// The end of the last match of each kind.
    ends: [usize; PiiKind::ALL.len()],
    matches: Vec<Match>,
}

impl Found {
    fn new(from: usize) -> Self {
        Self { ends: [from; PiiKind::ALL.len()], from, matches: Vec::new() }
    }

    /// Takes a match behind the last one of its kind.
    fn take(&mut self, kind: PiiKind, range: Range<usize>) {
        if range.start >= self.ends[kind as usize] {
            self.ends[kind as usize] = range.end;
            self.matches.push((kind, range));
        }
    }
}

impl PiiDetector for PiiScanner {
    fn find(&self, text: &str, from: usize) -> Option<PiiMatch> {
        let found = self.run(text, from, true);
        let cluster = pii_clusters(&self.ranked(&found)).into_iter().next()?;
        Some(PiiMatch::new(found[cluster.longest].0.name(), cluster.range))
    }

    fn scan(&self, text: &str, from: usize, found: &mut Vec<PiiMatch>) {
        let all = self.run(text, from, false).into_iter();
        found.extend(all.map(|(kind, range)| PiiMatch::new(kind.name(), range)));
    }

    /// The kinds, in this version.
    fn id(&self) -> Option<String> {
        let (version, kinds, least) = (env!("CARGO_PKG_VERSION"), &self.kinds, self.least);
        let regions: Vec<_> = self.regions.iter().map(|region| region.name).collect();
        Some(format!("{version} folded, all regions {kinds:?} {least:?} {regions:?}"))
    }

    /// 4096 with [`PiiKind::Url`], else 400.
    fn window(&self) -> usize {
        if self.active.has(PiiKind::Url) { url::LONGEST } else { WINDOW }
    }

    fn settled(&self, text: &str, from: usize) -> usize {
        let open = self.open(text.as_bytes(), from).min(folded::open(text, from)).max(from);
        if open == text.len() || open == from {
            return open;
        }
        settled_clusters(&self.ranked(&self.run(text, from, false)), open)
    }
}

#[cfg(test)]
mod tests {
    use crate::guard::pii::PiiScanner;

    #[test]
    fn a_plain_end_is_open_where_the_parsers_say() {
        let parts =
            ["ab", "x", " ", "\n", "é", "中", "7", "1.", "a@", ":", "-", "DE89 ", "(", "/", "s://"];
        let part = |number, place| parts[number / parts.len().pow(place) % parts.len()];
        let scanner = PiiScanner::all();
        for number in 0..parts.len().pow(4) {
            let text = [0, 1, 2, 3].map(|place| part(number, place)).concat();
            for (from, _) in text.char_indices() {
                let open = scanner.open(text.as_bytes(), from);
                assert_eq!(open, scanner.open_of_kinds(text.as_bytes(), from), "{text:?} {from}");
            }
        }
    }
}
