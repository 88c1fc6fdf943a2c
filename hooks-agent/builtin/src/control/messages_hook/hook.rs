//! The hook that works on lists of messages.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use hooks_core::HookResult;

use crate::control::messages_hook::command::{
    AgentCommand, CommandError, check_answer, check_conversation,
};
use hooks_agent_core::agent_hook;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::event::{
    EventKind, EventMask, Flow, PostCall, PostReasoning, PreCall, PreReasoning,
};
use hooks_agent_core::message::{Messages, Role};
use hooks_agent_core::round::JumpTo;

/// A closure of one event.
type Decide = dyn Fn(&Messages, &CallContext) -> HookResult<AgentCommand> + Send + Sync;

/// Changes the messages of a call, and where it continues, by closures that receive lists of
/// messages.
///
/// It is an adapter for code that works on messages. It keeps the conversation valid: what would
/// part a tool call from its result is an error. It keeps no text from the stream of a call or from
/// memory; for that, see [`Rewrite`](hooks_agent_core::hook::Rewrite).
///
/// | event | the messages | a change applies to | jumps |
/// |---|---|---|---|
/// | [`pre_call`](Self::pre_call) | of the caller | the input of the call | `end` |
/// | [`pre_reasoning`](Self::pre_reasoning) | the conversation | the request of this round | `tool`, `end` |
/// | [`post_reasoning`](Self::post_reasoning) | the answer | the answer | `model`, `end` |
/// | [`post_call`](Self::post_call) | the reply | the reply | |
///
/// No list has the system message. In detail:
///
/// - `pre_call`: the jump to `end` answers with the last of the changed messages, which is one of
///   the model; without such a message it is an error. Memory stays unchanged.
/// - `pre_reasoning`: memory is not affected, so the next round starts from the conversation again.
///   After a jump or a stop of an earlier hook, the closure does not run.
/// - `post_reasoning`: the changed list starts with the answer. Messages after it need the jump to
///   `model`: memory gets them after the answer, and they contain the results of its tool calls. A
///   jump to `end` gives its tool calls an error as result. After a jump or a stop of an earlier
///   hook, the closure does not run.
/// - `post_call`: the changed list is one message. Memory is not affected.
///
/// Each event has one closure; a second one replaces it.
///
/// # Order
/// The priority is [`DEFAULT`](hooks_agent_core::hook::priority::DEFAULT). An agent has several of these hooks
/// by [names](hooks_agent_core::hook::AgentHookExt::named). The hook is not inherited.
///
/// # Errors
/// The error or panic of a closure, or a [`CommandError`], fails the call. Nothing is changed then.
///
/// ```
/// use hooks_agent::builtin::control::{AgentCommand, MessagesHook};
/// use hooks_agent::prelude::*;
///
/// # futures::executor::block_on(async {
/// // The model reads the last message only.
/// let last = MessagesHook::new()
///     .pre_reasoning(|messages, _| Ok(AgentCommand::replace(messages.last().unwrap().clone())));
/// let model = ScriptedModel::new("count", |request| request.messages.len().to_string());
/// let agent = ReActAgent::builder("bot").model(model).hook(last).build()?;
/// agent.call("Hello").await?;
/// assert_eq!(agent.call("How many messages?").await?.text(), "1");
/// assert_eq!(agent.memory().messages().len(), 4);
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct MessagesHook {
    pre_call: Option<Arc<Decide>>,
    pre_reasoning: Option<Arc<Decide>>,
    post_reasoning: Option<Arc<Decide>>,
    post_call: Option<Arc<Decide>>,
}

/// Declares the setter of one event's closure.
macro_rules! setter {
    ($(#[$doc:meta])* $event:ident) => {
        $(#[$doc])*
        pub fn $event(
            mut self,
            decide: impl Fn(&Messages, &CallContext) -> HookResult<AgentCommand>
            + Send
            + Sync
            + 'static,
        ) -> Self {
            self.$event = Some(Arc::new(decide));
            self
        }
    };
}

impl MessagesHook {
    /// Creates a hook without closures.
    pub fn new() -> Self {
        Self::default()
    }

    setter! {
        /// Sets the closure that receives the messages of the caller, before a call.
        pre_call
    }

    setter! {
        /// Sets the closure that receives the conversation, before each call of the model.
        pre_reasoning
    }

    setter! {
        /// Sets the closure that receives the answer of the model.
        post_reasoning
    }

    setter! {
        /// Sets the closure that receives the reply, after a call.
        post_call
    }
}

#[agent_hook(events = self.events_set())]
impl MessagesHook {
    fn on_pre_call(&self, event: &mut PreCall<'_>) -> HookResult<Flow> {
        self.pre_call.as_ref().map_or(Ok(Flow::Continue), |decide| before_call(event, &**decide))
    }

    fn on_pre_reasoning(&self, event: &mut PreReasoning<'_>) -> HookResult<Flow> {
        let decide = self.pre_reasoning.as_ref();
        decide.map_or(Ok(Flow::Continue), |decide| before_reasoning(event, &**decide))
    }

    fn on_post_reasoning(&self, event: &mut PostReasoning<'_>) -> HookResult<Flow> {
        let decide = self.post_reasoning.as_ref();
        decide.map_or(Ok(Flow::Continue), |decide| after_reasoning(event, &**decide))
    }

    fn on_post_call(&self, event: &mut PostCall<'_>) -> HookResult<Flow> {
        self.post_call.as_ref().map_or(Ok(Flow::Continue), |decide| after_call(event, &**decide))
    }

    /// Returns the events that have a closure.
    fn events_set(&self) -> EventMask {
        let kinds = [
            (EventKind::PreCall, &self.pre_call),
            (EventKind::PreReasoning, &self.pre_reasoning),
            (EventKind::PostReasoning, &self.post_reasoning),
            (EventKind::PostCall, &self.post_call),
        ];
        let set = kinds.into_iter().filter(|(_, decide)| decide.is_some());
        set.fold(EventMask::NONE, |mask, (kind, _)| mask | kind.into())
    }
}

/// Runs a closure of the program. A panic fails the call.
fn run(decide: &Decide, messages: &Messages, cx: &CallContext) -> HookResult<AgentCommand> {
    let decided = catch_unwind(AssertUnwindSafe(|| decide(messages, cx)));
    decided.unwrap_or_else(|_| Err("the closure of the messages panicked".into()))
}

fn before_call(event: &mut PreCall<'_>, decide: &Decide) -> HookResult<Flow> {
    let mut command = run(decide, event.messages(), event.context())?;
    let messages = command.changed(event.messages());
    let no_jump = |to, hint| CommandError::NoJump { event: EventKind::PreCall, to, hint };
    match command.jump_to {
        None => {
            if let Some(messages) = messages {
                event.set_messages(messages);
            }
            Ok(Flow::Continue)
        }
        Some(to @ JumpTo::End) => {
            let messages = messages.unwrap_or_else(|| event.messages().clone());
            let answer = messages.last().filter(|msg| msg.role == Role::Assistant);
            let hint = "; it answers with the last message, if that is one of the model";
            let answer = answer.ok_or_else(|| no_jump(to, hint))?;
            check_answer(answer).map_err(CommandError::from)?;
            Ok(event.answer(answer.clone()))
        }
        Some(to) => Err(no_jump(to, "; it has `end`").into()),
    }
}

fn before_reasoning(event: &mut PreReasoning<'_>, decide: &Decide) -> HookResult<Flow> {
    if event.control().is_stopped() || event.control().jumps_to().is_some() {
        return Ok(Flow::Continue);
    }
    let mut command = run(decide, event.messages(), event.context())?;
    let flow = match command.jump_to {
        None => Flow::Continue,
        Some(JumpTo::Tools) => event.jump_to_tools(),
        Some(JumpTo::End) => event.jump_to_end(),
        Some(to) => {
            let hint = "; it is the next step without a jump";
            return Err(CommandError::NoJump { event: EventKind::PreReasoning, to, hint }.into());
        }
    };
    if let Some(messages) = command.changed(event.messages()) {
        check_conversation(event.messages(), &messages).map_err(CommandError::from)?;
        event.set_messages(messages);
    }
    Ok(flow)
}

fn after_reasoning(event: &mut PostReasoning<'_>, decide: &Decide) -> HookResult<Flow> {
    if event.control().is_stopped() || event.control().jumps_to().is_some() {
        return Ok(Flow::Continue);
    }
    let kind = EventKind::PostReasoning;
    let before = Messages::from(event.message().clone());
    let mut command = run(decide, &before, event.context())?;
    let mut after = command.changed(&before).unwrap_or_else(|| before.clone());
    let more = if after.is_empty() { Messages::new() } else { after.drain(1..) };
    let (count, jump) = (after.len() + more.len(), command.jump_to);
    let answer = match after.first() {
        Some(answer) if more.is_empty() || jump == Some(JumpTo::Model) => answer.clone(),
        _ => {
            let hint = "; messages after the answer need the jump to `model`";
            return Err(CommandError::NotOneMessage { event: kind, count, hint }.into());
        }
    };
    check_answer(&answer).map_err(CommandError::from)?;
    let is_changed = answer != before[0];
    if is_changed {
        event.set_message(answer);
    }
    let flow = match jump {
        None => Ok(Flow::Continue),
        Some(JumpTo::End) => Ok(event.jump_to_end()),
        Some(JumpTo::Model) => event.jump_to_model(more).map_err(CommandError::from),
        Some(to) => {
            let hint = "; its tool calls run without a jump";
            Err(CommandError::NoJump { event: kind, to, hint })
        }
    };
    if flow.is_err() && is_changed {
        event.set_message(before[0].clone());
    }
    Ok(flow?)
}

fn after_call(event: &mut PostCall<'_>, decide: &Decide) -> HookResult<Flow> {
    let kind = EventKind::PostCall;
    let before = Messages::from(event.final_message().clone());
    let mut command = run(decide, &before, event.context())?;
    if let Some(to) = command.jump_to {
        return Err(CommandError::NoJump { event: kind, to, hint: "" }.into());
    }
    if let Some(after) = command.changed(&before) {
        let count = after.len();
        let mut after = after.into_iter();
        let (Some(reply), None) = (after.next(), after.next()) else {
            return Err(CommandError::NotOneMessage { event: kind, count, hint: "" }.into());
        };
        event.set_final_message(Arc::unwrap_or_clone(reply));
    }
    Ok(Flow::Continue)
}

impl fmt::Debug for MessagesHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MessagesHook").field("events", &self.events_set()).finish_non_exhaustive()
    }
}
