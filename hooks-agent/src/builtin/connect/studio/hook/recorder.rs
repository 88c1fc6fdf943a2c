//! Writes what happens into the ring.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::builtin::connect::studio::hook::body::{body, event};
use crate::builtin::connect::studio::hook::changes::Shown;
use crate::builtin::connect::studio::hook::content;
use crate::builtin::connect::studio::hook::run::{Kept, Run};
use crate::builtin::connect::studio::ring::{EntryKind, NewEntry, RunHead, RunSummary};
use crate::builtin::connect::studio::shared::Shared;
use crate::call::CallContext;
use crate::message::{ContentBlock, Msg};

/// Writes what one hook sees into the ring.
pub(super) struct Recorder {
    pub(super) shared: Arc<Shared>,
    /// The number of the hook: one hook writes of a run, be there several in it.
    number: u64,
}

/// An entry.
pub(super) struct Entry<'a, D, H> {
    pub(super) kind: &'a str,
    pub(super) data: D,
    /// Returns the data without content.
    pub(super) hidden: H,
}

impl Recorder {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        let number = shared.next_hook();
        Self { shared, number }
    }

    /// Returns what is kept of a call, which begins if nobody has seen it. `None` if another hook of the
    /// studio writes of it, or if a method was called without a call: nothing tells its end.
    pub(super) fn claim(&self, cx: &CallContext) -> Option<Arc<Run>> {
        if cx.agent_id().is_empty() {
            return None;
        }
        let run: Arc<Run> = cx.hook_state(self.shared.number());
        let mut kept = run.lock();
        let (is_own, begins) = kept.claim(self.number);
        if begins {
            kept.shows = self.shared.settings.shows();
            let head = kept.head(|| RunHead::of(cx));
            self.shared.ring.begin(&head, cx);
            self.note(&mut kept, cx, "started");
        }
        drop(kept);
        is_own.then_some(run)
    }

    /// Adds an entry without data.
    pub(super) fn note(&self, kept: &mut Kept, cx: &CallContext, kind: &str) {
        let head = kept.head(|| RunHead::of(cx));
        if let Some(json) = body(&head, kind, None::<()>) {
            self.shared.ring.push(&head, event(json, true), |_| {});
        }
    }

    /// Adds an entry, without content unless it is shown and fits. Returns its number.
    pub(super) fn add(
        &self,
        kept: &mut Kept,
        cx: &CallContext,
        entry: Entry<'_, impl Serialize, impl Fn() -> Value>,
        update: impl FnOnce(&mut RunSummary),
    ) -> Option<u64> {
        let head = kept.head(|| RunHead::of(cx));
        let Entry { kind, data, hidden } = entry;
        let most = self.shared.ring.capacity().entry_bytes();
        let shown = kept.is_shown().then(|| body(&head, kind, Some(data))).flatten();
        let shown = shown.filter(|json| json.len() <= most);
        let json = shown
            .or_else(|| body(&head, kind, Some(hidden())))
            .filter(|json| json.len() <= most)
            .or_else(|| body(&head, kind, Some(json!({ "hidden": true }))))?;
        let is_milestone = !kind.ends_with("_chunk");
        self.shared.ring.push(&head, event(json, is_milestone), update)
    }

    /// Adds the chunk of an answer, without its text unless it may be shown before the hooks of the
    /// whole answer ran.
    pub(super) fn add_chunk(
        &self,
        kept: &mut Kept,
        cx: &CallContext,
        kind: &str,
        block: &ContentBlock,
    ) {
        let hidden = || content::block(block);
        if kept.is_draft_shown() {
            let seq = self.add(kept, cx, Entry { kind, data: block, hidden }, |_| {});
            kept.draft.shown.extend(seq);
        } else {
            self.add(kept, cx, Entry { kind, data: hidden(), hidden }, |_| {});
        }
    }

    /// Hides the chunks of an answer, unless hooks left it as it is.
    pub(super) fn hide_draft(&self, kept: &mut Kept, answer: Option<&Msg>) {
        let ring = &self.shared.ring;
        let chunks = kept.draft.end(answer);
        // Read and written without the lock of the ring.
        let hidden = ring.texts(&chunks).into_iter().map(|(seq, json)| (seq, without_text(&json)));
        ring.replace(&hidden.collect::<Vec<_>>());
    }

    /// Adds what other hooks did.
    pub(super) fn push_hooks(&self, kept: &mut Kept, cx: &CallContext, entries: Vec<Value>) {
        if entries.is_empty() {
            return;
        }
        let head = kept.head(|| RunHead::of(cx));
        let most = self.shared.ring.capacity().entry_bytes();
        for mut data in entries {
            let mut json = body(&head, "hook", Some(&data));
            if json.as_ref().is_some_and(|json| json.len() > most) {
                data["changed"] = json!([]);
                data["cut"] = true.into();
                json = body(&head, "hook", Some(&data));
            }
            let Some(json) = json else { continue };
            let entry = NewEntry { kind: EntryKind::Hook, is_milestone: false, json };
            self.shared.ring.push(&head, entry, |_| {});
        }
    }

    /// Adds what other hooks did at events that are over when the hook sees this one, which holds `end`.
    pub(super) fn flush(
        &self,
        kept: &mut Kept,
        cx: &CallContext,
        at: (&'static str, Option<&str>),
        end: impl FnOnce() -> Option<Value>,
    ) {
        let (event, tool_call) = at;
        let is_shown = kept.is_shown();
        let end = (is_shown && kept.pending.has(event, tool_call)).then(end).flatten();
        let shown = Shown { end: end.as_ref(), removed: is_shown && kept.shows.removed };
        let entries = kept.pending.take(event, tool_call, &shown);
        self.push_hooks(kept, cx, entries);
        kept.last_seen(event, tool_call);
    }
}

/// Returns the entry of a chunk without its text; without all of it, if it cannot be read.
fn without_text(json: &str) -> Arc<str> {
    let entry = serde_json::from_str::<Map<String, Value>>(&format!("{{{json}"));
    let Ok(mut entry) = entry else { return "\"type\":\"hidden\"}".into() };
    let block = entry.remove("data").map(serde_json::from_value::<ContentBlock>);
    let hidden = match block {
        Some(Ok(block)) => content::block(&block),
        _ => json!({ "hidden": true }),
    };
    entry.insert("data".to_owned(), hidden);
    Value::from(entry).to_string()[1..].into()
}
