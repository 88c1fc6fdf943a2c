//! Runs of other hooks, and the changes that are shown of them.

use std::sync::Arc;
use std::time::Duration;

use hooks_agent_core::hook::{HookChange, HookFlow, HookRun};
use hooks_core::{HookRole, Level};
use serde_json::{Map, Value, json};

use crate::hook::entry::content::json_chars;
use crate::hook::other_hooks::values::{find, without_names};

/// A run of another hook.
pub(crate) struct Ran {
    hook: String,
    pub(crate) event: &'static str,
    level: Level,
    priority: i32,
    role: Option<HookRole>,
    elapsed: Duration,
    pub(crate) flow: HookFlow,
    pub(crate) tool_call: Option<Arc<str>>,
    pub(crate) changes: Vec<HookChange>,
    /// Whether it would have done it.
    pub(crate) is_shadow: bool,
}

/// What may be shown of changes at an event.
#[derive(Clone, Copy)]
pub(crate) struct Shown<'a> {
    /// What the event holds after all hooks; `None` if that was not seen.
    pub(crate) end: Option<&'a Value>,
    /// Whether values that hooks replaced are shown.
    pub(crate) removed: bool,
}

impl Shown<'_> {
    /// Shows no value.
    pub(crate) const NOTHING: Self = Self { end: None, removed: false };

    pub(crate) fn unseen(self) -> Self {
        Self { end: None, ..self }
    }
}

impl Ran {
    pub(crate) fn of(run: &HookRun<'_>) -> Self {
        Self {
            hook: run.hook().to_owned(),
            event: run.event(),
            level: run.level(),
            priority: run.priority(),
            role: run.role(),
            elapsed: run.elapsed(),
            flow: run.flow(),
            tool_call: run.tool_call_id().map(Into::into),
            changes: if run.has_changed() { run.changes() } else { Vec::new() },
            is_shadow: run.is_shadow(),
        }
    }

    /// Writes the runs at one event, in their order.
    pub(crate) fn write(runs: Vec<Self>, shown: &Shown<'_>) -> Vec<Value> {
        let redacts = |ran: &Self| ran.role == Some(HookRole::Redacts) && !ran.changes.is_empty();
        let last_redactor = runs.iter().rposition(redacts);
        let mut entries = Vec::with_capacity(runs.len());
        for (index, ran) in runs.into_iter().enumerate() {
            let shown = match last_redactor {
                // What it removed is in what earlier hooks read and wrote.
                Some(last) if index < last => Shown::NOTHING,
                Some(last) if index == last => Shown { removed: false, ..*shown },
                _ => *shown,
            };
            entries.push(ran.entry(&shown));
        }
        entries
    }

    fn entry(self, shown: &Shown<'_>) -> Value {
        let us = u64::try_from(self.elapsed.as_micros()).unwrap_or(u64::MAX);
        let changed: Vec<_> = self.changes.into_iter().map(|it| change(it, shown)).collect();
        let mut entry = json!({
            "hook": self.hook,
            "event": self.event,
            "level": self.level.as_str(),
            "priority": self.priority,
            "us": us,
            "flow": self.flow.as_str(),
            "changed": changed,
        });
        if self.is_shadow {
            entry["shadow"] = true.into();
        }
        if let Some(role) = self.role {
            entry["role"] = role_name(role).into();
        }
        if let Some(tool_call) = self.tool_call {
            entry["tool_call"] = (*tool_call).into();
        }
        entry
    }
}

/// Writes a change: a new value if the event ended with it, a replaced one if that is wanted.
fn change(change: HookChange, shown: &Shown<'_>) -> Value {
    let HookChange { path, before, after, .. } = change;
    let at_end = shown.end.and_then(|end| find(end, &path));
    let mut entry = Map::new();
    // The place itself may name what was removed.
    let is_there = at_end.is_some() || shown.end.is_some() && shown.removed;
    entry.insert("path".to_owned(), if is_there { path } else { without_names(&path) }.into());
    let mut is_hidden = false;
    let mut put = |name: &str, value: Option<Value>, is_shown: bool| {
        let Some(value) = value else { return };
        entry.insert(format!("{name}_chars"), json_chars(&value).into());
        is_hidden |= !is_shown;
        if is_shown {
            entry.insert(name.to_owned(), value);
        }
    };
    let is_end = after.is_some() && at_end == after.as_ref();
    put("before", before, shown.removed && shown.end.is_some());
    put("after", after, is_end);
    entry.insert("hidden".to_owned(), is_hidden.into());
    entry.into()
}

/// Returns the name of a role in JSON.
pub(crate) fn role_name(role: HookRole) -> &'static str {
    match role {
        HookRole::Redacts => "redacts",
        HookRole::Observes => "observes",
        HookRole::Limits => "limits",
        HookRole::Retries => "retries",
        HookRole::Asks => "asks",
        HookRole::Guards => "guards",
        _ => "other",
    }
}
