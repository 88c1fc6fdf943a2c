//! A hook that notes events.

use std::sync::{Arc, Mutex, PoisonError};

use hooks_core::HookResult;

use crate::event::{EventKind, EventMask, Flow, HookEvent};
use crate::hook::AgentHook;
use crate::testing::diff::diff_lines;
use crate::testing::seen::SeenFlow;

/// A hook that notes the events of an agent, in order.
///
/// By default it runs before all other hooks, so that it receives every event. A hook that answers
/// an event keeps it from the hooks after it. With [`priority`](Recorder::priority) it runs after
/// others, and its records have their stops, questions and jumps. A clone shares the records.
///
/// ```
/// use hooks_agent::prelude::*;
/// use hooks_agent::testing::{Recorder, Script};
///
/// # futures::executor::block_on(async {
/// let recorder = Recorder::new();
/// let script = Script::new().says("Hi");
/// let agent = ReActAgent::builder("bot").model(script).hook(recorder.clone()).build()?;
/// agent.call("Hello").await?;
/// recorder.assert_order([
///     "PRE_CALL",
///     "PRE_REASONING",
///     "REASONING_CHUNK",
///     "POST_REASONING",
///     "POST_CALL",
///     "SETTLED",
/// ]);
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct Recorder {
    events: EventMask,
    priority: i32,
    records: Arc<Mutex<Vec<Record>>>,
}

/// An event that a [`Recorder`] noted.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Record {
    /// The kind of the event.
    pub kind: EventKind,
    /// What the hooks that ran before the recorder decided: a stop, a question or a jump.
    pub flow: SeenFlow,
}

impl Recorder {
    /// Creates a recorder of all events that runs before all other hooks.
    #[must_use]
    pub fn new() -> Self {
        Self { events: EventMask::ALL, priority: i32::MIN, records: Arc::default() }
    }

    /// Sets the events to note.
    #[must_use]
    pub fn only(self, events: impl Into<EventMask>) -> Self {
        Self { events: events.into(), ..self }
    }

    /// Sets the [priority](AgentHook::priority).
    #[must_use]
    pub fn priority(self, priority: i32) -> Self {
        Self { priority, ..self }
    }

    /// Returns the records until now, oldest first.
    #[must_use]
    pub fn records(&self) -> Vec<Record> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Asserts that these are the names of the events until now, as [`EventKind::name`] returns
    /// them.
    ///
    /// # Panics
    /// Panics with the difference if there are others, or in another order.
    #[track_caller]
    pub fn assert_order(&self, names: impl IntoIterator<Item = impl AsRef<str>>) {
        let expected: Vec<_> = names.into_iter().map(|name| name.as_ref().to_owned()).collect();
        let found: Vec<_> = self.records().iter().map(|record| record.kind.name()).collect();
        let difference = || diff_lines(&expected.join("\n"), &found.join("\n"));
        assert!(expected == found, "other events, or in another order:\n{}", difference());
    }
}

impl Default for Recorder {
    fn default() -> Self {
        Self::new()
    }
}

impl AgentHook for Recorder {
    fn priority(&self) -> i32 {
        self.priority
    }

    fn events(&self) -> EventMask {
        self.events
    }

    fn sync_events(&self) -> EventMask {
        self.events
    }

    fn answers(&self) -> EventMask {
        EventMask::NONE
    }

    async fn on_event(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        self.on_event_now(event)
    }

    fn on_event_now(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        let control = match event {
            HookEvent::PreReasoning(event) => Some(event.control()),
            HookEvent::PostReasoning(event) => Some(event.control()),
            HookEvent::PreActing(event) => Some(event.control()),
            HookEvent::PostActing(event) => Some(event.control()),
            _ => None,
        };
        let flow = control.map_or(SeenFlow::Continue, SeenFlow::decided);
        let record = Record { kind: event.kind(), flow };
        self.records.lock().unwrap_or_else(PoisonError::into_inner).push(record);
        Ok(Flow::Continue)
    }
}
