//! A run as a tape, and the whole requests that it is made of.

use std::sync::Arc;
use std::time::Duration;

use hooks_agent_builtin::guard::PiiDetection;
use hooks_agent_builtin::recover::{ModelRetry, RetryPolicy};
use hooks_agent_core::error::AgentError;
use hooks_agent_core::hook::{ModelAttempt, NextAttempt};
use hooks_agent_core::model::{ModelAnswer, ModelError};
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_core::testing::{Calls, Script};
use hooks_agent_replay::{Drift, Tape};
use hooks_agent_studio::Studio;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::support::{Browser, MAIL, open, says};

/// The answer to a request for the tape of the newest run that is part of no other.
async fn taped(browser: &Browser) -> (u16, String) {
    let runs = browser.runs().await;
    let run = runs.iter().find(|run| run["parent"].is_null()).unwrap();
    let path = format!("/api/runs/{}/tape", run["run"].as_str().unwrap());
    let answer = browser.get(&path).await;
    (answer.status().as_u16(), answer.text().await.unwrap())
}

/// Replays a tape with an agent whose model and tools must not be asked, and returns what differs.
async fn replayed(
    tape: &str,
    build: impl FnOnce(ReActAgentBuilder) -> ReActAgentBuilder,
    input: &str,
) -> Result<(String, Drift), AgentError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.tape");
    std::fs::write(&path, tape).unwrap();
    let tape = Tape::replay(&path).strict().open().unwrap();
    let dead = ScriptedModel::new("script", |_| ModelError::status("script", 400));
    let builder = build(ReActAgent::builder("clerk").model(dead)).hook(tape.clone());
    let reply = builder.build().unwrap().call(input).await?;
    Ok((reply.text(), tape.finish().unwrap()))
}

fn kept() -> Studio {
    Studio::new().show_requests(true)
}

fn read(id: &str, path: &str) -> ToolUse {
    ToolUse::new(id, "read", json!({ "path": path }))
}

#[tokio::test]
async fn a_run_is_a_tape_that_is_replayed_without_a_difference() {
    let guard = || {
        on(|event: &mut PreActing<'_>| {
            let is_secret = event.tool_use().input["path"] == "secret";
            if is_secret { event.refuse("not this one") } else { Flow::Continue }
        })
    };
    let build = |builder: ReActAgentBuilder, read: Calls| {
        builder.system_prompt("You read files.").tool(read).hook(guard().named("guard"))
    };
    let script = Script::new()
        .turn(vec![ContentBlock::text("I look."), ContentBlock::ToolUse(read("1", "a \"b\""))])
        .calls([read("2", "gone"), read("3", "secret")])
        .says("It says \"text\".");
    let tool = || Calls::new("read").answers("text").fails("no such file");
    let studio = kept();
    let builder = ReActAgent::builder("clerk").model(script).hook(studio.hook());
    let agent = build(builder, tool()).build().unwrap();
    let browser = open(&studio).await;
    let reply = agent.call("What does it say?").await.unwrap().text();

    let (status, tape) = taped(&browser).await;

    assert_eq!(status, 200, "{tape}");
    let never = Calls::new("read");
    let (again, drift) =
        replayed(&tape, |builder| build(builder, never.clone()), "What does it say?")
            .await
            .unwrap();
    assert_eq!(again, reply);
    drift.assert_no_drift();
    never.assert_called_with([] as [Value; 0]);
    // Without the guard, the tool would run, which the tape does not have.
    let builder = |builder: ReActAgentBuilder| {
        builder.system_prompt("You read files.").tool(Calls::new("read").answers("text"))
    };
    let error = replayed(&tape, builder, "What does it say?").await.unwrap_err();
    assert!(format!("{error:?}").contains("NoEntry"), "{error:?}");
}

#[tokio::test]
async fn sub_agents_are_on_the_tape_of_the_run_that_asked_them() {
    let build = |builder: ReActAgentBuilder, poet: ScriptedModel| {
        let poet = ReActAgent::builder("poet").model(poet).build().unwrap();
        builder.tool(poet.to_tool("Writes."))
    };
    let asks = ToolUse::new("1", "poet", json!({ "task": "Write" }));
    let script = Script::new().calls([asks]).says("Here it is.");
    let studio = kept();
    let builder = ReActAgent::builder("clerk").model(script).hook(studio.hook());
    let agent = build(builder, says("A poem.")).build().unwrap();
    let browser = open(&studio).await;
    agent.call("A poem").await.unwrap();

    let (status, tape) = taped(&browser).await;

    assert_eq!(status, 200, "{tape}");
    let dead = ScriptedModel::new("script", |_| ModelError::status("script", 400));
    let (reply, drift) = replayed(&tape, |builder| build(builder, dead), "A poem").await.unwrap();
    assert_eq!(reply, "Here it is.");
    drift.assert_no_drift();
}

#[tokio::test]
async fn a_replay_goes_on_with_the_answer_that_a_hook_tried_again_for() {
    let script = Script::new().fails(ModelError::status("script", 503)).says("Done.");
    let studio = kept();
    let agent = ReActAgent::builder("clerk").model(script);
    let policy = RetryPolicy::new().initial_delay(Duration::ZERO);
    let agent = agent.hook(ModelRetry::with(policy).unwrap()).hook(studio.hook()).build().unwrap();
    let browser = open(&studio).await;
    agent.call("Go").await.unwrap();
    let (status, tape) = taped(&browser).await;
    assert_eq!(status, 200, "{tape}");
    let (reply, drift) =
        replayed(&tape, |builder| builder.hook(ModelRetry::new()), "Go").await.unwrap();
    assert_eq!(reply, "Done.");
    drift.assert_no_drift();
}

#[tokio::test]
async fn a_run_that_failed_is_replayed_with_all_of_its_attempts() {
    let retry = || {
        let policy = RetryPolicy::new().max_retries(2).initial_delay(Duration::ZERO);
        ModelRetry::with(policy).unwrap()
    };
    let studio = kept();
    let down = ScriptedModel::new("script", |_| ModelError::status("script", 503));
    let agent = ReActAgent::builder("clerk").model(down).hook(retry()).hook(studio.hook());
    let agent = agent.build().unwrap();
    let browser = open(&studio).await;
    agent.call("Go").await.unwrap_err();
    let (status, tape) = taped(&browser).await;
    assert_eq!(status, 200, "{tape}");
    assert_eq!(tape.matches("\"t\":\"model\"").count(), 3);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.tape");
    std::fs::write(&path, tape).unwrap();
    let tape = Tape::replay(&path).strict().open().unwrap();
    let agent = ReActAgent::builder("clerk").model(says("Never.")).hook(retry());
    let agent = agent.hook(tape.clone()).build().unwrap();
    agent.call("Go").await.unwrap_err();
    tape.finish().unwrap().assert_no_drift();
}

#[tokio::test]
async fn tools_at_once_and_hooks_before_the_call_are_replayed_as_they_were() {
    let add = || on(|event: &mut PreCall<'_>| event.messages_mut().push(Msg::user("Be brief.")));
    let build = |builder: ReActAgentBuilder, slow: Arc<Notify>| {
        let quick = slow.clone();
        let slow = FunctionTool::new("slow", "Waits.", move |_: Value| {
            let slow = slow.clone();
            async move {
                slow.notified().await;
                "late"
            }
        });
        let quick = FunctionTool::new("quick", "Is quick.", move |_: Value| {
            quick.notify_one();
            async { "early" }
        });
        builder.tool(slow).tool(quick).parallel_tools(true).hook(add().named("brief"))
    };
    let calls = ["slow", "quick"].map(|name| ToolUse::new(name, name, json!({})));
    let studio = kept();
    let builder = ReActAgent::builder("clerk").model(Script::new().calls(calls).says("Done."));
    let agent = build(builder, Arc::new(Notify::new())).hook(studio.hook()).build().unwrap();
    let browser = open(&studio).await;
    agent.call("Go").await.unwrap();
    let (status, tape) = taped(&browser).await;
    assert_eq!(status, 200, "{tape}");
    let never = Arc::new(Notify::new());
    let (reply, drift) = replayed(&tape, |builder| build(builder, never), "Go").await.unwrap();
    assert_eq!(reply, "Done.");
    drift.assert_no_drift();
}

#[tokio::test]
async fn a_call_that_a_hook_ended_before_it_began_is_no_tape() {
    let studio = kept();
    let refuse = on(|_: &mut PreCall<'_>| -> HookResult { Err("not today".into()) });
    let agent = ReActAgent::builder("clerk").model(says("Never.")).hook(refuse);
    let agent = agent.hook(studio.hook()).build().unwrap();
    let browser = open(&studio).await;
    agent.call("Go").await.unwrap_err();
    let (status, said) = taped(&browser).await;
    assert_eq!(status, 409);
    assert!(said.contains("before it began"), "{said}");
}

/// Removes the secret from what one provider is sent.
struct Cleans;

#[hooks_agent_core::agent_hook(priority = 700, role = hooks_core::HookRole::Redacts)]
impl Cleans {
    async fn around_model_attempt(
        &self,
        mut attempt: ModelAttempt<'_>,
        next: NextAttempt<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        attempt.request_mut().messages = Msg::user("***").into();
        next.run(attempt.into_request()).await
    }
}

#[tokio::test]
async fn a_request_that_a_redactor_changes_after_the_studio_is_not_kept() {
    let studio = kept();
    let agent = ReActAgent::builder("clerk").model(says("Done.")).hook(Cleans);
    let agent = agent.hook(studio.hook()).build().unwrap();
    let browser = open(&studio).await;
    agent.call("Go").await.unwrap();
    let run = browser.newest().await;
    let mut entries = run["entries"].as_array().unwrap().iter();
    let request = entries.rfind(|it| it["type"] == "model_request").unwrap();
    let sizes = json!({ "hidden": true, "number": 1, "attempt": 1, "messages": 1 });
    assert_eq!(request["data"], sizes);
    assert_eq!(taped(&browser).await.0, 409);
}

#[tokio::test]
async fn what_is_not_kept_makes_no_tape() {
    for (studio, why) in [
        (Studio::new(), "show_requests(true)"),
        (kept().show_content(false), "hidden"),
        (kept().capacity(10, 4, 1 << 20), "dropped"),
    ] {
        let agent = ReActAgent::builder("clerk").model(says("Done.")).hook(studio.hook());
        let agent = agent.build().unwrap();
        let browser = open(&studio).await;
        agent.call(MAIL).await.unwrap();
        let (status, said) = taped(&browser).await;
        assert_eq!(status, 409);
        assert!(said.contains("not_taped") && said.contains(why), "{said}");
        assert!(!said.contains(MAIL));
    }
    let browser = open(&kept()).await;
    let path = "/api/runs/6f1c2d3e-0a4b-4c5d-8e6f-708192a3b4c5/tape";
    assert_eq!(browser.get(path).await.status(), 404);
}

#[tokio::test]
async fn what_redactors_removed_is_on_no_tape() {
    let studio = kept().show_removed(true);
    let agent = ReActAgent::builder("clerk").model(says("I write to bob@example.com."));
    let agent = agent.hook(PiiDetection::all().everywhere()).hook(studio.hook()).build().unwrap();
    let browser = open(&studio).await;
    agent.call(format!("Write to {MAIL}")).await.unwrap();
    let (status, tape) = taped(&browser).await;
    assert_eq!(status, 200, "{tape}");
    assert!(!tape.contains("@example.com"), "{tape}");
    // Of what no hook removed, a tape redacts what tapes redact.
    let studio = kept();
    let agent = ReActAgent::builder("clerk").model(says("Done.")).hook(studio.hook());
    let agent = agent.build().unwrap();
    let browser = open(&studio).await;
    agent.call(format!("Write to {MAIL}")).await.unwrap();
    let (_, tape) = taped(&browser).await;
    assert!(tape.contains("<email:1>") && !tape.contains(MAIL), "{tape}");
}

#[tokio::test]
async fn each_request_is_written_as_its_difference_to_the_one_before() {
    let script = Script::new().calls([read("1", "a")]).says("Done.");
    let studio = kept();
    let agent = ReActAgent::builder("clerk").system_prompt("You read files.").model(script);
    let agent = agent.tool(Calls::new("read").answers("text")).hook(studio.hook());
    let agent = agent.build().unwrap();
    let browser = open(&studio).await;
    agent.call("Read a").await.unwrap();

    let run = browser.newest().await;

    let entries = run["entries"].as_array().unwrap().iter();
    let requests: Vec<_> =
        entries.filter(|it| it["type"] == "model_request").map(|it| &it["data"]).collect();
    let [first, second] = requests.as_slice() else { panic!("{requests:?}") };
    let roles = |request: &Value| {
        let messages = request["messages"].as_array().unwrap().iter();
        messages.map(|it| it.get("role").unwrap_or(it).clone()).collect::<Vec<_>>()
    };
    assert_eq!(roles(first), [json!("system"), json!("user")]);
    assert_eq!(first["tools"][0]["name"], "read");
    assert_eq!(roles(second), [json!([0, 2]), json!("assistant"), json!("tool")]);
    assert_eq!((&second["tools"], &second["options"]), (&Value::Null, &Value::Null));
}
