//! One event, as a call of an agent without a model and without tools.

use std::sync::Arc;

use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::call::{CallContext, CallOptions};
use hooks_agent_core::error::AgentError;
use hooks_agent_core::event::EventMask;
use hooks_agent_core::hook::AroundMask;
use hooks_agent_core::message::{Messages, Msg};
use hooks_agent_core::model::ScriptedModel;
use hooks_agent_core::react::{HookSet, HookSource, ReActAgent};
use hooks_agent_policy::command::{CommandEvent, Input};
use hooks_core::HookRole;

use crate::seam::Seam;
use crate::thread::GuestThread;

/// One event, and the hooks that it runs.
pub(super) struct Event<'a> {
    pub(super) source: &'a Arc<dyn HookSource>,
    pub(super) agent: &'a Arc<str>,
    pub(super) kind: CommandEvent,
    pub(super) input: &'a Input,
    pub(super) thread: &'a mut GuestThread,
}

/// The hooks of an event: where they run.
pub(super) struct Scope {
    pub(super) events: EventMask,
    pub(super) around: fn(Option<HookRole>) -> AroundMask,
}

impl Event<'_> {
    /// Makes a call on the thread: an agent with this model, the hooks of the source within the scope, and
    /// the seam. Returns the reply and the messages of the thread.
    pub(super) async fn call(
        &mut self,
        model: ScriptedModel,
        scope: Scope,
        seam: Option<Seam>,
        messages: Messages,
    ) -> (Result<Msg, AgentError>, Messages) {
        let Self { source, agent, kind, input, thread } = self;
        let id = match input.session_id.as_str() {
            "" => CallContext::DEFAULT_THREAD,
            id => id,
        };
        let options = CallOptions::new().thread(id).run_id(thread.run_of(*kind, input));
        let (name, caller) = match input.agent_type.as_deref() {
            Some(sub_agent) if *sub_agent != ***agent => {
                // Hooks are chosen by the name of an agent, so there is one of the name of the caller.
                let nothing = ScriptedModel::new("none", |_| "-");
                match ReActAgent::builder(agent.clone()).model(nothing).build() {
                    Ok(caller) => (sub_agent.into(), Some(caller.context(options.clone()))),
                    Err(error) => return (Err(error.into()), Messages::new()),
                }
            }
            _ => (agent.clone(), None),
        };
        let hooks = Within { source: source.clone(), caller, scope };
        let mut builder = ReActAgent::builder(name).model(model).hook_source(hooks);
        if let Some(seam) = seam {
            builder = builder.hook(seam);
        }
        let agent = match builder.build() {
            Ok(agent) => agent,
            Err(error) => return (Err(error.into()), Messages::new()),
        };
        let memory = agent.context(options.clone()).memory();
        let Some(memory) = memory else {
            return (Err(AgentError::other("the agent has no memory")), Messages::new());
        };
        memory.set_values(thread.values.clone());
        let reply = agent.call_with(options, messages).await;
        thread.values = memory.values();
        (reply, memory.messages())
    }
}

/// The hooks of a source, within a scope.
struct Within {
    source: Arc<dyn HookSource>,
    /// Of the agent whose sub-agent has the event.
    caller: Option<CallContext>,
    scope: Scope,
}

impl HookSource for Within {
    fn hooks(&self, cx: &CallContext) -> HookSet {
        let own = self.source.hooks(cx);
        let of_caller = self.caller.as_ref().map(|caller| self.source.hooks(caller).inherited());
        let hooks = HookSet::join(of_caller.iter().chain([&own]));
        hooks.within(self.scope.events, self.scope.around)
    }
}
