//! Hooks of different types in one list.

use std::sync::Arc;

use hooks_core::{BoxFuture, HookResult, HookRole};

use crate::call::ForeignGuard;
use crate::error::AgentError;
use crate::event::{EventMask, Flow, HookEvent};
use crate::hook::agent_hook::AgentHook;
use crate::hook::around::{
    AroundMask, Compression, ModelCall, NextCompression, NextModel, NextPermission, NextTool,
    PermissionCheck, ToolCall,
};
use crate::hook::watch::HookWatcher;
use crate::message::{Messages, ToolResult};
use crate::model::ModelAnswer;
use crate::tool::{Permission, ToolError, Tools};

/// An event hook of any type: `Box<dyn DynAgentHook>` is an [`AgentHook`]. Implemented for every
/// event hook.
///
/// A call of such a hook allocates twice, a call of a hook of known type once.
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

/// The methods of [`AgentHook`], with boxed futures.
#[doc(hidden)]
pub trait Sealed: Send + Sync + 'static {
    fn dyn_name(&self) -> String;
    fn dyn_priority(&self) -> i32;
    fn dyn_events(&self) -> EventMask;
    fn dyn_sync_events(&self) -> EventMask;
    fn dyn_answers(&self) -> EventMask;
    fn dyn_around(&self) -> AroundMask;
    fn dyn_answers_around(&self) -> AroundMask;
    fn dyn_tools(&self) -> Tools;
    fn dyn_inherit(&self) -> bool;
    fn dyn_always(&self) -> bool;
    fn dyn_role(&self) -> Option<HookRole>;
    fn dyn_once(&self) -> bool;
    fn dyn_watcher(&self) -> Option<Arc<dyn HookWatcher>>;
    fn dyn_foreign_guard(&self) -> Option<Arc<dyn ForeignGuard>>;
    fn dyn_tool_names(&self) -> Vec<String>;
    fn dyn_ends_with_process(&self) -> Option<String>;
    fn dyn_counter(&self) -> Option<String>;
    fn dyn_on_event<'a>(&'a self, event: &'a mut HookEvent<'_>) -> BoxFuture<'a, HookResult<Flow>>;
    fn dyn_on_event_now(&self, event: &mut HookEvent<'_>) -> HookResult<Flow>;
    fn dyn_around_model_call<'a>(
        &'a self,
        call: ModelCall<'a>,
        next: NextModel<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, AgentError>>;
    fn dyn_around_tool_call<'a>(
        &'a self,
        call: ToolCall<'a>,
        next: NextTool<'a>,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>>;
    fn dyn_around_permission_check<'a>(
        &'a self,
        check: PermissionCheck<'a>,
        next: NextPermission<'a>,
    ) -> BoxFuture<'a, Result<Permission, AgentError>>;
    fn dyn_around_compression<'a>(
        &'a self,
        compression: Compression<'a>,
        next: NextCompression<'a>,
    ) -> BoxFuture<'a, Result<Messages, AgentError>>;
}

impl<H: AgentHook> Sealed for H {
    fn dyn_name(&self) -> String {
        self.name()
    }

    fn dyn_priority(&self) -> i32 {
        self.priority()
    }

    fn dyn_events(&self) -> EventMask {
        self.events()
    }

    fn dyn_sync_events(&self) -> EventMask {
        self.sync_events()
    }

    fn dyn_answers(&self) -> EventMask {
        self.answers()
    }

    fn dyn_around(&self) -> AroundMask {
        self.around()
    }

    fn dyn_answers_around(&self) -> AroundMask {
        self.answers_around()
    }

    fn dyn_tools(&self) -> Tools {
        self.tools()
    }

    fn dyn_inherit(&self) -> bool {
        self.inherit()
    }

    fn dyn_always(&self) -> bool {
        self.always()
    }

    fn dyn_role(&self) -> Option<HookRole> {
        self.role()
    }

    fn dyn_once(&self) -> bool {
        self.once()
    }

    fn dyn_watcher(&self) -> Option<Arc<dyn HookWatcher>> {
        self.watcher()
    }

    fn dyn_foreign_guard(&self) -> Option<Arc<dyn ForeignGuard>> {
        self.foreign_guard()
    }

    fn dyn_tool_names(&self) -> Vec<String> {
        self.tool_names()
    }

    fn dyn_ends_with_process(&self) -> Option<String> {
        self.ends_with_process()
    }

    fn dyn_counter(&self) -> Option<String> {
        self.counter()
    }

    fn dyn_on_event<'a>(&'a self, event: &'a mut HookEvent<'_>) -> BoxFuture<'a, HookResult<Flow>> {
        Box::pin(self.on_event(event))
    }

    fn dyn_on_event_now(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        self.on_event_now(event)
    }

    fn dyn_around_model_call<'a>(
        &'a self,
        call: ModelCall<'a>,
        next: NextModel<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, AgentError>> {
        Box::pin(self.around_model_call(call, next))
    }

    fn dyn_around_tool_call<'a>(
        &'a self,
        call: ToolCall<'a>,
        next: NextTool<'a>,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(self.around_tool_call(call, next))
    }

    fn dyn_around_permission_check<'a>(
        &'a self,
        check: PermissionCheck<'a>,
        next: NextPermission<'a>,
    ) -> BoxFuture<'a, Result<Permission, AgentError>> {
        Box::pin(self.around_permission_check(check, next))
    }

    fn dyn_around_compression<'a>(
        &'a self,
        compression: Compression<'a>,
        next: NextCompression<'a>,
    ) -> BoxFuture<'a, Result<Messages, AgentError>> {
        Box::pin(self.around_compression(compression, next))
    }
}

/// Forwards to the boxed hook.
impl AgentHook for Box<dyn DynAgentHook> {
    fn name(&self) -> String {
        (**self).dyn_name()
    }

    fn priority(&self) -> i32 {
        (**self).dyn_priority()
    }

    fn events(&self) -> EventMask {
        (**self).dyn_events()
    }

    fn sync_events(&self) -> EventMask {
        (**self).dyn_sync_events()
    }

    fn answers(&self) -> EventMask {
        (**self).dyn_answers()
    }

    fn around(&self) -> AroundMask {
        (**self).dyn_around()
    }

    fn answers_around(&self) -> AroundMask {
        (**self).dyn_answers_around()
    }

    fn tools(&self) -> Tools {
        (**self).dyn_tools()
    }

    fn inherit(&self) -> bool {
        (**self).dyn_inherit()
    }

    fn always(&self) -> bool {
        (**self).dyn_always()
    }

    fn role(&self) -> Option<HookRole> {
        (**self).dyn_role()
    }

    fn once(&self) -> bool {
        (**self).dyn_once()
    }

    fn watcher(&self) -> Option<Arc<dyn HookWatcher>> {
        (**self).dyn_watcher()
    }

    fn foreign_guard(&self) -> Option<Arc<dyn ForeignGuard>> {
        (**self).dyn_foreign_guard()
    }

    fn tool_names(&self) -> Vec<String> {
        (**self).dyn_tool_names()
    }

    fn ends_with_process(&self) -> Option<String> {
        (**self).dyn_ends_with_process()
    }

    fn counter(&self) -> Option<String> {
        (**self).dyn_counter()
    }

    async fn on_event(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        (**self).dyn_on_event(event).await
    }

    fn on_event_now(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        (**self).dyn_on_event_now(event)
    }

    async fn around_model_call(
        &self,
        call: ModelCall<'_>,
        next: NextModel<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        (**self).dyn_around_model_call(call, next).await
    }

    async fn around_tool_call(
        &self,
        call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        (**self).dyn_around_tool_call(call, next).await
    }

    async fn around_permission_check(
        &self,
        check: PermissionCheck<'_>,
        next: NextPermission<'_>,
    ) -> Result<Permission, AgentError> {
        (**self).dyn_around_permission_check(check, next).await
    }

    async fn around_compression(
        &self,
        compression: Compression<'_>,
        next: NextCompression<'_>,
    ) -> Result<Messages, AgentError> {
        (**self).dyn_around_compression(compression, next).await
    }
}
