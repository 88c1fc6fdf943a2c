//! Hooks of different types in one list.

use std::sync::Arc;

use hooks_core::{BoxFuture, HookOrder, HookResult, HookRole};

use crate::call::ForeignGuard;
use crate::error::AgentError;
use crate::event::{EventMask, Flow, HookEvent};
use crate::hook::agent_hook::{AgentHook, PlanCheck, ToolLabels};
use crate::hook::around::{
    AgentCall, AroundMask, Compression, ModelAttempt, ModelCall, NextAttempt, NextCall,
    NextCompression, NextModel, NextPermission, NextTool, PermissionCheck, ToolCall,
};
use crate::hook::forward::forward_hook;
use crate::hook::shadow::{Shadow, ShadowPart};
use crate::hook::watch::HookWatcher;
use crate::message::{Messages, Msg, ToolResult};
use crate::model::ModelAnswer;
use crate::tool::{Permission, ToolError, Tools};

/// An event hook of any type: `Box<dyn DynAgentHook>` is an [`AgentHook`]. Implemented for every
/// event hook.
///
/// Every event hook is registered in this form. At one of its [sync events](AgentHook::sync_events) it runs
/// without an allocation; elsewhere its future is boxed.
///
/// ```
/// use hooks_agent::hook::{Blocking, DynAgentHook, on};
/// use hooks_agent::prelude::*;
///
/// fn from_configuration(audits: bool) -> Vec<Box<dyn DynAgentHook>> {
///     let mut hooks: Vec<Box<dyn DynAgentHook>> = Vec::new();
///     hooks.push(Box::new(on(|event: &mut PreCall<'_>| println!("{}", event.agent().name()))));
///     if audits {
///         hooks.push(Box::new(Blocking(on(|event: &mut PostCall<'_>| {
///             println!("{}", event.final_message().text());
///         }))));
///     }
///     hooks
/// }
///
/// let mut builder = ReActAgent::builder("assistant").model(ScriptedModel::new("fixed", |_| "Done."));
/// for hook in from_configuration(true) {
///     builder = builder.hook(hook);
/// }
/// # builder.build()?;
/// # Ok::<(), hooks_agent::error::BuildError>(())
/// ```
pub trait DynAgentHook: Sealed {}

impl<H: AgentHook> DynAgentHook for H {}

/// The methods of [`AgentHook`], with boxed futures: what is registered at agents, so that a type of hooks
/// brings no code but its own.
#[doc(hidden)]
pub trait Sealed: Send + Sync + 'static {
    fn name(&self) -> String;
    fn priority(&self) -> i32;
    fn order(&self) -> HookOrder;
    fn events(&self) -> EventMask;
    fn sync_events(&self) -> EventMask;
    fn answers(&self) -> EventMask;
    fn around(&self) -> AroundMask;
    fn answers_around(&self) -> AroundMask;
    fn tools(&self) -> Tools;
    fn inherit(&self) -> bool;
    fn always(&self) -> bool;
    fn is_parallel(&self) -> bool;
    fn role(&self) -> Option<HookRole>;
    fn once(&self) -> bool;
    fn watcher(&self) -> Option<Arc<dyn HookWatcher>>;
    fn foreign_guard(&self) -> Option<Arc<dyn ForeignGuard>>;
    fn tool_names(&self) -> Vec<String>;
    fn tool_labels(&self) -> Option<ToolLabels>;
    fn ends_with_process(&self) -> Option<String>;
    fn needs_login(&self) -> bool;
    fn plan_check(&self) -> Option<PlanCheck>;
    fn counter(&self) -> Option<String>;
    fn not_in_shadow(&self) -> Option<String>;
    fn shadow_parts(&self) -> Vec<ShadowPart>;
    fn __shadow(&self) -> Option<Shadow>;
    fn on_event<'a>(&'a self, event: &'a mut HookEvent<'_>) -> BoxFuture<'a, HookResult<Flow>>;
    fn on_event_now(&self, event: &mut HookEvent<'_>) -> HookResult<Flow>;
    fn around_model_call<'a>(
        &'a self,
        call: ModelCall<'a>,
        next: NextModel<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, AgentError>>;
    fn around_tool_call<'a>(
        &'a self,
        call: ToolCall<'a>,
        next: NextTool<'a>,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>>;
    fn around_permission_check<'a>(
        &'a self,
        check: PermissionCheck<'a>,
        next: NextPermission<'a>,
    ) -> BoxFuture<'a, Result<Permission, AgentError>>;
    fn around_compression<'a>(
        &'a self,
        compression: Compression<'a>,
        next: NextCompression<'a>,
    ) -> BoxFuture<'a, Result<Messages, AgentError>>;
    fn around_call<'a>(
        &'a self,
        call: AgentCall<'a>,
        next: NextCall<'a>,
    ) -> BoxFuture<'a, Result<Msg, AgentError>>;
    fn around_model_attempt<'a>(
        &'a self,
        attempt: ModelAttempt<'a>,
        next: NextAttempt<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, AgentError>>;
}

impl<H: AgentHook> Sealed for H {
    forward_hook! {
        self => AgentHook, self;
        name priority order events sync_events answers around answers_around tools inherit always is_parallel once
        role watcher foreign_guard tool_names tool_labels ends_with_process needs_login plan_check counter not_in_shadow shadow_parts __shadow on_event_now
    }

    fn on_event<'a>(&'a self, event: &'a mut HookEvent<'_>) -> BoxFuture<'a, HookResult<Flow>> {
        Box::pin(AgentHook::on_event(self, event))
    }

    fn around_model_call<'a>(
        &'a self,
        call: ModelCall<'a>,
        next: NextModel<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, AgentError>> {
        Box::pin(AgentHook::around_model_call(self, call, next))
    }

    fn around_tool_call<'a>(
        &'a self,
        call: ToolCall<'a>,
        next: NextTool<'a>,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(AgentHook::around_tool_call(self, call, next))
    }

    fn around_permission_check<'a>(
        &'a self,
        check: PermissionCheck<'a>,
        next: NextPermission<'a>,
    ) -> BoxFuture<'a, Result<Permission, AgentError>> {
        Box::pin(AgentHook::around_permission_check(self, check, next))
    }

    fn around_compression<'a>(
        &'a self,
        compression: Compression<'a>,
        next: NextCompression<'a>,
    ) -> BoxFuture<'a, Result<Messages, AgentError>> {
        Box::pin(AgentHook::around_compression(self, compression, next))
    }

    fn around_call<'a>(
        &'a self,
        call: AgentCall<'a>,
        next: NextCall<'a>,
    ) -> BoxFuture<'a, Result<Msg, AgentError>> {
        Box::pin(AgentHook::around_call(self, call, next))
    }

    fn around_model_attempt<'a>(
        &'a self,
        attempt: ModelAttempt<'a>,
        next: NextAttempt<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, AgentError>> {
        Box::pin(AgentHook::around_model_attempt(self, attempt, next))
    }
}

impl dyn DynAgentHook {
    /// Returns why the hook cannot run at once with others, if it cannot.
    pub(crate) fn not_parallel(&self) -> Option<&'static str> {
        if self.around() != AroundMask::NONE {
            return Some("it runs around calls");
        }
        self.counter().map(|_| "it counts, also what a hook before it refuses")
    }
}

/// Forwards to the boxed hook.
impl AgentHook for Box<dyn DynAgentHook> {
    forward_hook! {
        self => Sealed, &**self;
        name priority order events sync_events answers around answers_around tools inherit always is_parallel once
        role watcher foreign_guard tool_names tool_labels ends_with_process needs_login plan_check counter not_in_shadow shadow_parts __shadow on_event on_event_now
        around_model_call around_tool_call around_permission_check around_compression around_call around_model_attempt
    }

    fn __share(self) -> Arc<dyn DynAgentHook> {
        self.into()
    }
}
