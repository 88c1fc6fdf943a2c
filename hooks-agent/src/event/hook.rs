//! A hook that sees the events of calls.

use std::any::type_name;
use std::sync::Arc;

use hooks_core::HookResult;

use crate::event::{EventMask, Flow, HookEvent, priority};
use crate::tool::Tools;

/// A hook that sees the events of an agent's calls, and may change what they are about.
///
/// It is given to the builder of an agent and registered as a hook of the agent's methods, so it has
/// its place among all others: lower priority first, then in the order of registration.
/// [`#[agent_hook]`](macro@crate::agent_hook) writes the implementation from methods that take one
/// event each.
///
/// An error fails the call, at `ErrorEvent`, chunks and `Settled` it does not: there it is attached to
/// the error of the call, or reported through `tracing`. A panic unwinds, but not out of those.
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use std::sync::Arc;
///
/// use hooks_agent::{
///     AgentExt, AgentHook, EventKind, EventMask, Flow, HookEvent, Msg, ReActAgent, ScriptedModel,
/// };
/// use hooks_core::HookResult;
///
/// #[derive(Default)]
/// struct CountModelCalls(Arc<AtomicUsize>);
///
/// impl AgentHook for CountModelCalls {
///     fn events(&self) -> EventMask {
///         EventKind::PostReasoning.into()
///     }
///
///     async fn on_event(&self, _: &mut HookEvent<'_>) -> HookResult<Flow> {
///         self.0.fetch_add(1, Ordering::Relaxed);
///         Ok(Flow::Continue)
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let count = CountModelCalls::default();
/// let calls = count.0.clone();
/// let model = ScriptedModel::new("fixed", |_| "Done.");
/// let agent = ReActAgent::builder("assistant").model(model).hook(count).build()?;
/// agent.call(Msg::user("Go")).await?;
/// assert_eq!(calls.load(Ordering::Relaxed), 1);
/// # Ok::<(), hooks_agent::AgentError>(())
/// # }).unwrap();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an event hook",
    note = "write `#[agent_hook]` on an impl block of it whose methods take one event each, or implement \
            `AgentHook` to match on all events"
)]
pub trait AgentHook: Send + Sync + 'static {
    /// What removes it, and what plans and errors call it; by default the name of its type.
    fn name(&self) -> String {
        let path = type_name::<Self>();
        let path = path.split('<').next().unwrap_or(path);
        path.rsplit("::").next().unwrap_or(path).to_owned()
    }

    /// Where it stands: lower runs first. See [`priority`].
    fn priority(&self) -> i32 {
        priority::DEFAULT
    }

    /// The events that it wants; asked once, when it is registered. An event that nobody wants costs
    /// next to nothing.
    fn events(&self) -> EventMask {
        EventMask::ALL
    }

    /// The events that it handles without waiting, by [`on_event_now`](AgentHook::on_event_now):
    /// those allocate nothing.
    fn sync_events(&self) -> EventMask {
        EventMask::NONE
    }

    /// Tools that come with it; the agent has them from when it is built.
    fn tools(&self) -> Tools {
        Vec::new()
    }

    /// Whether agents that are tools of this one have it too: for hooks that govern.
    fn inherit(&self) -> bool {
        false
    }

    /// Sees an event. Dropping a call drops it where it waits.
    ///
    /// At `Settled` it may not wait: the call may be a dropped one. What it does after its first wait
    /// there does not happen, which is reported.
    fn on_event(&self, event: &mut HookEvent<'_>) -> impl Future<Output = HookResult<Flow>> + Send;

    /// Sees an event of [`sync_events`](AgentHook::sync_events).
    ///
    /// # Errors
    /// As [`on_event`](AgentHook::on_event).
    fn on_event_now(&self, _event: &mut HookEvent<'_>) -> HookResult<Flow> {
        Ok(Flow::Continue)
    }
}

/// A shared hook is the same hook.
impl<H: AgentHook> AgentHook for Arc<H> {
    fn name(&self) -> String {
        H::name(self)
    }

    fn priority(&self) -> i32 {
        H::priority(self)
    }

    fn events(&self) -> EventMask {
        H::events(self)
    }

    fn sync_events(&self) -> EventMask {
        H::sync_events(self)
    }

    fn tools(&self) -> Tools {
        H::tools(self)
    }

    fn inherit(&self) -> bool {
        H::inherit(self)
    }

    fn on_event(&self, event: &mut HookEvent<'_>) -> impl Future<Output = HookResult<Flow>> + Send {
        H::on_event(self, event)
    }

    fn on_event_now(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        H::on_event_now(self, event)
    }
}
