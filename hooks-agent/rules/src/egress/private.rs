//! The text of private results, and whether a link carries some of it.

use std::collections::{BTreeSet, HashSet};
use std::fmt;

use crate::egress::readings::readings;
use crate::egress::words::{FEWEST_BYTES, Words, is_of_addresses, letters};

/// The most private text that is looked for, in bytes.
pub(super) const MOST_TEXT: usize = 1 << 20;

/// The signs behind which a link may have ended, where it is followed by them.
const ENDS: &str = ",;|(){}[]<>\"'*`";
/// How many of them are tried.
const MOST_ENDS: usize = 16;
/// The fewest letters and digits that a part has beside what the user says.
const FEWEST_MORE: usize = 6;

/// What private results say, and the links that may be repeated.
#[derive(Clone, Default)]
pub(super) struct Private {
    /// The words of the user, and what tells his texts from others.
    of_user: HashSet<u64>,
    parts: HashSet<u64>,
    /// The first bytes of the parts.
    starts: HashSet<u64>,
    /// How long parts are, in bytes.
    lengths: BTreeSet<usize>,
    /// Links that stand in messages and carry nothing.
    links: HashSet<u64>,
    /// Their hosts.
    hosts: HashSet<u64>,
    length: usize,
    /// Whether there is more than is looked for, or it is not known.
    is_unknown: bool,
}

/// A link to a listed host.
#[derive(Clone, Copy)]
pub(super) struct ListedLink<'a> {
    pub(super) host: &'a str,
    /// What of the host is not listed by name: `wiki` of `wiki.corp.example` for `*.corp.example`.
    pub(super) open_part: &'a str,
    /// What stands behind the host.
    pub(super) rest: &'a str,
}

impl Private {
    /// Knows nothing, so that every link may carry something.
    pub(super) fn unknown(mut self) -> Self {
        self.is_unknown = true;
        self
    }

    /// Adds what the user says, which a link may carry. Comes before what is private.
    pub(super) fn add_of_user(&mut self, text: &str) {
        each_reading(text, |words| {
            self.of_user.extend(words.iter().map(digest));
            words.telling(|part, _| {
                self.of_user.insert(digest(part));
            });
        });
    }

    /// Adds what a private result says.
    pub(super) fn add(&mut self, text: &str) {
        self.length += text.len();
        if self.length > MOST_TEXT {
            self.is_unknown = true;
            return;
        }
        let Self { of_user, parts, starts, lengths, .. } = self;
        let is_of_user = |text: &str| of_user.contains(&digest(text));
        let tells_more = |words: &mut dyn Iterator<Item = &str>| {
            let more = words.filter(|word| !is_of_user(word) && !is_of_addresses(word));
            more.map(|word| word.chars().count()).sum::<usize>() >= FEWEST_MORE
        };
        each_reading(text, |words| {
            words.telling(|part, words| {
                if !is_of_user(part) && tells_more(words) {
                    parts.insert(digest(part));
                    starts.insert(digest_of(&part.as_bytes()[..FEWEST_BYTES]));
                    lengths.insert(part.len());
                }
            });
        });
    }

    /// Adds a link that stands in a message, if it carries nothing.
    pub(super) fn add_link(&mut self, link: ListedLink<'_>) {
        if self.carries(link) {
            return;
        }
        self.hosts.insert(digest(link.host));
        let ends = link.rest.match_indices(|it| ENDS.contains(it)).take(MOST_ENDS);
        for end in ends.map(|(end, _)| end).chain([link.rest.len()]) {
            let link = ListedLink { rest: &link.rest[..end], ..link };
            if let Some(letters) = readings(link.rest).first().map(|it| letters(it)) {
                self.links.insert(link.digest(&letters));
            }
        }
    }

    /// Returns whether a link carries private text: not one that may be repeated.
    pub(super) fn carries(&self, link: ListedLink<'_>) -> bool {
        let readings: Vec<_> = readings(link.rest).iter().map(|it| letters(it)).collect();
        let is_known = |letters: &String| self.links.contains(&link.digest(letters));
        if readings.first().is_some_and(is_known) {
            return false;
        }
        let host = (!self.hosts.contains(&digest(link.host))).then(|| letters(link.open_part));
        let mut texts = readings.iter().chain(&host).filter(|letters| !letters.is_empty());
        texts.any(|letters| self.is_unknown || self.has_part_in(letters))
    }

    /// Returns whether there is a part in these letters.
    fn has_part_in(&self, letters: &str) -> bool {
        let bytes = letters.as_bytes();
        (0..bytes.len()).any(|at| {
            let rest = &bytes[at..];
            let first = rest.get(..FEWEST_BYTES).map(digest_of);
            let may_begin = first.is_some_and(|first| self.starts.contains(&first));
            let mut lengths = self.lengths.iter().filter_map(|length| rest.get(..*length));
            may_begin && lengths.any(|part| self.parts.contains(&digest_of(part)))
        })
    }
}

impl ListedLink<'_> {
    fn digest(&self, letters: &str) -> u64 {
        digest(&format!("{}/{letters}", self.host))
    }
}

/// Calls `read` with the words of a text as it is written, and as it is read, if that differs.
fn each_reading(text: &str, mut read: impl FnMut(&Words)) {
    read(&Words::of(text));
    if text.contains(['&', '%', '\\']) {
        for reading in readings(text).iter().filter(|reading| *reading != text) {
            read(&Words::of(reading));
        }
    }
}

/// Returns the digest of a text, which is the same in every process.
pub(super) fn digest(text: &str) -> u64 {
    digest_of(text.as_bytes())
}

fn digest_of(bytes: &[u8]) -> u64 {
    let add = |digest: u64, byte: &u8| (digest ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, add)
}

impl fmt::Debug for Private {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Private").field("length", &self.length).finish_non_exhaustive()
    }
}
