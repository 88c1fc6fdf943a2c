//! The table of events: each event as a kind, as a variant of [`HookEvent`], and by its name.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use hooks_core::HookResult;
use serde::{Deserialize, Serialize};

use crate::agent::Agent;
use crate::call::CallContext;
use crate::event::acting::{PostActing, PreActing};
use crate::event::call::{PostCall, PreCall, Settled};
use crate::event::chunk::{ActingChunk, ReasoningChunk, SummaryChunk};
use crate::event::error::ErrorEvent;
use crate::event::flow::{Flow, IntoFlow};
use crate::event::reasoning::{PostReasoning, PreReasoning};
use crate::event::summary::{PostSummary, PreSummary};

/// The type of an event, such as `PreActing<'static>`.
pub trait Event: 'static {
    /// The event, which borrows from a call.
    type With<'a>;
    /// Its kind.
    const KIND: EventKind;

    /// Returns the event, if it is of this type.
    fn of<'e, 'a>(event: &'e mut HookEvent<'a>) -> Option<&'e mut Self::With<'a>>;
}

/// The form of a closure that takes its event by `&`.
#[doc(hidden)]
#[derive(Debug)]
pub enum Look {}

/// A closure of one event, as [`on`](crate::hook::on) takes it. `Form` is inferred.
#[diagnostic::on_unimplemented(
    message = "this is not a closure of one event",
    note = "write `|event: &mut PreActing<'_>| ..` with the type of the event, and return `()`, `Flow`, or \
            a `HookResult` of either; for an async closure, write `on!(async move |event: ..| ..)`"
)]
pub trait EventHandler<Form>: Send + Sync + 'static {
    /// The kind of the event.
    const KIND: EventKind;
    /// Whether it may return another flow than [`Flow::Continue`].
    #[doc(hidden)]
    const DECIDES: bool = true;

    /// Handles the event; an event of another kind is left as it is.
    ///
    /// # Errors
    /// The error of the closure.
    fn handle(&self, event: &mut HookEvent<'_>) -> HookResult<Flow>;
}

/// Declares [`EventKind`] and [`HookEvent`] from a table of events, in the order of a call.
macro_rules! events {
    ($($(#[$doc:meta])* $kind:ident($event:ident) = $name:literal,)*) => {
        /// The kind of an event.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "SCREAMING_SNAKE_CASE")]
        #[non_exhaustive]
        pub enum EventKind {
            $($(#[$doc])* $kind,)*
        }

        impl EventKind {
            /// All kinds, in the order of a call.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$kind),*];

            /// Returns the name in traces, such as `PRE_CALL`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }
        }

        /// An event of any kind.
        ///
        /// Events have setters for what a hook may change. Chunks, [`ErrorEvent`] and [`Settled`]
        /// have none.
        ///
        /// A hook that records the events of a call. For a hook of one event, see
        /// [`on`](crate::hook::on) and [`#[agent_hook]`](macro@crate::agent_hook).
        ///
        /// ```
        /// use std::sync::mpsc;
        ///
        /// use hooks_agent::prelude::*;
        ///
        /// struct Record(mpsc::Sender<EventKind>);
        ///
        /// impl AgentHook for Record {
        ///     fn on_event_now(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        ///         // Nobody may read it.
        ///         let _ = self.0.send(event.kind());
        ///         Ok(Flow::Continue)
        ///     }
        /// }
        ///
        /// # futures::executor::block_on(async {
        /// let (sender, kinds) = mpsc::channel();
        /// let model = ScriptedModel::new("fixed", |_| "Done.");
        /// let agent = ReActAgent::builder("assistant").model(model).hook(Record(sender)).build()?;
        /// agent.call("Go").await?;
        /// let kinds: Vec<_> = kinds.try_iter().map(EventKind::name).collect();
        /// let round = ["PRE_REASONING", "REASONING_CHUNK", "POST_REASONING"];
        /// assert_eq!(kinds, [&["PRE_CALL"], &round[..], &["POST_CALL", "SETTLED"]].concat());
        /// # Ok::<(), AgentError>(())
        /// # }).unwrap();
        /// ```
        #[derive(Debug)]
        #[non_exhaustive]
        pub enum HookEvent<'a> {
            $($(#[$doc])* $kind($event<'a>),)*
        }

        impl<'a> HookEvent<'a> {
            /// Sets the context: the same call, as the hook that receives the event sees it.
            pub(crate) fn set_context(&mut self, cx: &'a CallContext) {
                match self {
                    $(Self::$kind(event) => event.set_context(cx),)*
                }
            }
        }

        impl HookEvent<'_> {
            /// Returns the kind of the event.
            #[must_use]
            pub fn kind(&self) -> EventKind {
                match self {
                    $(Self::$kind(_) => EventKind::$kind,)*
                }
            }

            /// Returns the agent.
            #[must_use]
            pub fn agent(&self) -> &dyn Agent {
                match self {
                    $(Self::$kind(event) => event.agent(),)*
                }
            }

            /// Returns the context of the call.
            #[must_use]
            pub fn context(&self) -> &CallContext {
                match self {
                    $(Self::$kind(event) => event.context(),)*
                }
            }
        }

        $(
            impl Event for $event<'static> {
                type With<'a> = $event<'a>;
                const KIND: EventKind = EventKind::$kind;

                fn of<'e, 'a>(event: &'e mut HookEvent<'a>) -> Option<&'e mut $event<'a>> {
                    match event {
                        HookEvent::$kind(event) => Some(event),
                        _ => None,
                    }
                }
            }

            impl<F, R> EventHandler<(Look, $event<'static>, R)> for F
            where
                F: Fn(&$event<'_>) -> R + Send + Sync + 'static,
                R: IntoFlow,
            {
                const KIND: EventKind = EventKind::$kind;
                const DECIDES: bool = R::DECIDES;

                fn handle(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
                    match event {
                        HookEvent::$kind(event) => self(event).into_flow(),
                        _ => Ok(Flow::Continue),
                    }
                }
            }

            impl<F, R> EventHandler<($event<'static>, R)> for F
            where
                F: Fn(&mut $event<'_>) -> R + Send + Sync + 'static,
                R: IntoFlow,
            {
                const KIND: EventKind = EventKind::$kind;
                const DECIDES: bool = R::DECIDES;

                fn handle(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
                    match event {
                        HookEvent::$kind(event) => self(event).into_flow(),
                        _ => Ok(Flow::Continue),
                    }
                }
            }
        )*
    };
}

events! {
    /// Before a call.
    PreCall(PreCall) = "PRE_CALL",
    /// Before the model is called in a round.
    PreReasoning(PreReasoning) = "PRE_REASONING",
    /// A chunk of the model's answer.
    ReasoningChunk(ReasoningChunk) = "REASONING_CHUNK",
    /// After the model answered in a round.
    PostReasoning(PostReasoning) = "POST_REASONING",
    /// Before a tool call.
    PreActing(PreActing) = "PRE_ACTING",
    /// Progress of a running tool.
    ActingChunk(ActingChunk) = "ACTING_CHUNK",
    /// After a tool call, with its result.
    PostActing(PostActing) = "POST_ACTING",
    /// Before the model is called for a summary.
    PreSummary(PreSummary) = "PRE_SUMMARY",
    /// A chunk of the summary.
    SummaryChunk(SummaryChunk) = "SUMMARY_CHUNK",
    /// After the summary.
    PostSummary(PostSummary) = "POST_SUMMARY",
    /// After a call, with its reply.
    PostCall(PostCall) = "POST_CALL",
    /// A failure.
    Error(ErrorEvent) = "ERROR",
    /// The end of a call, whatever its outcome.
    Settled(Settled) = "SETTLED",
}

impl HookEvent<'_> {
    /// Returns the current time, in milliseconds since the Unix epoch (1970).
    #[must_use]
    pub fn timestamp(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }

    /// Returns whether an earlier run of the call had the event, for a call with a
    /// [journal](crate::call::CallOptions::journal): an observer that counts or writes leaves it out. The end
    /// of a run, [`Settled`](Self::Settled), is its own.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// use hooks_agent::event::HookEvent;
    ///
    /// static EVENTS: AtomicUsize = AtomicUsize::new(0);
    ///
    /// fn count(event: &HookEvent<'_>) {
    ///     if !event.is_replayed() {
    ///         EVENTS.fetch_add(1, Ordering::Relaxed);
    ///     }
    /// }
    /// # let _ = count;
    /// ```
    #[must_use]
    pub fn is_replayed(&self) -> bool {
        let tool_call = match self {
            Self::PreActing(event) => Some(event.id()),
            Self::ActingChunk(event) => Some(&*event.tool_use().id),
            Self::PostActing(event) => Some(&*event.tool_use().id),
            Self::Settled(_) => return false,
            _ => None,
        };
        self.context().replays(tool_call)
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
