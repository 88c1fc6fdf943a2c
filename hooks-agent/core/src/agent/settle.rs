//! The end of a call.

use std::future::poll_fn;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::agent::contract::{Agent, CallOutcome};
use crate::call::CallContext;
use crate::report::ErrorKind;
use crate::stream::AgentEventKind;

/// Runs `settled` once, however the call ends.
pub(super) struct Settle<'a, A: Agent + ?Sized> {
    agent: &'a A,
    cx: &'a CallContext,
    /// Whether the call is being polled. If it is while this is dropped, the call panicked: another
    /// future of the same task may panic too.
    is_polled: AtomicBool,
}

impl<'a, A: Agent + ?Sized> Settle<'a, A> {
    pub(super) fn new(agent: &'a A, cx: &'a CallContext) -> Self {
        Self { agent, cx, is_polled: AtomicBool::new(false) }
    }
}

impl<A: Agent + ?Sized> Settle<'_, A> {
    /// Notes while the future is polled.
    pub(super) async fn watch<T>(&self, mut call: Pin<&mut impl Future<Output = T>>) -> T {
        poll_fn(|cx| {
            self.is_polled.store(true, Ordering::Relaxed);
            let entered = self.cx.enter();
            let polled = call.as_mut().poll(cx);
            drop(entered);
            self.is_polled.store(false, Ordering::Relaxed);
            polled
        })
        .await
    }

    pub(super) fn with(self, outcome: CallOutcome) {
        let this = ManuallyDrop::new(self);
        this.cx.leave();
        this.agent.settled(this.cx.clone(), outcome);
    }
}

impl<A: Agent + ?Sized> Drop for Settle<'_, A> {
    fn drop(&mut self) {
        self.cx.leave();
        let (outcome, kind) = if self.is_polled.load(Ordering::Relaxed) {
            (CallOutcome::Panicked, ErrorKind::Panicked)
        } else if self.cx.is_interrupted() {
            (CallOutcome::Interrupted, ErrorKind::Interrupted)
        } else {
            (CallOutcome::Cancelled, ErrorKind::Cancelled)
        };
        self.agent.settled(self.cx.clone(), outcome);
        if self.cx.parent().is_some() {
            self.cx.emit_now(AgentEventKind::Failed { kind });
        }
    }
}
