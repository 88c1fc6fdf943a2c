//! State of hooks for one call.

use std::any::{Any, TypeId};
use std::sync::Arc;

use crate::call::context::CallContext;

/// What hooks keep of a call, by type and hook. They are few, so a vector is enough.
#[derive(Default)]
pub(super) struct HookStates(Vec<(TypeId, usize, Arc<dyn Any + Send + Sync>)>);

impl HookStates {
    fn get<T: Any + Send + Sync>(&self, hook: usize) -> Option<Arc<T>> {
        let is_asked = |of: TypeId, number: usize| number == hook && of == TypeId::of::<T>();
        let (.., state) = self.0.iter().find(|(of, number, _)| is_asked(*of, *number))?;
        state.clone().downcast().ok()
    }
}

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
        if let Some(state) = self.state().hook_states.get(hook) {
            return state;
        }
        // Without the lock: its `default` may use the context.
        let new = Arc::<T>::default();
        let states = &mut self.state().hook_states;
        if let Some(state) = states.get(hook) {
            return state;
        }
        states.0.push((TypeId::of::<T>(), hook, new.clone()));
        new
    }
}
