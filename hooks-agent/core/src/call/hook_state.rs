//! State of hooks for one call.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

use crate::call::context::CallContext;

/// The states of one type, by hook.
struct States<T>(Mutex<Vec<(usize, Arc<T>)>>);

impl CallContext {
    /// Returns what a hook keeps of this call: a `T` for each number of a hook, created by `Default` at
    /// its first use and dropped with the context. A sub-agent's call has its own.
    ///
    /// The number tells hooks of one type apart; the address of what the clones of a hook share is one.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// use hooks_agent::prelude::*;
    ///
    /// # futures::executor::block_on(async {
    /// let count = on(|event: &mut ReasoningChunk<'_>| {
    ///     event.context().hook_state::<AtomicUsize>(0).fetch_add(1, Ordering::Relaxed);
    /// });
    /// let show = on(|event: &mut PostCall<'_>| {
    ///     let chunks = event.context().hook_state::<AtomicUsize>(0).load(Ordering::Relaxed);
    ///     event.final_message_mut().push_text(&format!(" ({chunks} chunks)"));
    /// });
    /// let model = ScriptedModel::new("fixed", |_| "Good morning.");
    /// let agent = ReActAgent::builder("assistant").model(model).hook(count).hook(show).build()?;
    /// assert_eq!(agent.call("Hello").await?.text(), "Good morning. (2 chunks)");
    /// # Ok::<(), AgentError>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn hook_state<T: Any + Default + Send + Sync>(&self, hook: usize) -> Arc<T> {
        let states = {
            let values = &mut self.state().values;
            values.get::<States<T>>().unwrap_or_else(|| {
                values.insert(States::<T>(Mutex::default()));
                // It was inserted under the same lock.
                values.get().unwrap_or_else(|| Arc::new(States(Mutex::default())))
            })
        };
        let mut states = states.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, state)) = states.iter().find(|(of, _)| *of == hook) {
            return state.clone();
        }
        let state = Arc::default();
        states.push((hook, Arc::clone(&state)));
        state
    }
}
