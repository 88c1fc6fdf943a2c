//! Values that hooks keep with the thread of a call.

use std::sync::Arc;

use serde::Serialize;

use crate::call::context::CallContext;
use crate::memory::{Memory, ThreadValue, ThreadValueError};

impl CallContext {
    /// Returns the value of this name that is kept with the thread of the call, or `None` if there is
    /// none.
    ///
    /// Values of threads outlive calls: limits, budgets and labels are kept in them. They go by
    /// name, are [written as JSON](ThreadValue) in a store, and belong to one thread of one agent; a sub-agent has threads of its own, so a hook that
    /// counts for the whole task uses the context of the [parent](CallContext::parent). What a call
    /// wrote stays if the call fails. Removing the messages of a thread leaves its values; forgetting
    /// the thread does not.
    ///
    /// ```
    /// use hooks_agent::prelude::*;
    ///
    /// # futures::executor::block_on(async {
    /// let number = on(|event: &mut PostCall<'_>| -> HookResult {
    ///     let cx = event.context();
    ///     let calls = cx.update_thread_value("calls", |calls: &mut Option<u32>| {
    ///         *calls.insert(calls.unwrap_or_default() + 1)
    ///     })?;
    ///     event.final_message_mut().push_text(&format!(" ({calls})"));
    ///     Ok(())
    /// });
    /// let model = ScriptedModel::new("fixed", |_| "Done.");
    /// let agent = ReActAgent::builder("assistant").model(model).hook(number).build()?;
    /// assert_eq!(agent.call("Go").await?.text(), "Done. (1)");
    /// assert_eq!(agent.call("Go on").await?.text(), "Done. (2)");
    /// let other = CallOptions::new().thread("another");
    /// assert_eq!(agent.call_with(other, "Go").await?.text(), "Done. (1)");
    /// # Ok::<(), AgentError>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// [`ThreadValueError::Read`] if the value is not a `T`, [`ThreadValueError::NoMemory`] if the agent
    /// keeps no threads.
    pub fn thread_value<T: ThreadValue>(&self, name: &str) -> Result<Option<T>, ThreadValueError> {
        self.memory_for(name)?.thread_values().get(name)
    }

    /// Sets the value of this name. See [`thread_value`](CallContext::thread_value).
    ///
    /// # Errors
    /// [`ThreadValueError::Write`] if it cannot be written as JSON, [`ThreadValueError::NoMemory`] if the
    /// agent keeps no threads.
    pub fn set_thread_value<T: Serialize + ?Sized>(
        &self,
        name: &str,
        value: &T,
    ) -> Result<(), ThreadValueError> {
        let value = serde_json::to_value(value)
            .map_err(|source| ThreadValueError::Write { name: name.to_owned(), source })?;
        self.memory_for(name)?.thread_values().set(name, value);
        Ok(())
    }

    /// Changes the value of this name while no other change of the thread's values happens, and returns
    /// what the closure returns. `None` is no value, before and after. See
    /// [`thread_value`](CallContext::thread_value).
    ///
    /// The closure runs under a lock: it must not wait, nor use the values of the thread.
    ///
    /// # Errors
    /// [`ThreadValueError`]; the value is then unchanged.
    pub fn update_thread_value<T: ThreadValue, R>(
        &self,
        name: &str,
        update: impl FnOnce(&mut Option<T>) -> R,
    ) -> Result<R, ThreadValueError> {
        self.memory_for(name)?.thread_values().update(name, update)
    }

    fn memory_for(&self, name: &str) -> Result<Arc<Memory>, ThreadValueError> {
        self.memory().ok_or_else(|| ThreadValueError::NoMemory {
            agent: self.agent_name().to_owned(),
            name: name.to_owned(),
        })
    }
}
