//! One event, as a call of an agent without a model and without tools.

use std::sync::Arc;

use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::call::{CallContext, CallOptions, User};
use hooks_agent_core::error::AgentError;
use hooks_agent_core::event::EventMask;
use hooks_agent_core::hook::{AgentHook, AroundMask};
use hooks_agent_core::memory::Memory;
use hooks_agent_core::message::{Messages, Msg, NotApprover, PendingCall, PendingReason};
use hooks_agent_core::model::{ChatModel, ScriptedModel};
use hooks_agent_core::react::{HookSet, HookSource, ReActAgent};
use hooks_agent_policy::command::{CommandEvent, Input};
use hooks_core::HookRole;

use crate::seam::Seam;
use crate::thread::GuestThread;

/// How many hooks may ask about one tool call, one after the other.
const MOST_QUESTIONS: usize = 32;

/// The user who answers questions here, whom nobody has authenticated.
const NOBODY: &str = "hooks-agent";

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
    /// Returns the hooks of the agent of the event.
    pub(super) fn hooks(&self) -> Option<HookSet> {
        let name = self.input.agent_type.as_deref().unwrap_or(self.agent);
        let nothing = ScriptedModel::new("none", |_| "-");
        let agent = ReActAgent::builder(name).model(nothing).build().ok()?;
        Some(self.source.hooks(&agent.context(CallOptions::new())))
    }

    /// Makes a call on the thread: an agent with this model, the hooks of the source within the scope, and
    /// the seam. Returns the reply and the messages of the thread.
    pub(super) async fn call(
        &mut self,
        model: ScriptedModel,
        scope: Scope,
        seam: Option<Seam>,
        messages: Messages,
    ) -> (Result<Msg, AgentError>, Messages) {
        self.call_with(model, scope, seam, messages).await
    }

    /// The same with any model, and any hook in place of the seam.
    pub(super) async fn call_with(
        &mut self,
        model: impl ChatModel + 'static,
        scope: Scope,
        hook: Option<impl AgentHook>,
        messages: Messages,
    ) -> (Result<Msg, AgentError>, Messages) {
        match self.begin(model, scope, hook, messages).await {
            Ok(begun) => (begun.reply, begun.memory.messages()),
            Err(error) => (Err(error), Messages::new()),
        }
    }

    /// Makes the call, with what it takes to go on with it.
    pub(super) async fn begin(
        &mut self,
        model: impl ChatModel + 'static,
        scope: Scope,
        hook: Option<impl AgentHook>,
        messages: Messages,
    ) -> Result<Begun, AgentError> {
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
                let caller = ReActAgent::builder(agent.clone()).model(nothing).build()?;
                (sub_agent.into(), Some(caller.context(options.clone())))
            }
            _ => (agent.clone(), None),
        };
        let hooks = Within { source: source.clone(), caller, scope };
        let mut builder = ReActAgent::builder(name).model(model).hook_source(hooks);
        if let Some(hook) = hook {
            builder = builder.hook(hook);
        }
        let agent = builder.build()?;
        let memory = agent.context(options.clone()).memory();
        let memory = memory.ok_or_else(|| AgentError::other("the agent has no memory"))?;
        memory.set_values(thread.values.clone());
        let reply = agent.call_with(options.clone(), messages).await;
        thread.values = memory.values();
        Ok(Begun { agent, options, memory, reply })
    }
}

/// A call that was made.
pub(super) struct Begun {
    agent: ReActAgent,
    options: CallOptions,
    pub(super) memory: Arc<Memory>,
    pub(super) reply: Result<Msg, AgentError>,
}

impl Begun {
    /// Goes on as if people had let run what hooks ask about: hooks that would refuse it then do. What they keep with the
    /// thread is not kept.
    pub(super) async fn approved(&mut self, seam: &Seam) {
        let mut is_approved = false;
        for _ in 0..MOST_QUESTIONS {
            let Ok(reply) = &self.reply else { return };
            if seam.reached().is_some() {
                return;
            }
            let Some(pending) = reply.pending().first() else { return };
            if self.is_stopped() && is_approved {
                return;
            }
            is_approved = true;
            if approvers_of(pending).is_some() {
                return;
            }
            let options = self.options.clone().confirm(&pending.id);
            let options = options.user(User::new(NOBODY)).take_over(true);
            self.reply = self.agent.resume(options).await;
        }
    }

    /// Returns whether a hook stopped the call, rather than asked.
    pub(super) fn is_stopped(&self) -> bool {
        let pending = self.reply.iter().flat_map(Msg::pending);
        pending.into_iter().any(|pending| pending.why == PendingReason::Stopped)
    }
}

/// Returns who may answer a question, unless everybody may: nobody says who the user of an agent is.
pub(super) fn approvers_of(pending: &PendingCall) -> Option<String> {
    let approvers = pending.askers.iter().find_map(|asker| asker.approvers.as_ref())?;
    Some(match approvers.check(Some(&User::new(NOBODY)), Some("")) {
        Err(NotApprover::Role { roles, .. }) => {
            format!("users with the role {}", roles.join(" or "))
        }
        _ => "users who are authenticated".to_owned(),
    })
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
