//! Calls that end for another reason than an answer.

use futures::executor::block_on;
use futures::stream;
use hooks_agent_builtin::answer::{Mode, StructuredOutputError, TypedCalls};
use hooks_agent_builtin::limit::ModelCallLimit;
use hooks_agent_core::call::Interrupt;
use hooks_agent_core::message::GenerateReason::{self, *};
use hooks_agent_core::message::Usage;
use hooks_agent_core::model::{ChatChunk, ChatStream, FinishReason, ModelError};
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_core::testing::{Calls, Script};
use serde_json::json;

use crate::structured_output::{GOOD, Invoice, bot, of_invoices};

/// Why a typed call of an agent has no answer, and its reply.
fn ended(
    script: &Script,
    more: impl FnOnce(ReActAgentBuilder) -> ReActAgentBuilder,
) -> (GenerateReason, Msg) {
    let builder = ReActAgent::builder("bot").model(script.clone());
    let agent = more(builder).build().unwrap();
    let error = block_on(agent.call_typed::<Invoice>("Go")).unwrap_err();
    assert!(error.reply().is_some());
    let StructuredOutputError::NoAnswer { reason, reply, .. } = error else { panic!("{error}") };
    (reason, *reply)
}

#[test]
fn a_limit_is_not_forced_into_the_schema() {
    let limit = ModelCallLimit::builder().run(1).build().unwrap();
    let (reason, reply) = ended(&Script::new().says("no"), |builder| builder.hook(limit));
    assert_eq!(reason, LimitReached);
    assert!(reply.text().starts_with("Model call limits exceeded"));
}

#[test]
fn neither_are_answers_and_stops_of_hooks() {
    let answer = on(|event: &mut PreCall<'_>| event.answer(Msg::assistant("bot", "closed")));
    let (reason, reply) = ended(&Script::new(), |builder| builder.hook(answer));
    assert_eq!((reason, reply.text().as_str()), (HookAnswered, "closed"));

    let stop = on(|event: &mut PostReasoning<'_>| event.stop());
    let (reason, _) = ended(&Script::new().says("no"), |builder| builder.hook(stop));
    assert_eq!(reason, ReasoningStopRequested);

    let end = on(|event: &mut PostReasoning<'_>| event.jump_to_end());
    let (reason, _) = ended(&Script::new().says("no"), |builder| builder.hook(end));
    assert_eq!(reason, HookEnded);

    let recover = on(|event: &mut ErrorEvent<'_>| event.recover(Msg::assistant("bot", "later")));
    let busy = Script::new().fails(ModelError::status("script", 503));
    let (reason, reply) = ended(&busy, |builder| builder.hook(recover));
    assert_eq!((reason, reply.text().as_str()), (Recovered, "later"));
}

#[test]
fn a_summary_after_the_last_round_is_no_answer() {
    let script = Script::new().calls([ToolUse::new("1", "read", json!({}))]).says("so far so good");
    let read = Calls::new("read").answers("text");
    let (reason, reply) = ended(&script, |builder| builder.tool(read).max_iters(1));
    assert_eq!((reason, reply.text().as_str()), (MaxIterations, "so far so good"));
    assert!(script.requests()[1].tools.is_empty());
}

#[test]
fn an_answer_that_is_cut_is_no_answer() {
    let cut = ScriptedAnswer::Stream(vec![
        Ok(ChatChunk::Text(GOOD[..20].to_owned())),
        Ok(ChatChunk::End { usage: Usage::default(), finish: FinishReason::Length }),
    ]);
    let script = Script::new().turn(cut);
    let (reason, _) = ended(&script, |builder| builder);
    assert_eq!(reason, Length);
    script.finish();
}

#[test]
fn a_call_that_waits_for_a_person_says_so_and_what_waits() {
    let script = Script::new().calls([ToolUse::new("1", "pay", json!({}))]);
    let ask = on(|event: &mut PreActing<'_>| event.ask("may I?"));
    let pay = Calls::new("pay");
    let (reason, reply) = ended(&script, |builder| builder.tool(pay).hook(ask));
    assert_eq!((reason, reply.pending().len()), (PermissionAsking, 1));
}

/// A model that says a little and hangs.
struct Hangs(Interrupt);

impl ChatModel for Hangs {
    fn name(&self) -> &'static str {
        "hangs"
    }

    fn stream(&self, _: ChatRequest) -> ChatStream {
        let interrupt = self.0.clone();
        let first = stream::iter([Ok(ChatChunk::Text(r#"{"number": 7, "it"#.to_owned()))]);
        Box::pin(futures::StreamExt::chain(
            first,
            stream::once(async move {
                interrupt.interrupt();
                std::future::pending().await
            }),
        ))
    }
}

#[test]
fn an_interrupt_ends_a_call_whose_model_hangs() {
    let interrupt = Interrupt::new();
    let agent = ReActAgent::builder("bot").model(Hangs(interrupt.clone())).build().unwrap();
    let options = CallOptions::new().interrupt(interrupt);
    let error = block_on(agent.call_typed_with::<Invoice>(options, "Go")).unwrap_err();
    assert!(
        matches!(error, StructuredOutputError::NoAnswer { reason: Interrupted, .. }),
        "{error}"
    );
}

#[test]
fn a_model_that_fails_or_says_nothing_is_an_error_of_the_agent() {
    let busy = ModelError::status("script", 503);
    let empty = ScriptedAnswer::Stream(vec![Ok(ChatChunk::end(Usage::default()))]);
    for script in [Script::new().fails(busy), Script::new().turn(empty)] {
        for mode in [Mode::Format, Mode::Tool, Mode::Prompt] {
            let agent = bot(&script);
            let output = of_invoices(mode);
            let typed = output.call::<Invoice>(&agent, CallOptions::new(), "Go");
            let error = block_on(typed).unwrap_err();
            assert!(
                matches!(&error, StructuredOutputError::Agent(AgentError::Model(_))),
                "{error}"
            );
            let error: AgentError = error.into();
            assert!(matches!(error, AgentError::Model(_)));
        }
    }
}

#[test]
fn a_call_of_a_tool_that_is_not_there_is_answered_and_the_model_goes_on() {
    let script = Script::new().calls([ToolUse::new("1", "nothing", json!({}))]).says(GOOD);
    let agent = bot(&script);
    assert_eq!(block_on(agent.call_typed::<Invoice>("Go")).unwrap().number, 7);
    hooks_agent_core::testing::check_history(agent.memory());
}
