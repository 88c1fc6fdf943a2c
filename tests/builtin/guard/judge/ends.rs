//! Calls that end early, nested calls, calls at once, and shadow.

use std::sync::Arc;

use futures::future::join_all;
use futures::{StreamExt, stream};
use hooks_agent_builtin::guard::Judge;
use hooks_agent_core::call::Interrupt;
use hooks_agent_core::error::BuildError;
use hooks_agent_core::message::GenerateReason;
use hooks_agent_core::model::ChatStream;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Calls, Script};
use hooks_fixtures::scripted_agents::{assert_valid, results};
use serde_json::json;
use tokio::sync::Notify;

use crate::judge::{CODE, REFUSED, TELLS, no_codes, texts};

/// A model that says when it is asked, and never ends.
#[derive(Clone, Default)]
struct Asked(Arc<Notify>);

impl ChatModel for Asked {
    fn name(&self) -> &'static str {
        "asked"
    }

    fn stream(&self, _: ChatRequest) -> ChatStream {
        let asked = self.0.clone();
        Box::pin(stream::once(async move { asked.notify_one() }).flat_map(|()| stream::pending()))
    }
}

/// Interrupts a call while the judge is asked.
async fn interrupted(judge: impl Fn(Judge) -> Judge) -> (ReActAgent, Msg) {
    let asked = Asked::default();
    let call = ToolUse::new("1", "look", json!({}));
    let script = Script::new().turn(vec![ContentBlock::text(TELLS), ContentBlock::ToolUse(call)]);
    let builder = ReActAgent::builder("bot").model(script).tool(Calls::new("look"));
    let agent = builder.hook(judge(Judge::new(asked.clone(), "Be good."))).build().unwrap();
    let interrupt = Interrupt::new();
    let options = CallOptions::new().interrupt(interrupt.clone());
    let call = agent.call_with(options, "Go");
    let (reply, ()) = tokio::join!(call, async {
        asked.0.notified().await;
        interrupt.interrupt();
    });
    (agent, reply.unwrap())
}

#[tokio::test]
async fn an_interrupt_while_an_answer_is_judged_leaves_nothing_of_it() {
    let (agent, reply) = interrupted(|judge| judge.send_back(2)).await;
    assert_eq!((reply.reason, reply.text()), (Some(GenerateReason::Interrupted), String::new()));
    assert!(!format!("{:?}", agent.memory().messages()).contains("Certainly"));
}

#[tokio::test]
async fn an_interrupt_while_input_is_judged_leaves_memory_empty() {
    let (agent, reply) = interrupted(Judge::input).await;
    assert_eq!(reply.reason, Some(GenerateReason::Interrupted));
    assert_eq!(texts(&agent), [""; 0]);
}

#[tokio::test]
async fn an_interrupt_while_a_tool_call_is_judged_runs_no_tool() {
    let (agent, reply) = interrupted(Judge::tool_calls).await;
    assert_eq!(reply.reason, Some(GenerateReason::Interrupted));
    assert_valid(&agent);
    assert!(results(&agent)[0].1.starts_with("! "), "{:?}", results(&agent));
}

#[tokio::test]
async fn a_call_that_is_dropped_while_an_answer_is_judged_leaves_nothing_of_it() {
    let asked = Asked::default();
    let script = Script::new().says(TELLS);
    let judge = Judge::new(asked.clone(), "Be good.");
    let agent = ReActAgent::builder("bot").model(script).hook(judge).build().unwrap();
    tokio::select! {
        _ = agent.call("Go") => panic!("the judge never ends"),
        () = asked.0.notified() => {}
    }
    assert!(!format!("{:?}", agent.memory().messages()).contains("Certainly"));
}

#[tokio::test]
async fn answers_of_sub_agents_are_judged_before_their_caller_reads_them() {
    let model = Script::new().says(TELLS);
    let child = ReActAgent::builder("child").model(model).build().unwrap();
    let call = ToolUse::new("1", "child", json!({ "task": "Tell it." }));
    let script = Script::new().calls([call]).says("It does not tell.");
    let builder = ReActAgent::builder("bot").model(script.clone()).tool(child.to_tool("Tells."));
    let agent = builder.hook(Judge::new(no_codes(), "Tell no codes.")).build().unwrap();
    assert_eq!(agent.call("Go").await.unwrap().text(), "It does not tell.");
    let read = &results(&agent)[0].1;
    assert!(read.starts_with("! ") && read.contains(REFUSED), "{read}");
    let kept = format!("{:?} {:?}", child.memory().messages(), script.requests());
    assert!(!kept.contains(CODE), "{kept}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn eight_calls_at_once_have_each_its_own_count() {
    // Each answers with the code until it has read a note.
    let model = ScriptedModel::new("large", |request| {
        let text = request.last_text();
        if text.starts_with("[Note") { "No.".to_owned() } else { format!("{text}: {CODE}") }
    });
    let judge = Judge::new(no_codes(), "Tell no codes.").send_back(1);
    let builder = ReActAgent::builder("bot").model(model).hook(judge);
    let agent = Arc::new(builder.build().unwrap());
    let calls = (0..8).map(|number| {
        let options = CallOptions::new().thread(format!("thread {number}"));
        tokio::spawn(agent.clone().call_owned(options, format!("Call {number}")))
    });
    for (number, reply) in join_all(calls).await.into_iter().enumerate() {
        assert_eq!(reply.unwrap().unwrap().text(), "No.");
        let memory = agent.threads().memory(&format!("thread {number}")).unwrap();
        let texts: Vec<_> = memory.messages().iter().map(Msg::text).collect();
        assert_eq!(texts, [format!("Call {number}"), "No.".to_owned()]);
    }
}

#[tokio::test]
async fn in_shadow_it_says_what_it_would_have_refused() {
    let call = ToolUse::new("1", "send", json!({ "text": CODE }));
    let script = Script::new().calls([call]).says(TELLS);
    let judge = Judge::new(no_codes(), "Tell no codes.").input().tool_calls().answers();
    let shadow = judge.clone().in_shadow();
    let builder = ReActAgent::builder("bot").model(script).tool(Calls::new("send").answers("sent"));
    let agent = builder.hook(shadow.clone()).build().unwrap();
    assert_eq!(agent.call("Go").await.unwrap().text(), TELLS);
    shadow.caught_up().await;
    let counts = shadow.counts();
    assert!(counts.refused >= 1 && counts.failed == 1, "{counts}");
    let builder = ReActAgent::builder("bot").model(Script::new());
    let error = builder.hook(judge.send_back(1).in_shadow()).build().unwrap_err();
    assert!(matches!(error, BuildError::NotInShadow { .. }), "{error}");
}
