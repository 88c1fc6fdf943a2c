//! Traces a destination: where something goes, or what is acted on.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::provenance::doubts::doubt::Why;
use crate::provenance::doubts::trace::Trace;
use crate::provenance::entered::read::Read;
use crate::provenance::labels::{Role, is_secret, name_words};
use crate::provenance::reading::address::Form;
use crate::provenance::reading::fold::words;
use crate::provenance::reading::needle::{Kind, Needle, TooMany};
use crate::provenance::reading::text::Place;
use crate::provenance::settings::Handles;

/// How far before a short value its name may stand, in bytes.
const BEFORE: usize = 24;

/// How many places of a value are looked at for one that the user means.
const MOST_FOUND: usize = 64;

/// A place where a value stands.
struct Found<'a> {
    read: &'a Read,
    at: Range<usize>,
    place: Place,
}

/// Where a value stands.
#[derive(Default)]
struct Places<'a> {
    /// Amid texts that others may write.
    texts: Vec<Found<'a>>,
    /// As values of their records.
    values: Vec<Found<'a>>,
    /// In what others cannot write.
    is_trusted: bool,
}

impl Trace<'_> {
    /// Returns why a destination needs a person, if it does.
    pub(crate) fn why_no_destination(&self, name: &str, value: &str) -> Option<Why> {
        let needle = self.needle(name, value);
        if needle.text.is_empty() || self.sources.is_said(&needle) {
            return None;
        }
        if self.sources.length > self.settings.max_read {
            return Some(Why::Unread);
        }
        let Ok(places) = self.places(name, &needle) else { return Some(Why::Everywhere) };
        if is_secret(name)
            && let Some(found) = places.texts.iter().chain(&places.values).next()
        {
            return Some(Why::Secret { read: found.read.shown() });
        }
        if let Some(found) = places.texts.first() {
            let is_asked_for = self.is_of_named_source(&needle, &places.texts);
            return (!is_asked_for).then(|| self.in_text(&needle, found));
        }
        if places.is_trusted || self.sources.is_instructed(&needle) {
            return None;
        }
        if let Some(found) = places.values.first() {
            let is_chosen = self.is_chosen_value(name, &needle, &places.values);
            return (!is_chosen).then(|| Why::Unchosen { read: found.read.shown() });
        }
        self.why_no_parts(name, value, &needle)
    }

    /// Whether the user named no destination, and the model picked one out of trusted results: a name, as an address is
    /// one of an address book.
    pub(crate) fn is_picked(&self) -> bool {
        let destinations = self.arguments.iter().filter(|it| it.role == Role::Destination);
        let needles = destinations.map(|it| (it.name, self.needle(it.name, &it.value)));
        let needles: Vec<_> = needles.collect();
        let is_named =
            |needle: &Needle| self.sources.is_said(needle) || self.sources.is_instructed(needle);
        let is_trusted = |(name, needle): &(&str, Needle)| {
            let places = self.places(name, needle);
            needle.form().is_none()
                && places.is_ok_and(|places| places.is_trusted && places.values.is_empty())
        };
        !needles.iter().any(|(_, needle)| is_named(needle)) && needles.iter().any(is_trusted)
    }

    /// Returns the needle of a value; of `Ann <ann@corp.example>`, that of the address.
    fn needle(&self, name: &str, value: &str) -> Needle {
        let needle = Needle::new(value, name);
        if needle.kind != Kind::Text || !needle.text.contains('@') {
            return needle;
        }
        // A name, and the address at the end.
        let (name, address) = needle.text.rsplit_once([' ', '<']).unwrap_or(("", &needle.text));
        let address = address.trim_end_matches('>');
        let is_name = !name.bytes().any(|it| it.is_ascii_digit())
            && !name.contains(['<', '>', '@', ',', ';', ':', '/', '\n', '#', '!', '\\', '|']);
        if is_name && Form::of(address) == Some(Form::Email) {
            return Needle::address(Form::Email, address);
        }
        needle
    }

    /// Returns why a text that stands nowhere needs a person: of a list, each part counts, and of a path, its last one
    /// if the rest stands somewhere.
    fn why_no_parts(&self, name: &str, value: &str, needle: &Needle) -> Option<Why> {
        if needle.kind != Kind::Text {
            return Some(Why::Nowhere);
        }
        let parts = value.split([',', ';', '\n']).map(str::trim).filter(|it| !it.is_empty());
        let parts: Vec<_> = parts.collect();
        if parts.len() > 1 {
            return parts.into_iter().find_map(|part| self.why_no_destination(name, part));
        }
        if let Some((folder, file)) = value.rsplit_once(['/', '\\'])
            && file.len() >= 4
            && self.sources.is_said(&Needle::new(file, ""))
            && !value.split(['/', '\\']).any(|part| part == "..")
            && (folder == "." || self.is_known(folder))
        {
            return None;
        }
        Some(Why::Nowhere)
    }

    /// Whether the user or the operator wrote a text, or somebody else whom they trust.
    fn is_known(&self, text: &str) -> bool {
        let needle = Needle::new(text, "");
        let mut trusted =
            self.sources.reads.iter().filter(|read| read.is_trusted && !read.repeats(&needle));
        self.sources.is_said(&needle)
            || self.sources.is_instructed(&needle)
            || trusted.any(|read| read.text.folded.contains(&needle.text))
    }

    fn in_text(&self, needle: &Needle, found: &Found<'_>) -> Why {
        let read = found.read.shown();
        if let Some(form) = needle.form().filter(|_| self.sources.is_named(found.read)) {
            let count = found.read.text.addresses(form).len();
            if count > 1 {
                return Why::OneOfMany { read, count, form };
            }
        }
        Why::InText { read }
    }

    fn places(&self, name: &str, needle: &Needle) -> Result<Places<'_>, TooMany> {
        let mut places = Places::default();
        for read in &self.sources.reads {
            let text = &read.text;
            // A description names things as examples.
            if read.is_description && needle.form().is_none() {
                continue;
            }
            for at in needle.places_in(&text.folded)? {
                if read.is_trusted {
                    places.is_trusted |= !read.repeats(needle);
                    break;
                }
                let place = text.place(needle, &at);
                let is_value = match place {
                    Place::Value(_) => true,
                    Place::Field => self.settings.named_sources && self.sources.is_named(read),
                    Place::Amid(_) => false,
                };
                let found = Found { read, at, place };
                if is_value {
                    places.values.push(found);
                } else if says_something(name, needle, &found) {
                    places.texts.push(found);
                }
            }
        }
        Ok(places)
    }

    /// Whether an address that stands in the text of named sources is what the user asks for.
    fn is_of_named_source(&self, needle: &Needle, texts: &[Found<'_>]) -> bool {
        let Kind::Address(form, canonical) = &needle.kind else { return false };
        if !self.settings.named_sources
            || !texts.iter().all(|found| self.sources.is_named(found.read))
        {
            return false;
        }
        self.is_alone_like(*form, canonical)
            || texts.iter().take(MOST_FOUND).any(|found| self.is_in_chosen(found, *form))
            || self.may_be_opened(*form, texts)
    }

    /// Whether an address has words that the user wrote, such as `ann@corp.example` for Ann, and no other one does.
    fn is_alone_like(&self, form: Form, canonical: &str) -> bool {
        let own = |address: &str| -> Vec<String> {
            let name = address.split('@').next().unwrap_or_default();
            let words = words(name).flat_map(|word| word.split('_'));
            words
                .filter(|word| self.sources.user.said.words.contains(*word))
                .map(str::to_owned)
                .collect()
        };
        let said = own(canonical);
        if said.is_empty() {
            return false;
        }
        let all = self.sources.untrusted().flat_map(|read| read.text.addresses(form));
        let like: BTreeSet<_> =
            all.filter(|other| own(other).iter().any(|word| said.contains(word))).collect();
        like.into_iter().eq([canonical])
    }

    /// Whether an address stands in the text of a record that the user's words choose.
    fn is_in_chosen(&self, found: &Found<'_>, form: Form) -> bool {
        let Place::Amid(Some(leaf)) = found.place else { return false };
        let choice = self.sources.choice(found.read);
        choice.chooses_amid(&found.read.text, leaf, form)
    }

    /// Whether it is a link that may be opened, which sends nothing else: it stands in no page that was opened by its
    /// own address, which brings no further ones.
    fn may_be_opened(&self, form: Form, texts: &[Found<'_>]) -> bool {
        let only_opens = self.arguments.len() == 1 && !self.is_unlisted;
        let is_of_page = |found: &Found<'_>| found.read.is_of_url();
        self.settings.named_links
            && form == Form::Url
            && only_opens
            && !texts.iter().any(is_of_page)
    }

    /// Whether a value of records is what the user asks for.
    fn is_chosen_value(&self, name: &str, needle: &Needle, values: &[Found<'_>]) -> bool {
        let form = needle.form();
        if form.is_none() && self.settings.handles == Handles::Any {
            return true;
        }
        values.iter().take(MOST_FOUND).any(|found| {
            let Found { read, place, .. } = found;
            let is_named = self.settings.named_sources && self.sources.is_named(read);
            let is_only = || form.is_none_or(|form| read.text.addresses(form).len() == 1);
            let is_chosen = |leaf| self.sources.choice(read).chooses(&read.text, leaf, name, form);
            is_named && is_only() || matches!(place, Place::Value(leaf) if is_chosen(*leaf))
        })
    }
}

/// Whether it says something that a value stands amid a text.
fn says_something(name: &str, needle: &Needle, found: &Found<'_>) -> bool {
    let Found { read, at, .. } = found;
    if needle.form().is_some() {
        return true;
    }
    // A word of a link names nothing, but an id in it does.
    let is_word = !needle.text.bytes().any(|it| it.is_ascii_digit());
    if is_word && read.text.is_in_address(at) {
        return false;
    }
    if !needle.is_short() {
        return true;
    }
    // A short value stands everywhere: it is named if its name stands before it.
    let line = read.text.line(at);
    let start = at.start.saturating_sub(BEFORE).max(line.start);
    let before = &read.text.folded[read.text.folded.ceil_char_boundary(start)..at.start];
    words(before).any(|word| {
        name_words(name).any(|own| own == word || word.strip_suffix('s') == Some(&*own))
    })
}
