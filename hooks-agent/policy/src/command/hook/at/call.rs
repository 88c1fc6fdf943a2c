//! The start and the end of a call.

use hooks_agent_core::event::{EventKind, Flow, PostCall, PreCall};
use hooks_agent_core::message::Msg;
use hooks_core::HookResult;

use crate::command::contract::CommandEvent;
use crate::command::decide::{Combined, Stop, Verdict};
use crate::command::hook::command_hooks::CommandHooks;
use crate::command::hook::commands::Occasion;
use crate::command::hook::input;

impl CommandHooks {
    pub(crate) async fn pre_call(&self, event: &mut PreCall<'_>) -> Flow {
        let cx = event.context();
        let (is_own, prompt) = (cx.parent().is_none(), input::prompt(event.messages()));
        let start = CommandEvent::SessionStart;
        let mut occurring = Vec::new();
        if is_own && self.listens(start) && self.sessions().start(cx) {
            occurring.push(start);
        }
        match is_own {
            // A call that resumes another has no prompt.
            true if prompt.is_some() => occurring.push(CommandEvent::UserPromptSubmit),
            true => {}
            false => occurring.push(CommandEvent::SubagentStart),
        }
        occurring.push(CommandEvent::Own(EventKind::PreCall));
        for occurring in occurring.into_iter().filter(|event| self.listens(*event)) {
            let mut input = input::of_call(occurring, Some(EventKind::PreCall), cx);
            let mut subject = Some(cx.agent_name());
            match occurring {
                CommandEvent::SessionStart => {
                    let memory = event.agent().memory_of(cx);
                    let is_new = memory.is_none_or(|memory| memory.is_empty());
                    subject = Some(if is_new { "startup" } else { "resume" });
                    input.source = subject.map(str::to_owned);
                }
                CommandEvent::SubagentStart => {}
                CommandEvent::UserPromptSubmit => {
                    (subject, input.prompt) = (None, prompt.clone());
                }
                _ => input.prompt.clone_from(&prompt),
            }
            let occasion = Occasion { event: occurring, subject, tool: None };
            let combined = self.run(cx, occasion, input).await;
            if let Some(flow) = self.direct_call(event, combined) {
                return flow;
            }
        }
        Flow::Continue
    }

    fn direct_call(&self, event: &mut PreCall<'_>, combined: Combined) -> Option<Flow> {
        let cx = event.context();
        let answer = |text| Some(event.answer(Msg::assistant(cx.agent_name(), text)));
        if let Some(stop) = combined.stop {
            let text = format!("stopped by hook `{}`", stop.hook);
            self.note_stop(cx, stop);
            return answer(text);
        }
        if combined.verdict == Verdict::Block {
            return answer(combined.reason);
        }
        if let Some(context) = combined.context {
            event.append_system(context);
        }
        None
    }

    pub(crate) async fn post_call(&self, event: &mut PostCall<'_>) -> HookResult<Flow> {
        let (cx, own) = (event.context(), CommandEvent::Own(EventKind::PostCall));
        if self.listens(own) {
            let mut input = input::of_call(own, Some(EventKind::PostCall), cx);
            input.last_assistant_message = Some(event.final_message().text());
            let occasion = Occasion { event: own, subject: Some(cx.agent_name()), tool: None };
            let combined = self.run(cx, occasion, input).await;
            if combined.verdict == Verdict::Block {
                return Err(combined.reason.into());
            }
            if let Some(stop) = combined.stop {
                self.note_stop(cx, stop);
            }
        }
        let state = self.state(cx);
        let facts = state.lock();
        let metadata = &mut event.final_message_mut().metadata;
        if let Some(Stop { hook, reason }) = &facts.stop {
            let reason = reason.clone().unwrap_or_else(|| format!("stopped by hook `{hook}`"));
            metadata.insert("stop_reason".to_owned(), reason.into());
        }
        Ok(Flow::Continue)
    }
}
