//! Tool calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agent_hooks::Verdict;
use hooks_agent_builtin::recover::ToolRetry;
use hooks_agent_core::message::ToolOutput;
use hooks_agent_core::prelude::*;
use serde_json::{Value, json};

use crate::support::{
    all_of, at, at_once, deciding, deny, look, looker, looking, memory_of, transform,
};

#[tokio::test]
async fn the_model_reads_why_a_tool_did_not_run() {
    let (interceptors, records) = deciding(at("pre_tool_call", |_| deny("no_looking")));
    let agent = looker(interceptors);
    let reply = agent.call("Go").await.unwrap().text();
    assert!(reply.contains("not permitted: no_looking"), "{reply}");
    assert!(!records.points().iter().any(|it| it.starts_with("post_tool_call")));
}

#[tokio::test]
async fn a_withheld_result_is_nowhere() {
    let (interceptors, _) = deciding(at("post_tool_call", |_| deny("tainted")));
    let chatty = FunctionTool::new("look", "Looks.", async |_: Value| "RESULT-4711");
    let agent = ReActAgent::builder("looker").model(looking(json!({}))).tool(chatty);
    let agent = agent.hook(interceptors).build().unwrap();
    let seen = all_of(&agent, "Go").await;
    assert!(!seen.contains("RESULT-4711"), "{seen}");
    assert!(seen.contains("its result was withheld: tainted"), "{seen}");
}

#[tokio::test]
async fn progress_of_a_tool_has_no_verdict_so_it_is_not_sent() {
    let (interceptors, _) = deciding(at("post_tool_call", |_| deny("tainted")));
    let tool = FunctionTool::with_context("look", "Looks.", async |_: Value, cx: ToolContext| {
        cx.progress("PROGRESS-4711");
        "read"
    });
    let agent = ReActAgent::builder("looker").model(looking(json!({}))).tool(tool);
    let agent = agent.hook(interceptors).build().unwrap();
    let seen = all_of(&agent, "Go").await;
    assert!(!seen.contains("PROGRESS-4711"), "{seen}");
}

#[tokio::test]
async fn changed_results_and_errors_are_what_the_model_reads() {
    let (interceptors, _) = deciding(at("post_tool_call", |_| transform("$target", "***")));
    assert_eq!(looker(interceptors).call("Go").await.unwrap().text(), "I read: ***");

    let (interceptors, records) = deciding(at("post_tool_call", |context| {
        assert_eq!(context["tool_result"]["is_error"], true);
        transform("$target", "it failed")
    }));
    let fails = FunctionTool::new("look", "Looks.", async |_: Value| -> Result<String, String> {
        Err("no file secret.txt".to_owned())
    });
    let agent = ReActAgent::builder("looker").model(looking(json!({}))).tool(fails);
    let agent = agent.hook(interceptors).build().unwrap();
    let seen = all_of(&agent, "Go").await;
    assert!(seen.contains("I read: it failed") && !seen.contains("secret.txt"), "{seen}");
    assert_eq!(records.denied(), [] as [String; 0]);
}

#[tokio::test]
async fn a_structured_result_is_changed_inside() {
    let (interceptors, _) = deciding(at("post_tool_call", |_| transform("$target.mail", "<mail>")));
    let tool = FunctionTool::new("look", "Looks.", async |_: Value| {
        ToolOutput::json(json!({ "mail": "ann@example.com", "age": 7 }))
    });
    let agent = ReActAgent::builder("looker").model(looking(json!({}))).tool(tool);
    let agent = agent.hook(interceptors).build().unwrap();
    let reply = agent.call("Go").await.unwrap().text();
    let read: Value = serde_json::from_str(reply.strip_prefix("I read: ").unwrap()).unwrap();
    assert_eq!(read, json!({ "age": 7, "mail": "<mail>" }));
    assert!(!memory_of(&agent).contains("ann@"));
}

#[tokio::test]
async fn a_tool_call_has_one_pair_however_often_it_is_tried() {
    let (interceptors, records) = deciding(|_| Verdict::allow());
    let runs = Arc::new(AtomicUsize::new(0));
    let count = runs.clone();
    let flaky = FunctionTool::new("look", "Looks.", move |_: Value| {
        let run = count.fetch_add(1, Ordering::Relaxed);
        async move { if run < 2 { Err("busy") } else { Ok("read") } }
    });
    let retry = ToolRetry::with(at_once()).unwrap();
    let agent = ReActAgent::builder("looker").model(looking(json!({}))).tool(flaky.idempotent());
    let agent = agent.hook(retry).hook(interceptors).build().unwrap();
    assert_eq!(agent.call("Go").await.unwrap().text(), "I read: read");
    assert_eq!(runs.load(Ordering::Relaxed), 3);
    let tools: Vec<_> =
        records.points().into_iter().filter(|it| it.contains("tool_call")).collect();
    assert_eq!(tools, ["pre_tool_call", "post_tool_call"]);
}

#[tokio::test]
async fn an_unknown_tool_that_was_permitted_has_its_pair() {
    let (interceptors, records) = deciding(|_| Verdict::allow());
    let agent = ReActAgent::builder("looker").model(looking(json!({}))).hook(interceptors);
    let reply = agent.build().unwrap().call("Go").await.unwrap().text();
    assert!(reply.contains("no tool named `look`"), "{reply}");
    let tools: Vec<_> =
        records.points().into_iter().filter(|it| it.contains("tool_call")).collect();
    assert_eq!(tools, ["pre_tool_call", "post_tool_call"]);
}

#[tokio::test]
async fn the_points_of_a_sub_agent_are_a_session_of_their_own() {
    let (interceptors, records) = deciding(|_| Verdict::allow());
    let below = ScriptedModel::new("below", |_| "42");
    let below = ReActAgent::builder("look").model(below).build().unwrap();
    let model = looking(json!({ "task": "Go" }));
    let agent = ReActAgent::builder("above").model(model);
    let agent = agent.tool(below.to_tool("Looks."));
    let agent = agent.hook(interceptors).build().unwrap();
    assert_eq!(agent.call("Go").await.unwrap().text(), "I read: 42");
    let mut sessions: Vec<_> = records.all().iter().map(|it| it.session_id.clone()).collect();
    sessions.dedup();
    assert_eq!(sessions.len(), 2);
}

#[tokio::test]
async fn an_interceptor_that_waits_stops_no_other_tool() {
    use tokio::sync::Barrier;

    // Both tool calls are at their interceptor at once, or this never ends.
    struct Both(Barrier);

    #[hooks_agent_interceptors::async_trait]
    impl agent_hooks::Interceptor for Both {
        async fn intercept(&self, context: &agent_hooks::AgentContext) -> Verdict {
            if context["interception_point"] == "pre_tool_call" {
                self.0.wait().await;
            }
            Verdict::allow()
        }
    }

    let (interceptors, _) = crate::support::with(Both(Barrier::new(2)));
    let model = ScriptedModel::new("scripted", |request| -> ScriptedAnswer {
        match request.messages.last().unwrap().tool_results().next() {
            Some(_) => "Done.".into(),
            None => ["1", "2"]
                .map(|id| ContentBlock::ToolUse(ToolUse::new(id, "look", json!({}))))
                .to_vec()
                .into(),
        }
    });
    let agent = ReActAgent::builder("looker").model(model).tool(look()).parallel_tools(true);
    let agent = agent.hook(interceptors).build().unwrap();
    assert_eq!(agent.call("Go").await.unwrap().text(), "Done.");
}
