//! Where a budget keeps what was spent.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use crate::limit::budget::days::Days;
use crate::limit::budget::error::SpendingError;
use crate::limit::budget::spent::{BudgetReport, BudgetScope, Spent};
use hooks_agent_core::call::{CallContext, RunId};
use hooks_agent_core::event::PreCall;
use hooks_agent_core::memory::ThreadValueError;

/// What a thread and its last run have spent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Kept {
    thread: Spent,
    run: Spent,
    /// The last run.
    of: Option<RunId>,
    /// Estimates of the model calls that have not ended, by number. They are spent if their process ends.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    open: BTreeMap<u64, Spent>,
}

type DayKey = dyn Fn(&CallContext) -> String + Send + Sync;

/// Where a budget keeps what was spent: in a thread value and, for the day, in the hook.
#[derive(Clone)]
pub(super) struct Ledger {
    /// The name of the thread value.
    pub(super) name: String,
    pub(super) counts_sub_agents: bool,
    pub(super) days: Days,
    pub(super) day_key: Option<Arc<DayKey>>,
}

impl Ledger {
    /// Goes on with the sums of the run before, if the call resumes it. What calls that were cut off may
    /// have spent is charged.
    pub(super) fn begin(&self, event: &PreCall<'_>) -> Result<(), ThreadValueError> {
        let (home, name) = self.place(event.context());
        // That of a caller went on when its call began.
        if home.run_id() != event.context().run_id() {
            return Ok(());
        }
        home.update_thread_value(&name, |kept: &mut Option<Kept>| {
            let Some(kept) = kept else { return };
            for lost in std::mem::take(&mut kept.open).into_values() {
                kept.thread.add(lost);
                kept.run.add(lost);
            }
            if event.resumes() {
                kept.of = Some(home.run_id());
            }
        })
    }

    /// Notes that a model call begins that may spend this, in the store too, so that a crash does not lose
    /// it. Returns its number.
    pub(super) async fn open(&self, cx: &CallContext, most: Spent) -> Result<u64, SpendingError> {
        let (cx, name) = self.place(cx);
        let number = cx.update_thread_value(&name, |kept: &mut Option<Kept>| {
            let open = &mut kept.get_or_insert_default().open;
            let number = open.last_key_value().map_or(0, |(last, _)| last + 1);
            open.insert(number, most);
            number
        })?;
        cx.commit_values().await?;
        Ok(number)
    }

    /// Notes that a model call has ended.
    pub(super) fn close(&self, cx: &CallContext, number: u64) {
        let (home, name) = self.place(cx);
        let closed = home.update_thread_value(&name, |kept: &mut Option<Kept>| {
            let Some(known) = kept else { return };
            known.open.remove(&number);
            // A model call that cost nothing leaves nothing.
            if *known == Kept::default() {
                *kept = None;
            }
        });
        if let Err(error) = closed {
            let error = &error as &dyn std::error::Error;
            tracing::error!(target: "hooks_agent::builtin::limit", agent = cx.agent_name(), error, "a budget could not be charged");
        }
    }

    /// Returns whose day a call spends.
    pub(super) fn day_key(&self, cx: &CallContext) -> Result<String, SpendingError> {
        let Some(key) = &self.day_key else { return Ok(String::new()) };
        let key = catch_unwind(AssertUnwindSafe(|| key(cx)));
        key.map_err(|_| SpendingError::DayOf)
    }

    pub(super) fn report(
        &self,
        cx: &CallContext,
        day_key: &str,
    ) -> Result<BudgetReport, ThreadValueError> {
        let (cx, name) = self.place(cx);
        let kept = cx.thread_value::<Kept>(&name)?.unwrap_or_default();
        let is_current = kept.of == Some(cx.run_id());
        let run = if is_current { kept.run } else { Spent::default() };
        Ok(BudgetReport { run, thread: kept.thread, day: self.days.spent(day_key) })
    }

    /// Adds what a model call spent. Returns the sums of each scope before and after.
    pub(super) fn add(
        &self,
        cx: &CallContext,
        day_key: &str,
        more: Spent,
    ) -> Vec<(BudgetScope, Spent, Spent)> {
        let mut sums = Vec::new();
        if self.charges_day(cx) {
            let (before, after) = self.days.add(day_key, more);
            sums.push((BudgetScope::Day, before, after));
        }
        let (cx, name) = self.place(cx);
        let added = cx.update_thread_value(&name, |kept: &mut Option<Kept>| {
            let kept = kept.get_or_insert_default();
            if kept.of != Some(cx.run_id()) {
                (kept.run, kept.of) = (Spent::default(), Some(cx.run_id()));
            }
            let before = kept.clone();
            kept.run.add(more);
            kept.thread.add(more);
            [
                (BudgetScope::Thread, before.thread, kept.thread),
                (BudgetScope::Run, before.run, kept.run),
            ]
        });
        match added {
            Ok(added) => sums.extend(added),
            // The next model call cannot read them either, and is refused.
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::error!(target: "hooks_agent::builtin::limit", agent = cx.agent_name(), error, "a budget could not be charged");
            }
        }
        sums
    }

    /// Returns whether this budget charges the day for a call: of clones on an agent and on its callers,
    /// which share the day, the first one does.
    fn charges_day(&self, cx: &CallContext) -> bool {
        let first = cx.hook_state::<OnceLock<String>>(self.days.address());
        let own = cx.owner_call().agent_id();
        first.get_or_init(|| own.to_owned()) == own
    }

    /// Returns the call in whose thread the budget counts, and the name of the value there.
    fn place<'a>(&'a self, cx: &'a CallContext) -> (&'a CallContext, Cow<'a, str>) {
        if self.counts_sub_agents {
            (cx.owner_call(), Cow::Borrowed(&self.name))
        } else {
            (cx, cx.counter_name(&self.name))
        }
    }

    /// Returns the nearest call with a sum of this budget, of those that a call is part of.
    pub(super) fn nearest<'a>(&self, cx: &'a CallContext) -> &'a CallContext {
        let has = |cx: &&CallContext| matches!(cx.thread_value::<Kept>(&self.name), Ok(Some(_)));
        let mut calls = std::iter::successors(Some(cx), |call| call.parent());
        calls.find(|cx| self.counts_sub_agents && has(cx)).unwrap_or(cx)
    }
}
