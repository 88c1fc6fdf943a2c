//! Hooks that receive the events of calls.

use std::any::type_name;
use std::sync::Arc;

use hooks_core::{HookGroup, HookOrder, HookPlan, HookResult, HookRole};

use crate::call::ForeignGuard;
use crate::error::AgentError;
use crate::event::{EventMask, Flow, HookEvent};
use crate::hook::around::{
    AgentCall, AroundMask, Compression, ModelAttempt, ModelCall, NextAttempt, NextCall,
    NextCompression, NextModel, NextPermission, NextTool, PermissionCheck, ToolCall,
};
use crate::hook::boxed::DynAgentHook;
use crate::hook::forward::forward_hook;
use crate::hook::priority;
use crate::hook::shadow::{Shadow, ShadowPart};
use crate::hook::watch::HookWatcher;
use crate::message::{Messages, Msg, ToolResult};
use crate::model::ModelAnswer;
use crate::tool::{Permission, ToolError, Tools};

/// Tells whether a hook has a label for a tool.
pub type ToolLabels = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// Tells why a hook cannot run in an agent with this plan, if it cannot. The group is that of the hook's own
/// entries.
pub type PlanCheck = Arc<dyn Fn(&HookPlan, HookGroup) -> Option<String> + Send + Sync>;

/// A hook that receives the events of an agent's calls and may change them.
///
/// Add a hook to the builder of an agent. It is registered as a hook of the agent's methods and
/// runs in one order with all other hooks: lower priority first, then in the order of registration.
/// [`#[agent_hook]`](macro@crate::agent_hook) implements this trait for a type from methods that
/// take one event each.
///
/// An error fails the call, except at `ErrorEvent`, chunks and `Settled`: there it is attached to
/// the error of the call, or reported through `tracing`. A panic unwinds, except at these events,
/// where it counts as an error.
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use std::sync::Arc;
///
/// use hooks_agent::prelude::*;
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
/// # Ok::<(), hooks_agent::error::AgentError>(())
/// # }).unwrap();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an event hook",
    note = "a builder is finished by `.build()?` or `.open()?`, and a `Result` needs `?`; a closure is wrapped: \
            `on(|event: &mut PreCall<'_>| ..)`; of a type, write `#[agent_hook]` on an \
            impl block whose methods take one event each, or implement `AgentHook` to match on all events"
)]
pub trait AgentHook: Send + Sync + 'static {
    /// Returns the name: the hook is removed by it, and it appears in plans and errors. The default
    /// is the name of the type.
    fn name(&self) -> String {
        let path = type_name::<Self>();
        let path = path.split('<').next().unwrap_or(path);
        path.rsplit("::").next().unwrap_or(path).to_owned()
    }

    /// Returns the priority: lower runs first. See [`priority`].
    fn priority(&self) -> i32 {
        priority::DEFAULT
    }

    /// Returns where the hook stands by the names of others, at each event and around each call that both are at:
    /// [`before`](crate::hook::AgentHookExt::before), [`after`](crate::hook::AgentHookExt::after) and
    /// [`requires`](crate::hook::AgentHookExt::requires) say it of a hook from outside. The default is nothing.
    fn order(&self) -> HookOrder {
        HookOrder::new()
    }

    /// Returns the events that the hook receives. Called once, when the hook is registered. An
    /// event without hooks costs next to nothing.
    fn events(&self) -> EventMask {
        EventMask::ALL
    }

    /// Returns the events that [`on_event_now`](AgentHook::on_event_now) handles, without waiting.
    /// These allocate nothing.
    fn sync_events(&self) -> EventMask {
        EventMask::NONE
    }

    /// Returns the events at which the hook may return another flow than [`Flow::Continue`], for the
    /// [warnings](hooks_core::HookPlan::warnings) of plans: a guard that runs later does not run then. Those
    /// at which it only refuses may be left out. The default is every event of the hook.
    fn answers(&self) -> EventMask {
        self.events()
    }

    /// Returns the calls that the hook runs around, by
    /// [`around_model_call`](AgentHook::around_model_call),
    /// [`around_tool_call`](AgentHook::around_tool_call),
    /// [`around_permission_check`](AgentHook::around_permission_check),
    /// [`around_compression`](AgentHook::around_compression), [`around_call`](AgentHook::around_call) and
    /// [`around_model_attempt`](AgentHook::around_model_attempt). Called once, when the hook is registered.
    /// A hook that does nothing else returns [`EventMask::NONE`] from [`events`](AgentHook::events).
    fn around(&self) -> AroundMask {
        AroundMask::NONE
    }

    /// Returns the calls that the hook may answer itself, without running what is inside of it, for the
    /// [warnings](hooks_core::HookPlan::warnings) of plans: a guard further in does not run then. A hook
    /// that only refuses answers nothing. The default is every call that it runs around.
    fn answers_around(&self) -> AroundMask {
        self.around()
    }

    /// Returns the tools that the hook adds to the agent when the agent is built.
    fn tools(&self) -> Tools {
        Vec::new()
    }

    /// Returns whether the hook also runs in agents that are tools of this agent, for policies that
    /// apply to both.
    fn inherit(&self) -> bool {
        false
    }

    /// Returns whether the hook also runs in a call that a hook or a tool makes inside of a call of
    /// the same method of the agent, for guards.
    fn always(&self) -> bool {
        false
    }

    /// Returns whether the hook [runs at once](crate::hook::AgentHookExt::parallel) with others that do, next to it in the
    /// order. It may decide, and change nothing. The default is no.
    fn is_parallel(&self) -> bool {
        false
    }

    /// Returns whether the hook receives each event once, although a durable engine runs a call again: it
    /// does not receive what the call [replays](crate::call::CallContext::is_replaying). For hooks that
    /// log, count or notify. `Settled` is received in each run.
    fn once(&self) -> bool {
        false
    }

    /// Returns what the hook does to a call, for the [warnings](hooks_core::HookPlan::warnings) of
    /// plans.
    fn role(&self) -> Option<HookRole> {
        None
    }

    /// Returns what receives the runs of the other event hooks, for a hook that shows or counts what
    /// they do, in calls of a [`ReActAgent`](crate::react::ReActAgent). Called once, when the hook is
    /// registered.
    fn watcher(&self) -> Option<Arc<dyn HookWatcher>> {
        None
    }

    /// Returns the names of the tools that the settings of the hook name. The
    /// [plan](hooks_core::HookPlan::warnings) of an agent that has no such tool warns, with the name that
    /// was probably meant. A hook of all agents of a type names tools that only some of them have: there
    /// only a name that is near to one of the agent's is a warning. It is asked when the hook is added; the
    /// default is none.
    fn tool_names(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns what tells whether the hook has a label for a tool, if tools need one. The
    /// [plan](hooks_core::HookPlan::warnings) of an agent warns of its tools without one. It is asked when the hook is
    /// added to an agent; the default is none.
    fn tool_labels(&self) -> Option<ToolLabels> {
        None
    }

    /// Returns the name of the thread value in which the hook counts, by
    /// [`counter_name`](crate::call::CallContext::counter_name) in the thread of
    /// [`owner_call`](crate::call::CallContext::owner_call) or of the call. Two hooks of one agent that
    /// count in one would count everything twice, so the agent is not
    /// [built](crate::error::BuildError::SharedCounter). A call fails with the same error if one of them
    /// was added later, is a hook of all agents of a type, or was chosen by a
    /// [source](crate::react::HookSource). A hook that an agent [inherits](AgentHook::inherit) counts for the
    /// agent that has it. The default is `None`.
    fn counter(&self) -> Option<String> {
        None
    }

    /// Returns why what the hook keeps is lost with the process, although messages of its threads refer to
    /// it. The [plan](hooks_core::HookPlan::warnings) of an agent whose threads are in a store outside of
    /// the process warns with this text. An agent that is called with a
    /// [journal](crate::journal::Journal::outlives_process) that outlives the process reports it through
    /// `tracing`, once. It is asked when the hook is added; the default is `None`.
    fn ends_with_process(&self) -> Option<String> {
        None
    }

    /// Returns whether the hook decides by who a user is, as one does whose questions have
    /// [approvers](crate::message::Approvers). What lets people decide then needs a login: a studio, or a server
    /// of AG-UI, that authenticates nobody does not start with it. The default is no.
    fn needs_login(&self) -> bool {
        false
    }

    /// Returns what tells why the hook cannot run beside the other hooks of an agent, if it may be so: such an agent
    /// is not [built](crate::error::BuildError::Conflict). It is asked when the agent is built; the default is none.
    fn plan_check(&self) -> Option<PlanCheck> {
        None
    }

    /// Returns why the hook cannot run [in shadow](crate::hook::AgentHookExt::in_shadow), if it cannot: it runs the
    /// rest of a call more than once, or what it does outside of the call cannot be left undone, as asking somebody.
    /// An agent with such a hook in shadow is not [built](crate::error::BuildError::NotInShadow). The default is
    /// that it can.
    fn not_in_shadow(&self) -> Option<String> {
        None
    }

    /// Returns what guards foreign text that no event has, such as passages and skills: see
    /// [`Door`](crate::call::Door). It is asked when the hook is added; the default is nothing.
    fn foreign_guard(&self) -> Option<Arc<dyn ForeignGuard>> {
        None
    }

    /// Handles an event. Dropping the call drops this future at its current await. The default is
    /// [`on_event_now`](AgentHook::on_event_now).
    ///
    /// Agents call [`on_event_now`](AgentHook::on_event_now) for
    /// [`sync_events`](AgentHook::sync_events). Hooks of
    /// [`#[agent_hook]`](macro@crate::agent_hook) handle these here too.
    ///
    /// At `Settled` the future is polled once, because the call may have been dropped. A hook that
    /// waits there does not run to completion; this is reported through `tracing`.
    fn on_event(&self, event: &mut HookEvent<'_>) -> impl Future<Output = HookResult<Flow>> + Send {
        async { self.on_event_now(event) }
    }

    /// Handles an event of [`sync_events`](AgentHook::sync_events).
    ///
    /// # Errors
    /// The same as for [`on_event`](AgentHook::on_event).
    fn on_event_now(&self, _event: &mut HookEvent<'_>) -> HookResult<Flow> {
        Ok(Flow::Continue)
    }

    /// Runs around each call of the model, if [`around`](AgentHook::around) has
    /// [`MODEL_CALL`](AroundMask::MODEL_CALL): to retry, to ask another model, to cache, to rewrite
    /// the stream. A hook of lower priority runs outside of one of higher priority.
    ///
    /// # Errors
    /// An error fails the round, like an error of the model.
    fn around_model_call(
        &self,
        call: ModelCall<'_>,
        next: NextModel<'_>,
    ) -> impl Future<Output = Result<ModelAnswer, AgentError>> + Send {
        async move { next.run(call.into_request()).await }
    }

    /// Runs around each call of a tool, if [`around`](AgentHook::around) has
    /// [`TOOL_CALL`](AroundMask::TOOL_CALL). A hook of lower priority runs outside of one of higher
    /// priority.
    ///
    /// # Errors
    /// The model reads an error as the result of the tool call; [`ToolError::Hook`], which
    /// [`NextTool::fail`] creates, fails the call.
    fn around_tool_call(
        &self,
        call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> impl Future<Output = Result<ToolResult, ToolError>> + Send {
        async move { next.run(call.into_tool_use()).await }
    }

    /// Runs around each check whether a tool call may run, if [`around`](AgentHook::around) has
    /// [`PERMISSION_CHECK`](AroundMask::PERMISSION_CHECK). A hook of lower priority runs outside of one
    /// of higher priority.
    ///
    /// # Errors
    /// An error fails the call.
    fn around_permission_check(
        &self,
        check: PermissionCheck<'_>,
        next: NextPermission<'_>,
    ) -> impl Future<Output = Result<Permission, AgentError>> + Send {
        async move { next.run(check.into_tool_use()).await }
    }

    /// Runs around each compression of the conversation, if [`around`](AgentHook::around) has
    /// [`COMPRESSION`](AroundMask::COMPRESSION). A hook of lower priority runs outside of one of higher
    /// priority.
    ///
    /// # Errors
    /// An error fails the call.
    fn around_compression(
        &self,
        compression: Compression<'_>,
        next: NextCompression<'_>,
    ) -> impl Future<Output = Result<Messages, AgentError>> + Send {
        async move { next.run(compression.into_messages()).await }
    }

    /// Runs around each whole call of the agent, if [`around`](AgentHook::around) has
    /// [`CALL`](AroundMask::CALL). A hook of lower priority runs outside of one of higher priority.
    ///
    /// # Errors
    /// An error fails the call.
    fn around_call(
        &self,
        call: AgentCall<'_>,
        next: NextCall<'_>,
    ) -> impl Future<Output = Result<Msg, AgentError>> + Send {
        async move { next.run(call.into_messages()).await }
    }

    /// Runs around each attempt to have an answer of a model, if [`around`](AgentHook::around) has
    /// [`MODEL_ATTEMPT`](AroundMask::MODEL_ATTEMPT). A hook of lower priority runs outside of one of higher
    /// priority, and all of them inside of those around the model call.
    ///
    /// # Errors
    /// An error is one of the model call.
    fn around_model_attempt(
        &self,
        attempt: ModelAttempt<'_>,
        next: NextAttempt<'_>,
    ) -> impl Future<Output = Result<ModelAnswer, AgentError>> + Send {
        async move { next.run(attempt.into_request()).await }
    }

    /// Returns the parts of the hook that are in shadow while it is not: what they would have done is in
    /// [`ReActAgent::shadow_counts`](crate::react::ReActAgent::shadow_counts). The default is none.
    fn shadow_parts(&self) -> Vec<ShadowPart> {
        Vec::new()
    }

    /// Returns what runs the hook beside calls, if it is in shadow.
    #[doc(hidden)]
    fn __shadow(&self) -> Option<Shadow> {
        None
    }

    #[doc(hidden)]
    fn __share(self) -> Arc<dyn DynAgentHook>
    where
        Self: Sized,
    {
        Arc::new(self)
    }
}

/// Forwards to the shared hook.
impl<H: AgentHook> AgentHook for Arc<H> {
    forward_hook! {
        self => AgentHook, &**self;
        name priority order events sync_events answers around answers_around tools inherit always is_parallel once
        role watcher foreign_guard tool_names tool_labels ends_with_process needs_login plan_check counter not_in_shadow shadow_parts __shadow on_event on_event_now
        around_model_call around_tool_call around_permission_check around_compression around_call around_model_attempt
    }

    fn __share(self) -> Arc<dyn DynAgentHook> {
        self
    }
}
