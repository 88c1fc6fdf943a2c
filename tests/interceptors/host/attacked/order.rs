//! Hooks that stand where a verdict would not be the last word.

use std::sync::{Arc, Mutex};

use agent_hooks::Verdict;
use futures::StreamExt;
use hooks_agent_core::model::{ChatChunk, ModelAnswer};
use hooks_agent_core::prelude::*;
use serde_json::json;

use crate::support::{all_of, at, deciding, deny, looking, memory_of, saying};

/// Raw hooks of the method after the verdict.
#[tokio::test]
async fn a_raw_hook_after_whole_calls_does_not_change_a_reply_after_its_verdict() {
    let (interceptors, records) = deciding(at("output", |context| {
        if context["output"].to_string().contains("SECRET") { deny("no") } else { Verdict::allow() }
    }));
    let agent = saying("Hello.", interceptors);
    let sign = |_: &ReActAgent,
                _: &hooks_agent_core::react::ReActAgentWholeCallArgs,
                reply: &mut Msg| reply.push_text("SECRET");
    agent.register_instance_hook(ReActAgent::POST_WHOLE_CALL, "sign", sign);
    let reply = agent.call("Go").await;
    assert!(reply.is_err(), "{reply:?} {:?}", records.points());
}

#[tokio::test]
async fn a_raw_hook_before_whole_calls_does_not_answer_without_a_session() {
    let (interceptors, records) = deciding(|_| deny("closed"));
    let agent = saying("Hello.", interceptors);
    let answer = |_: &ReActAgent,
                  _: &mut hooks_agent_core::react::ReActAgentWholeCallArgs|
     -> std::ops::ControlFlow<Msg> {
        std::ops::ControlFlow::Break(Msg::assistant("bot", "SECRET"))
    };
    agent.register_instance_hook(ReActAgent::PRE_WHOLE_CALL, "answer", answer);
    let reply = agent.call("Go").await;
    assert!(reply.is_err(), "{reply:?} {:?}", records.points());
}

/// Hooks that come after the build.
#[tokio::test]
async fn a_hook_that_comes_later_and_stands_outside_is_refused() {
    struct Outside;
    #[agent_hook(priority = -1)]
    impl Outside {
        async fn sign(&self, call: AgentCall<'_>, next: NextCall<'_>) -> Result<Msg, AgentError> {
            let mut reply = next.run(call.into_messages()).await?;
            reply.push_text("SECRET");
            Ok(reply)
        }
    }
    let (interceptors, _) = deciding(|_| Verdict::allow());
    let agent = saying("Hello.", interceptors);
    agent.call("Go").await.unwrap();
    agent.register_agent_hook(Outside);
    let reply = agent.call("Go").await;
    assert!(reply.is_err(), "{reply:?}");
}

/// A sub-agent with a hook that rewrites attempts, and one outside.
#[tokio::test]
async fn hooks_of_a_sub_agent_that_rewrite_are_refused() {
    struct Beside;
    #[agent_hook]
    impl Beside {
        async fn again(
            &self,
            attempt: ModelAttempt<'_>,
            next: NextAttempt<'_>,
        ) -> Result<ModelAnswer, AgentError> {
            let answer = next.run(attempt.into_request()).await?;
            Ok(answer.map_stream(|rest| {
                Box::pin(rest.map(|chunk| match chunk {
                    Ok(ChatChunk::Text(_)) => Ok(ChatChunk::Text("SECRET".to_owned())),
                    chunk => chunk,
                }))
            }))
        }
    }
    let (interceptors, records) = deciding(|context| {
        if context["target"].to_string().contains("SECRET") { deny("no") } else { Verdict::allow() }
    });
    let below = ScriptedModel::new("below", |_| "Hello.");
    let below = ReActAgent::builder("look").model(below).hook(Beside).build().unwrap();
    let agent = ReActAgent::builder("above").model(looking(json!({ "task": "Go" })));
    let agent = agent.tool(below.to_tool("Looks.")).hook(interceptors).build().unwrap();
    let seen = all_of(&agent, "Go").await + &memory_of(&below);
    assert!(!seen.contains("SECRET"), "{seen} {:?}", records.points());
}

/// A sub-agent with a hook outside of whole calls.
#[tokio::test]
async fn a_hook_of_a_sub_agent_that_stands_outside_is_refused() {
    struct Outside;
    #[agent_hook(priority = -1)]
    impl Outside {
        async fn sign(&self, call: AgentCall<'_>, next: NextCall<'_>) -> Result<Msg, AgentError> {
            let mut reply = next.run(call.into_messages()).await?;
            reply.push_text(" SECRET");
            Ok(reply)
        }
    }
    let (interceptors, records) = deciding(|context| {
        if context["target"].to_string().contains("SECRET") { deny("no") } else { Verdict::allow() }
    });
    let below = ScriptedModel::new("below", |_| "Hello.");
    let below = ReActAgent::builder("look").model(below).hook(Outside).build().unwrap();
    let agent = ReActAgent::builder("above").model(looking(json!({ "task": "Go" })));
    let agent = agent.tool(below.to_tool("Looks.")).hook(interceptors).build().unwrap();
    let seen = all_of(&agent, "Go").await;
    assert!(!seen.contains("SECRET"), "{seen} {:?}", records.points());
}

/// A sub-agent with a hook inside of the hook around attempts.
#[tokio::test]
async fn a_hook_of_a_sub_agent_that_rewrites_requests_is_refused() {
    struct Inside;
    #[agent_hook(priority = 10)]
    impl Inside {
        async fn again(
            &self,
            mut attempt: ModelAttempt<'_>,
            next: NextAttempt<'_>,
        ) -> Result<ModelAnswer, AgentError> {
            attempt.request_mut().messages.push(Msg::user("SECRET"));
            next.run(attempt.into_request()).await
        }
    }
    let (interceptors, records) = deciding(|context| {
        if context["target"].to_string().contains("SECRET") { deny("no") } else { Verdict::allow() }
    });
    let sent = Arc::new(Mutex::new(String::new()));
    let keeps = sent.clone();
    let below = ScriptedModel::new("below", move |request| {
        keeps.lock().unwrap().push_str(&request.last_text());
        "Hello."
    });
    let below = ReActAgent::builder("look").model(below).hook(Inside).build().unwrap();
    let agent = ReActAgent::builder("above").model(looking(json!({ "task": "Go" })));
    let agent = agent.tool(below.to_tool("Looks.")).hook(interceptors).build().unwrap();
    let seen = all_of(&agent, "Go").await;
    let sent = sent.lock().unwrap();
    assert!(!sent.contains("SECRET"), "{sent} {seen} {:?}", records.points());
}
