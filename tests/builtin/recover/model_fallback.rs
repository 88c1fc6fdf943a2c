//! `ModelFallback`.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use hooks_agent_builtin::recover::{CircuitBreaker, ModelFallback, ModelRetry, RetryPolicy};
use hooks_agent_core::call::Interrupt;
use hooks_agent_core::hook::Rewrite;
use hooks_agent_core::message::{GenerateReason, Usage, unanswered_tool_uses};
use hooks_agent_core::model::{ChatChunk, ChatStream, Finding, ModelError};
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Calls, Script};
use hooks_fixtures::Records;
use serde_json::json;

use crate::around::Count;

/// A script under another name.
#[derive(Clone)]
struct Named(&'static str, Script);

impl ChatModel for Named {
    fn name(&self) -> &str {
        self.0
    }

    fn stream(&self, request: ChatRequest) -> ChatStream {
        self.1.stream(request)
    }
}

fn busy() -> ModelError {
    ModelError::status("script", 503)
}

fn agent(first: &Script, hook: impl AgentHook) -> ReActAgent {
    ReActAgent::builder("bot").model(first.clone()).hook(hook).build().unwrap()
}

/// D 3.6: primary ok → 1 call; primary fails → second; all fail → last exception.
#[tokio::test]
async fn models_are_asked_in_order_until_one_answers() {
    for failing in 0..3 {
        let scripts: Vec<_> = (0..3)
            .map(|index| {
                let is_failing = index < failing;
                if is_failing {
                    Script::new().fails(busy())
                } else {
                    Script::new().says(index.to_string())
                }
            })
            .collect();
        let fallback = ModelFallback::new(Named("second", scripts[1].clone()));
        let agent = agent(&scripts[0], fallback.then(Named("third", scripts[2].clone())));
        let reply = agent.call("go").await.unwrap();
        assert_eq!(reply.text(), failing.to_string());
        let asked: Vec<_> = scripts.iter().map(|script| script.requests().len()).collect();
        assert_eq!(asked, [1, usize::from(failing > 0), usize::from(failing > 1)]);
    }
}

#[tokio::test]
async fn the_last_error_is_that_of_the_call() {
    let first = Script::new().fails(busy());
    let second = Script::new().fails(ModelError::status("second", 401));
    let third = Script::new().fails(ModelError::status("third", 418));
    let fallback = ModelFallback::new(Named("second", second)).then(Named("third", third));
    let error = agent(&first, fallback).call("go").await.unwrap_err();
    assert!(matches!(error, AgentError::Model(ModelError::Status { status: 418, .. })));
}

#[tokio::test]
async fn the_reply_and_memory_say_who_answered() {
    let names: Arc<Records<String>> = Arc::default();
    let seen = names.clone();
    let first = Script::new().fails(busy()).says("one");
    let fallback = ModelFallback::new(Named("second", Script::new().says("two")));
    let agent = ReActAgent::builder("bot")
        .model(first)
        .hook(fallback)
        .hook(on(move |event: &mut PostReasoning<'_>| seen.push(event.model_name().to_owned())))
        .build()
        .unwrap();
    let reply = agent.call("go").await.unwrap();
    assert_eq!(reply.metadata.get("model"), Some(&json!("second")));
    assert_eq!(agent.call("go").await.unwrap().metadata.get("model"), None);
    assert_eq!(names.take(), ["second", "script"]);
    let messages = agent.memory().messages();
    let noted: Vec<_> = messages.iter().map(|msg| msg.metadata.contains_key("model")).collect();
    assert_eq!(noted, [false, true, false, false]);
}

/// D 3.6: an interrupt propagates at every stage; a sanitizer error is not masked.
#[tokio::test]
async fn what_is_no_failure_of_a_model_passes() {
    let other = Script::new().says("never");
    let limit = Count::models().failing();
    let built = ReActAgent::builder("bot")
        .model(Script::new())
        .hook(ModelFallback::new(Named("other", other.clone())).fall_back_on(|_| true))
        .hook(limit.with_priority(280))
        .build()
        .unwrap();
    assert!(matches!(built.call("go").await, Err(AgentError::Hook(_))));

    let blocked = || ModelError::blocked("a secret");
    let first = Script::new().fails(blocked());
    let hook = ModelFallback::new(Named("other", other.clone())).fall_back_on(|_| true);
    let error = agent(&first, hook).call("go").await.unwrap_err();
    assert!(matches!(error, AgentError::Model(ModelError::Blocked { .. })));

    let second = Script::new().fails(blocked());
    let hook = ModelFallback::new(Named("second", second)).then(Named("other", other.clone()));
    let error = agent(&Script::new().fails(busy()), hook).call("go").await.unwrap_err();
    assert!(matches!(error, AgentError::Model(ModelError::Blocked { .. })));
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn an_interrupted_call_asks_no_other_model() {
    let other = Script::new().says("never");
    let interrupt = Interrupt::new();
    let set = interrupt.clone();
    let first = ScriptedModel::new("first", move |_| {
        set.interrupt();
        busy()
    });
    let agent = ReActAgent::builder("bot")
        .model(first)
        .hook(ModelFallback::new(Named("other", other.clone())))
        .build()
        .unwrap();
    let options = CallOptions::new().interrupt(interrupt);
    let reply = agent.call_with(options, "go").await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::Interrupted));

    let cx = CallContext::default();
    cx.interrupt();
    let ended = agent.model_call(cx, ChatRequest::new("go")).await;
    assert!(matches!(ended, Err(AgentError::Interrupted)));
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn the_errors_are_chosen() {
    type Chooses = Box<dyn Fn(&ModelError) -> bool + Send + Sync>;
    let only_busy = |error: &ModelError| matches!(error, ModelError::Status { status: 503, .. });
    let cases: [(Chooses, u16, bool); 4] = [
        (Box::new(only_busy), 503, true),
        (Box::new(only_busy), 401, false),
        (Box::new(|_| true), 401, true),
        (Box::new(|_| panic!("a bug")), 503, false),
    ];
    for (chooses, status, answers) in cases {
        let first = Script::new().fails(ModelError::status("script", status));
        let hook = ModelFallback::new(Named("other", Script::new().says("hi")));
        let ended = agent(&first, hook.fall_back_on(chooses)).call("go").await;
        assert_eq!(ended.is_ok(), answers, "{ended:?}");
    }
}

#[tokio::test]
async fn empty_and_cut_answers_count_as_failures_before_the_first_chunk_only() {
    let empty = ScriptedAnswer::Stream(vec![Ok(ChatChunk::end(Usage::new(1, 0)))]);
    for first in [Script::new().cut(), Script::new().turn(empty)] {
        let hook = ModelFallback::new(Named("other", Script::new().says("hi")));
        assert_eq!(agent(&first, hook).call("go").await.unwrap().text(), "hi");
    }
    let other = Script::new().says("never");
    let hook = ModelFallback::new(Named("other", other.clone()));
    let error = agent(&Script::new().cut_after("Once"), hook).call("go").await.unwrap_err();
    assert!(matches!(error, AgentError::Model(ModelError::Cut { .. })));
    assert!(other.requests().is_empty());
}

/// An answer with everything that only its provider can read.
fn private_answer(id: &str) -> ScriptedAnswer {
    let mut call = ToolUse::new(id, "look", json!({}));
    call.signature = Some("signed".to_owned());
    let thinking =
        ContentBlock::Thinking { thinking: "hm".to_owned(), signature: Some("signed".to_owned()) };
    let redacted = ContentBlock::RedactedThinking { data: "xyz".to_owned() };
    vec![thinking, redacted, ContentBlock::text("So:"), ContentBlock::ToolUse(call)].into()
}

fn is_private(request: &ChatRequest) -> bool {
    let text = serde_json::to_string(&request.messages).unwrap();
    ["thinking", "signed", "xyz"].iter().any(|private| text.contains(private))
}

#[tokio::test]
async fn what_another_provider_cannot_read_is_not_sent_to_it() {
    let id = "call: with strange signs and a length of more than forty characters";
    let first = Script::new().turn(private_answer(id)).fails(busy());
    let other = Script::new().says("done");
    let agent = ReActAgent::builder("bot")
        .model(first.clone())
        .tool(Calls::new("look").answers("a wall"))
        .hook(ModelFallback::new(Named("other", other.clone())))
        .build()
        .unwrap();
    agent.call("go").await.unwrap();

    // The agent's own model gets its thoughts back, the other one does not.
    assert!(is_private(&first.requests()[1]));
    let request = &other.requests()[0];
    assert!(!is_private(request), "{request:?}");
    let calls: Vec<_> = request.messages.iter().flat_map(Msg::tool_uses).collect();
    let results: Vec<_> = request.messages.iter().flat_map(Msg::tool_results).collect();
    assert_eq!((calls[0].id.as_str(), results[0].id.as_str()), ("call_1", "call_1"));
    assert_eq!(unanswered_tool_uses(&request.messages), []);
    assert!(request.messages.iter().any(|msg| msg.text() == "So:"));

    // Memory keeps what the first model wrote.
    let messages = agent.memory().messages();
    assert_eq!(messages.iter().flat_map(Msg::tool_uses).next().unwrap().id, id);
}

#[tokio::test]
async fn ids_that_every_provider_takes_stay() {
    let first = Script::new()
        .calls([ToolUse::new("call_1", "look", json!({})), ToolUse::new("a b", "look", json!({}))])
        .fails(busy());
    let other = Script::new().says("done");
    let agent = ReActAgent::builder("bot")
        .model(first)
        .tool(Calls::new("look").answers("1").answers("2"))
        .hook(ModelFallback::new(Named("other", other.clone())))
        .build()
        .unwrap();
    agent.call("go").await.unwrap();
    let request = &other.requests()[0];
    let results: Vec<_> = request.messages.iter().flat_map(Msg::tool_results).collect();
    let pairs: Vec<_> = results.iter().map(|it| (it.id.as_str(), it.output.as_str())).collect();
    assert_eq!(pairs, [("call_1", "1"), ("call_2", "2")]);
}

#[tokio::test]
async fn each_model_reads_its_own_thoughts_and_not_those_of_others() {
    let first = Script::new().fails(busy()).fails(busy()).says("done");
    let other = Script::new().turn(private_answer("1")).turn(private_answer("2"));
    let agent = ReActAgent::builder("bot")
        .model(first.clone())
        .tool(Calls::new("look").answers("a wall").answers("a door"))
        .hook(ModelFallback::new(Named("other", other.clone())))
        .build()
        .unwrap();
    agent.call("go").await.unwrap();
    assert!(is_private(&other.requests()[1]));
    assert!(first.requests().iter().all(|request| !is_private(request)));
    assert_eq!(unanswered_tool_uses(&first.requests()[2].messages), []);
}

#[tokio::test]
async fn a_model_of_the_same_name_at_another_provider_is_another_one() {
    let first = Script::new().turn(private_answer("1")).fails(busy()).says("again");
    let other = Script::new().says("done");
    let agent = ReActAgent::builder("bot")
        .model(first.clone())
        .tool(Calls::new("look").answers("a wall"))
        .hook(ModelFallback::new(other.clone()))
        .build()
        .unwrap();
    assert_eq!(agent.call("go").await.unwrap().metadata["model"], "script");
    assert!(is_private(&first.requests()[1]) && !is_private(&other.requests()[0]));
    assert!(!agent.call("go on").await.unwrap().metadata.contains_key("model"));
    assert!(is_private(&first.requests()[2]));
}

#[tokio::test]
async fn an_answer_of_thoughts_alone_leaves_no_empty_message() {
    let think = || Ok(ChatChunk::RedactedThinking("xyz".to_owned()));
    let end = || Ok(ChatChunk::end(Usage::default()));
    let nothing = || Ok(ChatChunk::Text(String::new()));
    for chunks in [vec![think(), end()], vec![think(), nothing(), end()]] {
        let first = Script::new().turn(ScriptedAnswer::Stream(chunks)).fails(busy());
        let other = Script::new().says("done");
        let agent = agent(&first, ModelFallback::new(Named("other", other.clone())));
        agent.call("one").await.unwrap();
        agent.call("two").await.unwrap();
        let texts: Vec<_> = other.requests()[0].messages.iter().map(Msg::text).collect();
        assert_eq!(texts, ["one", "two"]);
    }
}

#[tokio::test]
async fn guards_and_limits_outside_see_the_answer_of_the_other_model() {
    let mask = Rewrite::new(16, |text, from| {
        let start = from + text[from..].find("secret")?;
        Some(Finding::Replace { range: start..start + 6, text: "***".to_owned() })
    });
    let limit = Count::models();
    let agent = ReActAgent::builder("bot")
        .model(Script::new().fails(busy()))
        .hook(ModelFallback::new(Named("other", Script::new().says("a secret"))))
        .hook(mask)
        .hook(limit.clone().with_priority(200))
        .build()
        .unwrap();
    assert_eq!(agent.call("go").await.unwrap().text(), "a ***");
    assert_eq!(limit.get(), 1);
}

#[tokio::test]
async fn a_retry_outside_begins_again_when_no_model_answers() {
    let first = Script::new().fails(busy()).says("late");
    let other = Script::new().fails(busy());
    let policy = RetryPolicy::new().initial_delay(Duration::ZERO);
    let agent = ReActAgent::builder("bot")
        .model(first.clone())
        .hook(ModelFallback::new(Named("other", other.clone())))
        .hook(ModelRetry::with(policy).unwrap())
        .build()
        .unwrap();
    assert_eq!(agent.call("go").await.unwrap().text(), "late");
    assert_eq!((first.requests().len(), other.requests().len()), (2, 1));
}

#[tokio::test]
async fn a_retry_inside_repeats_the_first_model_alone() {
    let first = Script::new().fails(busy()).fails(busy()).fails(busy());
    let other = Script::new().says("here");
    let policy = RetryPolicy::new().initial_delay(Duration::ZERO);
    let agent = ReActAgent::builder("bot")
        .model(first.clone())
        .hook(ModelFallback::new(Named("other", other.clone())))
        .hook(ModelRetry::with(policy).unwrap().with_priority(260))
        .build()
        .unwrap();
    assert_eq!(agent.call("go").await.unwrap().text(), "here");
    assert_eq!((first.requests().len(), other.requests().len()), (3, 1));
}

#[tokio::test]
async fn an_open_circuit_leads_to_the_other_model() {
    let first = Script::new().fails(busy());
    let other = Script::new().says("1").says("2");
    let agent = ReActAgent::builder("bot")
        .model(first.clone())
        .hook(ModelFallback::new(Named("other", other)))
        .hook(CircuitBreaker::for_model("script").failures(1))
        .build()
        .unwrap();
    assert_eq!(agent.call("go").await.unwrap().text(), "1");
    assert_eq!(agent.call("go").await.unwrap().text(), "2");
    assert_eq!(first.requests().len(), 1);
}

#[tokio::test]
async fn a_summary_of_another_model_says_so() {
    let first = Script::new().calls([ToolUse::new("1", "look", json!({}))]).fails(busy());
    let agent = ReActAgent::builder("bot")
        .model(first)
        .tool(Calls::new("look").answers("a wall"))
        .max_iters(1)
        .hook(ModelFallback::new(Named("other", Script::new().says("in short"))))
        .build()
        .unwrap();
    let reply = agent.call("go").await.unwrap();
    assert_eq!((reply.text().as_str(), &reply.metadata["model"]), ("in short", &json!("other")));
}

#[tokio::test]
async fn calls_of_many_tasks_do_not_mix() {
    let model = ScriptedModel::new("first", |_| busy());
    let other = ScriptedModel::new("other", ChatRequest::last_text);
    let agent = ReActAgent::builder("bot").model(model).hook(ModelFallback::new(other));
    let agent = Arc::new(agent.build().unwrap());
    let wrong = Arc::new(Mutex::new(Vec::new()));
    let tasks = (0..64).map(|task| {
        let (agent, wrong) = (agent.clone(), wrong.clone());
        tokio::spawn(async move {
            let options = CallOptions::new().thread(task.to_string());
            let reply = agent.call_with(options, task.to_string()).await.unwrap();
            if reply.text() != task.to_string() {
                wrong.lock().unwrap().push(task);
            }
        })
    });
    futures::future::join_all(tasks).await;
    assert!(wrong.lock().unwrap().is_empty());
}
