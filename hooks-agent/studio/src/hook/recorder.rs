//! Writes what happens into the ring.

use std::sync::Arc;

use hooks_agent_core::call::CallContext;
use hooks_agent_core::message::{ContentBlock, Msg};
use serde_json::Value;

use crate::entry::{Data, HookRun, Label, RunHead, Shown, pack_without_text};
use crate::hook::orders::Orders;
use crate::hook::other_hooks::changes::Showing;
use crate::hook::run::{Kept, Run};
use crate::ring::{Log, RunSummary};
use crate::shared::Shared;

/// Writes what one hook sees into the ring.
pub(super) struct Recorder {
    pub(super) shared: Arc<Shared>,
    /// The number of the hook. Of several studio hooks in a run, one writes.
    number: u64,
    pub(super) orders: Orders,
}

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
        let is_own = {
            let mut kept = run.lock();
            let is_own = kept.claim(self.number);
            if is_own && kept.log.is_none() {
                kept.shows = self.shared.settings.shows();
                kept.log = Some(self.shared.ring.begin(
                    RunHead::of(cx, self.tool_of(cx)),
                    cx,
                    self.number,
                ));
                self.note(&kept, "started");
            }
            is_own
        };
        is_own.then_some(run)
    }

    /// Returns the tool by which a call runs for another one.
    fn tool_of(&self, cx: &CallContext) -> Option<Arc<str>> {
        let (parent, id) = cx.parent().zip(cx.tool_call_id())?;
        let above: Arc<Run> = parent.hook_state(self.shared.number());
        let kept = above.lock();
        let call = kept.calls.iter().find(|call| *call.id == *id)?;
        Some(call.name.as_str().into())
    }

    /// Returns the log of a call of which this hook writes. A hook in shadow may be about one that has ended.
    pub(super) fn log_of(&self, cx: &CallContext) -> Option<Arc<Log>> {
        self.shared.ring.log_of(cx.run_id(), self.number)
    }

    /// Adds an entry without data.
    pub(super) fn note(&self, kept: &Kept, kind: &'static str) {
        self.add(kept, kind, &Data::Nothing, |_| {});
    }

    /// Adds an entry. Returns its number.
    pub(super) fn add(
        &self,
        kept: &Kept,
        kind: &'static str,
        data: &Data<'_>,
        update: impl FnOnce(&mut RunSummary),
    ) -> Option<u64> {
        self.shared.ring.push(kept.log.as_ref()?, kind, data, update)
    }

    /// Returns how many bytes of content an entry may have; nothing if content is not shown.
    pub(super) fn most(&self, kept: &Kept) -> Option<usize> {
        kept.is_shown().then(|| self.shared.ring.entry_bytes())
    }

    /// Adds the chunk of an answer, without its text unless it may be shown before the hooks of the
    /// whole answer ran.
    pub(super) fn add_chunk(&self, kept: &mut Kept, kind: &'static str, block: &ContentBlock) {
        let is_shown = kept.is_draft_shown();
        let most = is_shown.then(|| self.shared.ring.entry_bytes());
        let seq = self.add(kept, kind, &Data::Block(Shown::up_to(most, block)), |_| {});
        kept.draft.add(block, seq.filter(|_| is_shown));
    }

    /// Hides the chunks of an answer, unless hooks left it as it is.
    pub(super) fn hide_draft(&self, kept: &mut Kept, answer: Option<&Msg>) {
        let chunks = kept.draft.end(answer);
        if let Some(log) = kept.log.as_ref().filter(|_| !chunks.is_empty()) {
            self.shared.ring.replace(log, &chunks, pack_without_text);
        }
    }

    /// Adds what other hooks did.
    pub(super) fn push_hooks(&self, log: &Log, runs: Vec<HookRun>) {
        let most = self.shared.ring.entry_bytes();
        for mut run in runs {
            run.cut_to(most);
            self.shared.ring.push(log, Label::HOOK, &Data::HookRun(&run), |_| {});
        }
    }

    /// Adds what other hooks did at events that are over when the hook sees this one, which holds `end`.
    pub(super) fn flush(
        &self,
        kept: &mut Kept,
        at: (&'static str, Option<&str>),
        end: impl FnOnce() -> Option<Value>,
    ) {
        let (event, tool_call) = at;
        if !kept.pending.is_empty() {
            let is_shown = kept.is_shown();
            let end = (is_shown && kept.pending.has(event, tool_call)).then(end).flatten();
            let shown = Showing { end: end.as_ref(), removed: is_shown && kept.shows.removed };
            let runs = kept.pending.take(event, tool_call, &shown);
            if let Some(log) = &kept.log {
                self.push_hooks(log, runs);
            }
        }
        kept.last_seen(event, tool_call);
    }
}
