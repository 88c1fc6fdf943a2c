//! Reserves what a call uses of quotas.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::call::context::CallContext;
use crate::call::thread::kept::Kept;
use crate::call::tool::CheckedCall;
use crate::error::tool::ToolError;
use crate::memory::SaveThread;
use crate::run_id::RunId;
use crate::store::now;
use crate::store::{Ledger, Reservation, StoreError};

/// Where a call counts what it uses of quotas.
enum Counted<'a> {
    Store(&'a dyn SaveThread),
    Process(&'a Arc<Ledger>),
}

/// What the hooks around a tool call reserve for it, each in the call of the agent whose hook it is.
pub(crate) type Reserved = Vec<(CallContext, Reservation)>;

impl CallContext {
    /// Reserves of quotas, in the store of the agent: all of it, or nothing. An agent without a store counts
    /// in its process. For what a tool call uses, see
    /// [`NextTool::run_reserved`](crate::hook::NextTool::run_reserved).
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use hooks_agent::prelude::*;
    /// use hooks_agent::store::{Reservation, Window};
    ///
    /// struct HundredAnHour;
    ///
    /// #[agent_hook]
    /// impl HundredAnHour {
    ///     async fn pre_call(&self, event: &PreCall<'_>) -> HookResult {
    ///         let cx = event.context();
    ///         let hour = Window::Sliding(Duration::from_secs(3600));
    ///         let one = Reservation::new("calls", cx.user().unwrap_or_default(), 1, 100, hour);
    ///         Ok(cx.reserve(vec![one.with_key(cx.run_id().to_string())]).await?)
    ///     }
    /// }
    /// # let _ = HundredAnHour;
    /// ```
    ///
    /// # Errors
    /// [`StoreError::Quota`] if it is not left, [`StoreError::NoQuotas`] if the store keeps none or a durable
    /// engine runs the call, and other errors of the store. Nothing is reserved then, as far as the store
    /// says.
    pub async fn reserve(&self, reservations: Vec<Reservation>) -> Result<(), StoreError> {
        self.reserve_new(reservations).await.map(drop)
    }

    /// Reserves of quotas, and returns what takes that back.
    async fn reserve_new(&self, all: Vec<Reservation>) -> Result<Vec<Reservation>, StoreError> {
        match self.counted()? {
            Counted::Store(saver) => saver.store().reserve(all).await,
            Counted::Process(ledger) => Ok(ledger.reserve(&all, now())?),
        }
    }

    /// Sets what was used of what the call has [reserved](Self::reserve): the amounts of these keys. It may be
    /// more than there was room for.
    ///
    /// # Errors
    /// [`StoreError::NoQuotas`] as for `reserve`, and other errors of the store.
    pub async fn settle(&self, used: Vec<Reservation>) -> Result<(), StoreError> {
        match self.counted()? {
            Counted::Store(saver) => saver.store().settle(used).await,
            Counted::Process(ledger) => {
                ledger.settle(&used);
                Ok(())
            }
        }
    }

    /// Returns how often the model of the agent was asked in this call: a request was sent, or an attempt was
    /// made.
    #[must_use]
    pub fn models_asked(&self) -> u64 {
        self.call.asked.load(Ordering::Relaxed)
    }

    pub(crate) fn count_asked(&self) {
        self.call.asked.fetch_add(1, Ordering::Relaxed);
    }

    /// Reserves what a tool call uses, and commits that its tool starts, unless it may start again. What is
    /// counted in the store of the thread is part of the step.
    pub(crate) async fn commit_start(
        &self,
        tool_call_id: &str,
        is_once: bool,
        reserved: Reserved,
    ) -> Result<(), ToolError> {
        let (own, others): (Vec<_>, Vec<_>) =
            reserved.into_iter().partition(|(owner, _)| owner.run_id() == self.run_id());
        let own: Vec<_> = own.into_iter().map(|(_, it)| it).collect();
        let mut wanted: Vec<(CallContext, Vec<Reservation>)> = Vec::new();
        for (owner, it) in others {
            match wanted.iter_mut().find(|(known, _)| known.run_id() == owner.run_id()) {
                Some((_, all)) => all.push(it),
                None => wanted.push((owner, vec![it])),
            }
        }
        // What takes it back. A tool call that was cut off may have run under what it had before.
        let mut made = Vec::with_capacity(wanted.len());
        for (owner, all) in wanted {
            match owner.reserve_new(all).await {
                Ok(all) => made.push((owner, all)),
                Err(error) => {
                    take_back(made).await;
                    return Err(refused(error));
                }
            }
        }
        let started = match self.saver() {
            Some(saver) => saver.start(tool_call_id, is_once, own).await,
            None if own.is_empty() => Ok(()),
            None => self.reserve(own).await,
        };
        match started {
            Err(error @ (StoreError::Quota(_) | StoreError::NoQuotas)) => {
                take_back(made).await;
                Err(refused(error))
            }
            started => Ok(started?),
        }
    }

    /// Returns the key by which a tool call is counted once: that of its record in a store, where there is one,
    /// and of its thread, as programs may name runs of two threads alike. Without a record, it is the one that it
    /// had before it waited.
    pub(crate) fn reservation_key(&self, checked: &CheckedCall) -> Arc<str> {
        let (agent, thread) = (self.agent_name(), self.thread_id());
        let thread = RunId::named(&format!("{}:{agent}{thread}", agent.len()));
        match (checked.key(), checked.earlier_key()) {
            (Some(key), _) => format!("{key}@{thread}").into(),
            (None, Some(key)) => key.clone(),
            (None, None) => format!("{}/{}@{thread}", self.run_id(), checked.number()).into(),
        }
    }

    fn counted(&self) -> Result<Counted<'_>, StoreError> {
        match (self.call.kept.get(), &self.call.ledger) {
            (Some(Kept::Thread(saver)), _) => Ok(Counted::Store(&**saver)),
            (None, Some(ledger)) => Ok(Counted::Process(ledger)),
            _ => Err(StoreError::NoQuotas),
        }
    }
}

/// Takes back what callers have reserved for a tool that did not start. What cannot be taken back stays
/// counted.
async fn take_back(made: Vec<(CallContext, Vec<Reservation>)>) {
    for (owner, all) in made.into_iter().filter(|(_, all)| !all.is_empty()) {
        if let Err(error) = owner.settle(all).await {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(
                target: "hooks_agent::store", error, "what a tool did not use stays counted"
            );
        }
    }
}

fn refused(error: StoreError) -> ToolError {
    match error {
        StoreError::Quota(exceeded) => ToolError::Quota(exceeded),
        error => error.into(),
    }
}
