//! The interrupt of a call.

use std::future::{pending, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use futures::future::select;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::call::context::CallContext;
use crate::error::AgentError;

/// Interrupts calls from outside, such as from a signal handler or another task. Clones share it.
///
/// ```
/// use hooks_agent::call::Interrupt;
/// use hooks_agent::message::GenerateReason;
/// use hooks_agent::prelude::*;
///
/// # futures::executor::block_on(async {
/// let model = ScriptedModel::new("fixed", |_| "Done.");
/// let agent = ReActAgent::builder("assistant").model(model).build()?;
/// let interrupt = Interrupt::new();
/// interrupt.interrupt();
/// let options = CallOptions::new().interrupt(interrupt);
/// let reply = agent.call_with(options, "Go").await?;
/// assert_eq!(reply.reason, Some(GenerateReason::Interrupted));
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug, Default)]
pub struct Interrupt(CancellationToken);

impl Interrupt {
    /// Creates an interrupt that is not set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Interrupts the calls that have it, also those that start later.
    pub fn interrupt(&self) {
        self.0.cancel();
    }

    /// Returns whether it is set.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.0.is_cancelled()
    }
}

/// Whether the call is interrupted.
#[derive(Default)]
pub(super) struct Interrupts {
    is_set: AtomicBool,
    set: Notify,
    /// The interrupt of the caller.
    outside: Option<Interrupt>,
    /// Whether an interrupt drops the future of the call.
    drops_call: AtomicBool,
}

impl Interrupts {
    pub(super) fn new(outside: Option<Interrupt>) -> Self {
        Self { outside, ..Self::default() }
    }

    /// Returns those of the same call for a hook in shadow: it hears of the caller's.
    pub(super) fn of_shadow(&self) -> Self {
        Self::new(self.outside.clone())
    }

    /// Returns whether the call itself is interrupted.
    pub(super) fn is_set(&self) -> bool {
        self.is_set.load(Ordering::Acquire)
    }
}

impl CallContext {
    /// Interrupts the call: it ends with the partial message and the reason
    /// [`Interrupted`](crate::message::GenerateReason::Interrupted). Nothing in the call can catch
    /// the interrupt.
    pub fn interrupt(&self) {
        self.call.interrupt.is_set.store(true, Ordering::Release);
        self.call.interrupt.set.notify_waiters();
    }

    /// Returns whether the call is interrupted.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        let Interrupts { is_set, outside, .. } = &self.call.interrupt;
        is_set.load(Ordering::Acquire)
            || outside.as_ref().is_some_and(Interrupt::is_interrupted)
            || self.parent().is_some_and(Self::is_interrupted)
    }

    /// Returns whether the call itself was interrupted, and not what it is part of.
    pub(crate) fn is_itself_interrupted(&self) -> bool {
        self.call.interrupt.is_set()
    }

    /// Waits until the call is interrupted.
    pub async fn interrupted(&self) {
        let Interrupts { is_set, set, outside, .. } = &self.call.interrupt;
        let own = async {
            let mut waits = pin!(set.notified());
            waits.as_mut().enable();
            if !is_set.load(Ordering::Acquire) {
                waits.await;
            }
        };
        if outside.is_none() && self.parent().is_none() {
            return own.await;
        }
        let outside = async {
            match outside {
                Some(Interrupt(token)) => token.cancelled().await,
                None => pending().await,
            }
        };
        let parent = async {
            match self.parent() {
                Some(parent) => Box::pin(parent.interrupted()).await,
                None => pending().await,
            }
        };
        select(pin!(own), select(pin!(outside), pin!(parent))).await;
    }

    /// Ends the call here if it is interrupted, so that nothing new starts: for hooks that wait or
    /// repeat.
    ///
    /// A call by [`AgentExt`](crate::agent::AgentExt) is dropped at this await; a method that is
    /// called on its own fails.
    ///
    /// # Errors
    /// [`AgentError::Interrupted`] if the call is interrupted.
    pub async fn checkpoint(&self) -> Result<(), AgentError> {
        if !self.is_interrupted() {
            return Ok(());
        }
        if self.call.interrupt.drops_call.load(Ordering::Relaxed) {
            pending::<()>().await;
        }
        Err(AgentError::Interrupted)
    }

    /// Polls the future of the call until it is ready, or the call is interrupted.
    pub(crate) async fn run_until_interrupted<T>(
        &self,
        mut call: Pin<&mut impl Future<Output = T>>,
    ) -> Option<T> {
        self.call.interrupt.drops_call.store(true, Ordering::Relaxed);
        let mut interrupted = pin!(self.interrupted());
        poll_fn(|cx| {
            // An interrupted call may have a reply ready too.
            if self.is_interrupted() {
                return Poll::Ready(None);
            }
            match call.as_mut().poll(cx) {
                Poll::Ready(reply) => Poll::Ready(Some(reply)),
                Poll::Pending => interrupted.as_mut().poll(cx).map(|()| None),
            }
        })
        .await
    }
}
