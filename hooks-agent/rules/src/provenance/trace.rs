//! Traces the arguments of a tool call.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

use hooks_agent_core::message::ToolUse;
use serde_json::Value;

use crate::provenance::actions::Actions;
use crate::provenance::address::{Address, Form, each_address};
use crate::provenance::fold::{folded, words};
use crate::provenance::kept::digest;
use crate::provenance::labels::{Role, Sink, is_id, name_words};
use crate::provenance::needle::{Kind, Needle, TooMany};
use crate::provenance::settings::{Handles, Settings};
use crate::provenance::sources::{Read, Sources, shortened};
use crate::provenance::text::Place;

/// Why an argument needs a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Doubt {
    argument: String,
    value: String,
    why: Why,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Why {
    /// It stands in a text that others wrote.
    InText { read: String, is_link: bool },
    /// The user named where it stands, but there are several of its form.
    OneOfMany { read: String, count: usize, form: Form },
    /// It is a value of a record that the user's words do not choose.
    Unchosen { read: String },
    /// It stands nowhere.
    Nowhere { is_link: bool },
    /// It stands at too many places.
    Everywhere,
    /// More was read than is looked through.
    Unread,
    /// The user spoke of no such call, and a text of others does.
    Unasked { read: String },
    /// A text of others asks for it with this content.
    AskedFor { read: String },
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { argument, value, why } = self;
        if let Why::Unasked { read } = why {
            return write!(f, "the user spoke of no such thing, and the text of {read} does");
        }
        let has = match why {
            Why::InText { is_link: true, .. } | Why::Nowhere { is_link: true } => "has the address",
            _ => "is",
        };
        write!(f, "`{argument}` {has} `{value}`, ")?;
        match why {
            Why::InText { read, .. } => {
                write!(f, "which stands in the text of {read}, and which the user did not name")
            }
            Why::OneOfMany { read, count, form } => {
                write!(f, "which is one of {count} {} in {read}", form.name())
            }
            Why::Unchosen { read } => {
                write!(f, "which stands in {read}, and which nothing that the user said chooses")
            }
            Why::Nowhere { .. } => write!(f, "which stands in nothing that was said or read"),
            Why::Everywhere => write!(f, "which stands at too many places to be traced"),
            Why::Unread => write!(f, "which cannot be traced: too much was read"),
            Why::Unasked { .. } => Ok(()),
            Why::AskedFor { read } => {
                write!(
                    f,
                    "with which the text of {read} asks for it, and which the user did not say"
                )
            }
        }
    }
}

/// A value of so many bytes tells a text from others.
const LONG: usize = 8;

/// A tool call that is traced.
pub(super) struct Trace<'a> {
    pub(super) sources: &'a Sources,
    pub(super) settings: &'a Settings,
    pub(super) sink: &'a Sink,
    pub(super) call: &'a ToolUse,
}

/// A place where a value stands.
struct Found<'a> {
    read: &'a Read,
    at: Range<usize>,
    place: Place,
}

/// What was found of a value.
#[derive(Default)]
struct Places<'a> {
    /// Amid texts that others may write.
    texts: Vec<Found<'a>>,
    /// As values of their records.
    values: Vec<Found<'a>>,
    /// In what others cannot write.
    is_trusted: bool,
}

/// A text or number in the arguments.
struct Scalar<'a> {
    /// The name of the argument that says what it is, and the whole path.
    name: &'a str,
    path: String,
    role: Role,
    value: String,
}

impl Trace<'_> {
    /// Returns what needs a person.
    pub(super) fn doubts(&self) -> Vec<Doubt> {
        let mut doubts = Vec::new();
        for scalar in self.scalars() {
            match scalar.role {
                Role::Destination => doubts.extend(self.destination(&scalar)),
                Role::Content if self.settings.links => self.links(&scalar, &mut doubts),
                Role::Content => {}
            }
        }
        if doubts.is_empty() && self.settings.unasked {
            doubts.extend(self.unasked());
        }
        doubts
    }

    /// Returns that others asked for the call, if the user did not: for such a call at all, or for one with a content.
    fn unasked(&self) -> Option<Doubt> {
        let actions = Actions::of(&self.call.name);
        let Sources { user, reads, .. } = self.sources;
        let is_spoken_of = user.iter().any(|text| actions.are_in(&text.folded));
        let scalars = self.scalars();
        let own = scalars.iter().filter_map(|scalar| {
            let needle = Needle::new(&scalar.value, is_id(scalar.name));
            let is_content = scalar.role == Role::Content && needle.kind == Kind::Text;
            let tells = is_content && needle.text.len() >= LONG && !self.sources.is_said(&needle);
            tells.then_some((scalar, needle))
        });
        let own: Vec<_> = own.collect();
        let foreign = || reads.iter().filter(|read| !read.is_trusted);
        if !is_spoken_of
            && let Some(read) = foreign().find(|read| actions.are_asked_in(&read.text.folded))
        {
            let why = Why::Unasked { read: read.shown() };
            return Some(Doubt { argument: String::new(), value: String::new(), why });
        }
        own.into_iter().find_map(|(scalar, needle)| {
            let asks = |read: &&Read| actions.are_asked_with(&read.text, &needle);
            let read = foreign().find(asks)?.shown();
            let (argument, value) = (scalar.path.clone(), shortened(&scalar.value));
            Some(Doubt { argument, value, why: Why::AskedFor { read } })
        })
    }

    /// Returns the addresses to which the call goes.
    pub(super) fn addresses(&self) -> Vec<String> {
        let destinations = self.scalars().into_iter().filter(|it| it.role == Role::Destination);
        let needles = destinations.map(|it| Needle::new(&it.value, is_id(it.name)));
        needles
            .filter_map(|needle| {
                needle.form().map(|form| form.canonical(&needle.text).into_owned())
            })
            .collect()
    }

    fn scalars(&self) -> Vec<Scalar<'_>> {
        let mut scalars = Vec::new();
        let Value::Object(fields) = &self.call.input else { return scalars };
        for (name, value) in fields {
            add_scalars(name, name.clone(), self.sink, None, value, &mut scalars);
        }
        // What changes something acts on something.
        if self.sink.is_unknown() && scalars.iter().all(|it| it.role == Role::Content) {
            scalars.iter_mut().for_each(|it| it.role = Role::Destination);
        }
        scalars
    }

    fn destination(&self, scalar: &Scalar<'_>) -> Option<Doubt> {
        let why = self.why_not(scalar.name, &scalar.value)?;
        Some(Doubt { argument: scalar.path.clone(), value: shortened(&scalar.value), why })
    }

    /// Returns why a destination needs a person, if it does.
    fn why_not(&self, name: &str, value: &str) -> Option<Why> {
        let needle = Needle::new(value, is_id(name));
        let Sources { length, .. } = self.sources;
        if needle.text.is_empty() || self.sources.is_said(&needle) {
            return None;
        }
        if *length > self.settings.max_read {
            return Some(Why::Unread);
        }
        let Ok(places) = self.places(name, &needle) else { return Some(Why::Everywhere) };
        if let Some(found) = places.texts.first() {
            return if self.is_of_named_source(&needle, &places.texts) {
                None
            } else {
                Some(self.in_text(&needle, found))
            };
        }
        if places.is_trusted || self.sources.is_instructed(&needle) {
            return None;
        }
        if let Some(found) = places.values.first() {
            let is_chosen = self.is_chosen_value(&needle, &places.values);
            return (!is_chosen).then(|| Why::Unchosen { read: found.read.shown() });
        }
        let parts: Vec<_> =
            value.split([',', ';', '\n']).map(str::trim).filter(|it| !it.is_empty()).collect();
        if needle.kind == Kind::Text && parts.len() > 1 {
            return parts.into_iter().find_map(|part| self.why_not(name, part));
        }
        Some(Why::Nowhere { is_link: false })
    }

    fn in_text(&self, needle: &Needle, found: &Found<'_>) -> Why {
        let read = found.read.shown();
        if let Some(form) = needle.form().filter(|_| self.sources.is_named(found.read)) {
            let count = found.read.text.addresses(form, None).len();
            if count > 1 {
                return Why::OneOfMany { read, count, form };
            }
        }
        Why::InText { read, is_link: false }
    }

    fn places(&self, name: &str, needle: &Needle) -> Result<Places<'_>, TooMany> {
        let mut places = Places::default();
        for read in &self.sources.reads {
            let text = &read.text;
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
                } else if self.says_something(name, needle, &found) {
                    places.texts.push(found);
                }
            }
        }
        Ok(places)
    }

    /// Whether it says something that a value stands amid a text.
    fn says_something(&self, name: &str, needle: &Needle, found: &Found<'_>) -> bool {
        let Found { read, at, .. } = found;
        if needle.form().is_some() {
            return true;
        }
        if read.text.is_in_address(at) {
            return false;
        }
        // A short value stands everywhere: it is named if what it is stands before it.
        if needle.is_short() {
            let line = read.text.line(at);
            let mut start = at.start.saturating_sub(24).max(line.start);
            while !read.text.folded.is_char_boundary(start) {
                start += 1;
            }
            let before = &read.text.folded[start..at.start];
            return words(before).any(|word| {
                name_words(name).any(|own| own == word || word.strip_suffix('s') == Some(&*own))
            });
        }
        true
    }

    /// Whether a value that stands in the text of named sources is what the user asks for.
    fn is_of_named_source(&self, needle: &Needle, texts: &[Found<'_>]) -> bool {
        let Some(form) = needle.form().filter(|_| self.settings.named_sources) else {
            return false;
        };
        if !texts.iter().all(|found| self.sources.is_named(found.read)) {
            return false;
        }
        let canonical = form.canonical(&needle.text);
        let is_only = |all: &[String]| all.len() == 1 && all[0] == canonical;
        let of_named = |text: &Found<'_>| text.read.text.addresses(form, None);
        let pool: BTreeSet<_> = texts.iter().flat_map(of_named).collect();
        // Whose words the user wrote: `ann@corp.example` for Ann.
        let own = canonical.split('@').next().unwrap_or_default();
        let said: Vec<_> = words(own)
            .flat_map(|word| word.split('_'))
            .filter(|it| self.sources.said.words.contains(*it))
            .collect();
        if !said.is_empty() {
            let like = pool.iter().filter(|other| {
                let other = other.split('@').next().unwrap_or_default();
                words(other).flat_map(|word| word.split('_')).any(|word| said.contains(&word))
            });
            let like: Vec<_> = like.cloned().collect();
            if is_only(&like) {
                return true;
            }
        }
        // In a record that the user's words choose.
        let mut in_chosen: BTreeSet<String> = BTreeSet::new();
        for found in texts {
            let Place::Amid(Some(leaf)) = found.place else { continue };
            let text = &found.read.text;
            let is_one_of_many = text.structure().is_some_and(|it| it.records() > 1);
            if is_one_of_many && text.is_chosen(leaf.record, &self.sources.said) {
                in_chosen.extend(text.addresses(form, Some(leaf.record)));
            }
        }
        if is_only(&in_chosen.into_iter().collect::<Vec<_>>()) {
            return true;
        }
        // To open a link sends nothing else.
        let is_given = self.sources.given.iter().any(|given| given.form == form);
        self.settings.named_links && form == Form::Url && !is_given && self.only_opens()
    }

    /// Whether the call has one destination and no contents.
    fn only_opens(&self) -> bool {
        let scalars = self.scalars();
        scalars.len() == 1 && !self.sink.is_unknown()
    }

    /// Whether a value of records is what the user asks for.
    fn is_chosen_value(&self, needle: &Needle, values: &[Found<'_>]) -> bool {
        let Some(form) = needle.form() else {
            let is_chosen = || values.iter().any(|it| self.is_chosen(it) || self.is_named(it));
            return self.settings.handles == Handles::Any || is_chosen();
        };
        let canonical = form.canonical(&needle.text);
        values.iter().any(|found| {
            let is_only = || found.read.text.addresses(form, None) == [&*canonical];
            self.is_chosen(found) || self.is_named(found) && is_only()
        })
    }

    fn is_chosen(&self, found: &Found<'_>) -> bool {
        let Place::Value(leaf) = found.place else { return false };
        found.read.text.is_chosen(leaf.record, &self.sources.said)
    }

    fn is_named(&self, found: &Found<'_>) -> bool {
        self.settings.named_sources && self.sources.is_named(found.read)
    }

    /// Adds the addresses in a content that others brought, or that stand nowhere.
    fn links(&self, scalar: &Scalar<'_>, doubts: &mut Vec<Doubt>) {
        let text = folded(&scalar.value);
        let mut seen = Vec::new();
        each_address(&text, None, |address, range| {
            if address.form == Form::Account || seen.contains(&address) {
                return;
            }
            if let Some(why) = self.why_no_link(&address, &text[range.clone()]) {
                let value = shortened(&text[range]);
                doubts.push(Doubt { argument: scalar.path.clone(), value, why });
            }
            seen.push(address);
        });
    }

    fn why_no_link(&self, address: &Address, written: &str) -> Option<Why> {
        let Address { form, canonical } = address;
        let needle = Needle::address(*form, canonical);
        let Sources { given, kept, reads, length, .. } = self.sources;
        if given.contains(address)
            || kept.gone.contains(&digest(&[canonical]))
            || self.sources.is_said(&needle)
            || self.sources.is_instructed(&needle)
        {
            return None;
        }
        if *length > self.settings.max_read {
            return Some(Why::Unread);
        }
        let mut is_anywhere = false;
        for read in reads {
            let Ok(places) = needle.places_in(&read.text.folded) else {
                return Some(Why::Everywhere);
            };
            is_anywhere |= !places.is_empty();
            let is_amid =
                |at| matches!(read.text.place(&needle, at), Place::Amid(_) | Place::Field);
            if !read.is_trusted && places.iter().any(is_amid) {
                return Some(Why::InText { read: read.shown(), is_link: true });
            }
        }
        // A name with a dot may be no address.
        let is_sure =
            *form == Form::Email || written.contains("://") || written.starts_with("www.");
        (!is_anywhere && is_sure).then_some(Why::Nowhere { is_link: true })
    }
}

fn add_scalars<'a>(
    name: &'a str,
    path: String,
    sink: &Sink,
    outer: Option<Role>,
    value: &'a Value,
    scalars: &mut Vec<Scalar<'a>>,
) {
    let role = outer.unwrap_or_else(|| sink.role(name));
    let mut push = |value: String| scalars.push(Scalar { name, path: path.clone(), role, value });
    match value {
        Value::String(text) if !text.trim().is_empty() => push(text.trim().to_owned()),
        Value::Number(number) => push(number.to_string()),
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                add_scalars(name, format!("{path}[{index}]"), sink, Some(role), value, scalars);
            }
        }
        Value::Object(fields) => {
            for (field, value) in fields {
                // A destination stays one in all its parts; of contents, parts may be one by their names.
                let outer =
                    Some(role).filter(|role| *role == Role::Destination || sink.lists(name));
                add_scalars(field, format!("{path}.{field}"), sink, outer, value, scalars);
            }
        }
        _ => {}
    }
}
