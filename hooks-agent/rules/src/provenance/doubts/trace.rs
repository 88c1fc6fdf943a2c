//! Traces a tool call that changes something.

use std::collections::HashSet;

use hooks_agent_core::message::ToolUse;

use crate::provenance::doubts::actions::Actions;
use crate::provenance::doubts::arguments::{Argument, arguments};
use crate::provenance::doubts::doubt::{Doubt, Why};
use crate::provenance::entered::read::shortened;
use crate::provenance::entered::sources::Sources;
use crate::provenance::kept::digest;
use crate::provenance::labels::{Role, Sink};
use crate::provenance::reading::address::{Address, Form, each_address};
use crate::provenance::reading::fold::folded;
use crate::provenance::reading::needle::{Kind, Needle};
use crate::provenance::reading::text::Place;
use crate::provenance::settings::Settings;

/// A value of so many bytes tells a text from others.
const LONG: usize = 8;

/// The most addresses of a content that are traced.
const MOST_LINKS: usize = 200;

/// A tool call that is traced.
pub(crate) struct Trace<'a> {
    pub(crate) sources: &'a Sources,
    pub(crate) settings: &'a Settings,
    pub(crate) call: &'a ToolUse,
    pub(crate) arguments: Vec<Argument<'a>>,
    /// Whether the tool is in no list.
    pub(crate) is_unlisted: bool,
}

impl<'a> Trace<'a> {
    pub(crate) fn new(
        sources: &'a Sources,
        settings: &'a Settings,
        sink: &Sink,
        call: &'a ToolUse,
    ) -> Self {
        let arguments = arguments(call, sink);
        Self { sources, settings, call, arguments, is_unlisted: sink.is_unknown() }
    }

    /// Returns what needs a person.
    pub(crate) fn doubts(&self) -> Vec<Doubt> {
        let mut doubts = Vec::new();
        for argument in &self.arguments {
            match argument.role {
                Role::Destination => {
                    let why = self.why_no_destination(argument.name, &argument.value);
                    doubts.extend(why.map(|why| doubt(argument, &argument.value, why)));
                }
                Role::Content if self.settings.links => self.add_links(argument, &mut doubts),
                Role::Content => {}
            }
        }
        if doubts.is_empty() && self.settings.unasked {
            doubts.extend(self.unasked());
        }
        doubts
    }

    /// Returns the addresses to which the call goes.
    pub(crate) fn addresses(&self) -> Vec<String> {
        let destinations = self.arguments.iter().filter(|it| it.role == Role::Destination);
        let addresses = destinations.filter_map(|argument| {
            let needle = Needle::new(&argument.value, argument.name);
            match needle.kind {
                Kind::Address(_, canonical) => Some(canonical),
                _ => None,
            }
        });
        addresses.collect()
    }

    /// Returns that others asked for the call: for one to the same address, or, if the user did not, for such a call at
    /// all, or for one with a content.
    fn unasked(&self) -> Option<Doubt> {
        let actions = Actions::of(&self.call.name);
        let is_spoken_of = self.sources.user.texts.iter().any(|text| actions.are_in(&text.folded));
        let is_left_open = is_spoken_of && self.is_picked();
        if !is_spoken_of || is_left_open {
            let mut untrusted = self.sources.untrusted().filter(|read| !read.is_description);
            if let Some(read) = untrusted.find(|read| actions.are_asked_in(&read.text.folded)) {
                let read = read.shown();
                let why = if is_left_open { Why::LeftOpen { read } } else { Why::Unasked { read } };
                return Some(Doubt { argument: String::new(), value: String::new(), why });
            }
        }
        let sends = self.arguments.iter().any(|argument| argument.role == Role::Content);
        self.arguments.iter().find_map(|argument| {
            let needle = Needle::new(&argument.value, argument.name);
            let tells = match argument.role {
                // The address of the user; or an id, which is short, and which the user did not say.
                Role::Destination => match needle.form() {
                    Some(_) => sends && self.sources.is_said(&needle),
                    None => needle.is_short() && !self.sources.is_said(&needle),
                },
                Role::Content => {
                    let is_long = needle.kind == Kind::Text && needle.text.len() >= LONG;
                    is_long && !self.sources.is_said(&needle)
                }
            };
            let mut untrusted =
                self.sources.untrusted().filter(|read| tells && !read.is_description);
            let read = untrusted.find(|read| actions.are_asked_with(&read.text, &needle))?.shown();
            let is_said = argument.role == Role::Destination && needle.form().is_some();
            Some(doubt(argument, &argument.value, Why::AskedFor { read, is_said }))
        })
    }

    /// Adds the addresses in a content that others brought, or that stand nowhere.
    fn add_links(&self, argument: &Argument<'_>, doubts: &mut Vec<Doubt>) {
        let text = folded(&argument.value);
        let mut seen = HashSet::new();
        each_address(&text, None, |address, range| {
            if address.form == Form::Account || seen.contains(&address) {
                return;
            }
            if seen.len() == MOST_LINKS {
                doubts.push(doubt(argument, &text[range.clone()], Why::Everywhere));
            }
            if seen.len() >= MOST_LINKS {
                seen.insert(address);
                return;
            }
            let written = text[range].trim_end_matches(['.', ',', ';', ':', '!', '?']);
            if let Some(why) = self.why_no_link(&address, written) {
                doubts.push(doubt(argument, written, why));
            }
            seen.insert(address);
        });
    }

    fn why_no_link(&self, address: &Address, written: &str) -> Option<Why> {
        let Address { form, canonical } = address;
        let needle = Needle::address(*form, canonical);
        let Sources { user, kept, .. } = self.sources;
        if user.given.contains(address)
            || kept.gone.contains(&digest(&[canonical]))
            || self.sources.is_said(&needle)
            || self.sources.is_instructed(&needle)
        {
            return None;
        }
        if self.sources.length > self.settings.max_read {
            return Some(Why::Unread);
        }
        let mut is_anywhere = false;
        for read in &self.sources.reads {
            let Ok(places) = needle.places_in(&read.text.folded) else {
                return Some(Why::Everywhere);
            };
            is_anywhere |= !places.is_empty();
            let is_value = |at| matches!(read.text.place(&needle, at), Place::Value(_));
            if !read.is_trusted && !places.iter().all(is_value) {
                return Some(Why::LinkInText { read: read.shown() });
            }
        }
        // A name with a dot may be no address.
        let is_sure = *form == Form::Email
            || written.starts_with("www.")
            || written.contains(['/', '?', '#', ':']);
        (!is_anywhere && is_sure).then_some(Why::LinkNowhere)
    }
}

fn doubt(argument: &Argument<'_>, value: &str, why: Why) -> Doubt {
    Doubt { argument: argument.path.clone(), value: shortened(value), why }
}
