//! Runs of other hooks, and the changes that are shown of them.

use std::sync::Arc;
use std::time::Duration;

use hooks_agent_core::hook::{HookChange, HookFlow, HookRun};
use hooks_core::{HookRole, Level};
use serde_json::Value;

use crate::entry::{Change, HookRun as Written, json_chars};
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
pub(crate) struct Showing<'a> {
    /// What the event holds after all hooks; `None` if that was not seen.
    pub(crate) end: Option<&'a Value>,
    /// Whether values that hooks replaced are shown.
    pub(crate) removed: bool,
}

impl Showing<'_> {
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
    pub(crate) fn write(runs: Vec<Self>, shown: &Showing<'_>) -> Vec<Written> {
        let redacts = |ran: &Self| ran.role == Some(HookRole::Redacts) && !ran.changes.is_empty();
        let last_redactor = runs.iter().rposition(redacts);
        let mut entries = Vec::with_capacity(runs.len());
        for (index, ran) in runs.into_iter().enumerate() {
            let shown = match last_redactor {
                // What it removed is in what earlier hooks read and wrote.
                Some(last) if index < last => Showing::NOTHING,
                Some(last) if index == last => Showing { removed: false, ..*shown },
                _ => *shown,
            };
            entries.push(ran.entry(&shown));
        }
        entries
    }

    fn entry(self, shown: &Showing<'_>) -> Written {
        Written {
            hook: self.hook.into(),
            event: self.event,
            level: self.level.as_str(),
            priority: self.priority,
            us: u64::try_from(self.elapsed.as_micros()).unwrap_or(u64::MAX),
            flow: self.flow.as_str(),
            changed: self.changes.into_iter().map(|it| change(it, shown)).collect(),
            cut: false,
            shadow: self.is_shadow,
            role: self.role.map(role_name),
            tool_call: self.tool_call,
        }
    }
}

fn change(change: HookChange, shown: &Showing<'_>) -> Change {
    let HookChange { path, before, after, .. } = change;
    let at_end = shown.end.and_then(|end| find(end, &path));
    // The place itself may name what was removed.
    let is_there = at_end.is_some() || shown.end.is_some() && shown.removed;
    let is_end = after.is_some() && at_end == after.as_ref();
    let path = if is_there { path } else { without_names(&path) };
    let (before, before_chars, hides_before) = value(before, shown.removed && shown.end.is_some());
    let (after, after_chars, hides_after) = value(after, is_end);
    let hidden = hides_before || hides_after;
    Change { path, before, before_chars, after, after_chars, hidden }
}

/// Returns a value if it is shown, its length, and whether it is hidden.
fn value(value: Option<Value>, is_shown: bool) -> (Option<Value>, Option<usize>, bool) {
    let chars = value.as_ref().map(json_chars);
    let is_hidden = value.is_some() && !is_shown;
    (value.filter(|_| is_shown), chars, is_hidden)
}

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
