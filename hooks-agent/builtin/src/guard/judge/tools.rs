//! The tools whose calls are judged, and the calls that have passed.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use hooks_agent_core::message::ToolUse;

/// The tools whose calls are judged.
#[derive(Clone, Debug)]
pub(super) enum Tools {
    None,
    All,
    /// Those of these names, in which `*` stands for any text.
    Named(Vec<String>),
}

impl Tools {
    /// Adds tools of these names.
    pub(super) fn add(&mut self, names: impl Iterator<Item = String>) {
        match self {
            Self::All => {}
            Self::None => *self = Self::Named(names.collect()),
            Self::Named(known) => known.extend(names),
        }
    }

    pub(super) fn is_match(&self, name: &str) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::Named(names) => names.iter().any(|pattern| is_match(pattern, name)),
        }
    }

    /// Returns the names that stand for one tool each.
    pub(super) fn names(&self) -> Vec<String> {
        match self {
            Self::None | Self::All => Vec::new(),
            Self::Named(names) => names.iter().filter(|it| !it.contains('*')).cloned().collect(),
        }
    }
}

fn is_match(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(start) else { return false };
    let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    for part in middle.split('*') {
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
    }
    left.ends_with(end)
}

/// The tool calls of a call that have passed, by id.
#[derive(Default)]
pub(super) struct Passed(Mutex<HashMap<String, ToolUse>>);

impl Passed {
    pub(super) fn add(&self, call: &ToolUse) {
        let call = call.clone().without_hidden();
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        calls.insert(call.id.clone(), call);
    }

    /// Returns whether this tool call has passed, with these arguments.
    pub(super) fn has(&self, call: &ToolUse) -> bool {
        let calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        calls.get(&call.id).is_some_and(|passed| call.equals_but_hidden(passed))
    }
}
