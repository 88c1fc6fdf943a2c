//! Writes what happens into the ring.

use std::sync::Arc;

use hooks_agent_core::call::CallContext;
use hooks_agent_core::message::{ContentBlock, Msg};
use serde_json::{Map, Value, json};

use crate::hook::entry::body::{body, event, written};
use crate::hook::entry::data::{Data, Source};
use crate::hook::entry::{content, sizes};
use crate::hook::orders::Orders;
use crate::hook::other_hooks::changes::Shown;
use crate::hook::run::{Kept, Run};
use crate::ring::{EntryKind, NewEntry, RunHead, RunSummary, Text, now};
use crate::shared::Shared;

/// Writes what one hook sees into the ring.
pub(super) struct Recorder {
    pub(super) shared: Arc<Shared>,
    /// The number of the hook. Of several studio hooks in a run, one writes.
    number: u64,
    pub(super) orders: Orders,
}

/// About how long an entry without data is.
const SIZE: usize = 256;

impl Recorder {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        let number = shared.next_hook();
        Self { shared, number, orders: Orders::default() }
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
            let head = kept.head(cx);
            self.shared.ring.begin(&head, cx, self.number);
            self.note(&mut kept, cx, "started");
        }
        drop(kept);
        is_own.then_some(run)
    }

    /// Returns whether the hook writes of a call. A hook in shadow may be about one that has ended.
    pub(super) fn writes_of(&self, cx: &CallContext) -> bool {
        self.shared.ring.is_written_by(cx.run_id(), self.number)
    }

    /// Adds an entry without data.
    pub(super) fn note(&self, kept: &mut Kept, cx: &CallContext, kind: &'static str) {
        let (head, ts) = (kept.head(cx), now());
        let of = head.clone();
        let text = Text::later(SIZE, move || {
            body(&head, ts, kind, None::<()>).unwrap_or_else(|| nothing(&head, ts, kind))
        });
        self.shared.ring.push(&of, event(text, true), |_| {});
    }

    /// Adds an entry, without content unless it is shown and fits. Returns its number.
    pub(super) fn add(
        &self,
        kept: &mut Kept,
        cx: &CallContext,
        kind: &'static str,
        data: impl Source,
        update: impl FnOnce(&mut RunSummary),
    ) -> Option<u64> {
        let is_shown = kept.is_shown();
        self.add_as(kept, cx, (kind, is_shown), data, update)
    }

    fn add_as(
        &self,
        kept: &mut Kept,
        cx: &CallContext,
        (kind, is_shown): (&'static str, bool),
        data: impl Source,
        update: impl FnOnce(&mut RunSummary),
    ) -> Option<u64> {
        let (head, ts, most) = (kept.head(cx), now(), self.shared.ring.entry_bytes());
        let size = if is_shown { data.see().size().saturating_add(SIZE) } else { SIZE };
        let is_shown = is_shown && size <= most;
        let of = head.clone();
        let fits = move |json: &Arc<str>| json.len() <= most;
        let text = if is_shown {
            let data = data.keep();
            Text::later(size, move || {
                let shown = body(&head, ts, kind, Some(&data)).filter(fits);
                let hidden = || body(&head, ts, kind, Some(data.hidden())).filter(fits);
                shown.or_else(hidden).unwrap_or_else(|| nothing(&head, ts, kind))
            })
        } else {
            // What is not shown is not kept.
            let hidden = serde_json::to_string(&data.see().hidden()).ok();
            Text::later(SIZE + hidden.as_ref().map_or(0, String::len), move || {
                let hidden = hidden.and_then(|json| written(&head, ts, kind, &json)).filter(fits);
                hidden.unwrap_or_else(|| nothing(&head, ts, kind))
            })
        };
        let is_milestone = !kind.ends_with("_chunk");
        self.shared.ring.push(&of, event(text, is_milestone), update)
    }

    /// Adds the chunk of an answer, without its text unless it may be shown before the hooks of the
    /// whole answer ran.
    pub(super) fn add_chunk(
        &self,
        kept: &mut Kept,
        cx: &CallContext,
        kind: &'static str,
        block: &ContentBlock,
    ) {
        let is_shown = kept.is_draft_shown();
        let seq = self.add_as(kept, cx, (kind, is_shown), block, |_| {});
        kept.draft.add(block, seq.filter(|_| is_shown));
    }

    /// Hides the chunks of an answer, unless hooks left it as it is.
    pub(super) fn hide_draft(&self, kept: &mut Kept, answer: Option<&Msg>) {
        let chunks = kept.draft.end(answer);
        let Some(run) = kept.run().filter(|_| !chunks.is_empty()) else { return };
        let ring = &self.shared.ring;
        // Read and written without the lock of the ring.
        let hidden = |(seq, text): (u64, Text)| (seq, Text::from(without_text(&text.read())));
        ring.replace(run, ring.texts(run, &chunks).into_iter().map(hidden).collect());
    }

    /// Adds what other hooks did.
    pub(super) fn push_hooks(&self, head: &Arc<RunHead>, entries: Vec<Value>) {
        let most = self.shared.ring.entry_bytes();
        for mut data in entries {
            let (head, ts) = (head.clone(), now());
            let of = head.clone();
            let mut size = sizes::value(&data).saturating_add(SIZE);
            if size > most {
                data["changed"] = json!([]);
                data["cut"] = true.into();
                size = sizes::value(&data).saturating_add(SIZE);
            }
            let text = Text::later(size, move || {
                let text = body(&head, ts, "hook", Some(&data));
                text.unwrap_or_else(|| nothing(&head, ts, "hook"))
            });
            let entry = NewEntry { kind: EntryKind::Hook, is_milestone: false, text };
            self.shared.ring.push(&of, entry, |_| {});
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
        if !entries.is_empty() {
            self.push_hooks(&kept.head(cx), entries);
        }
        kept.last_seen(event, tool_call);
    }
}

/// Returns the entry of a chunk without its text; without all of it, if it cannot be read.
fn without_text(json: &str) -> String {
    let entry = serde_json::from_str::<Map<String, Value>>(&format!("{{{json}"));
    let Ok(mut entry) = entry else { return "\"type\":\"hidden\"}".to_owned() };
    let block = entry.remove("data").map(serde_json::from_value::<ContentBlock>);
    let hidden = match block {
        Some(Ok(block)) => json!(content::block(&block)),
        _ => json!({ "hidden": true }),
    };
    entry.insert("data".to_owned(), hidden);
    Value::from(entry).to_string()[1..].to_owned()
}

/// Writes an entry whose data cannot be written, or are too long.
fn nothing(head: &RunHead, ts: u64, kind: &str) -> Arc<str> {
    let hidden = Some(json!({ "hidden": true }));
    body(head, ts, kind, hidden).unwrap_or_else(|| "\"type\":\"hidden\"}".into())
}
