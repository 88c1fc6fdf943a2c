//! Other hooks on the page: their runs, their changes and the plan.

use hooks_agent_builtin::guard::PiiDetection;
use hooks_agent_core::HookRole;
use hooks_agent_core::prelude::*;
use hooks_agent_studio::Studio;
use serde_json::{Value, json};

use crate::support::{Browser, calls_then, open, says};

/// Returns what hooks did in the newest run.
async fn hooks_of(studio: &Studio, agent: &ReActAgent, message: &str) -> Vec<Value> {
    let browser = open(studio).await;
    let _ = agent.call(message).await;
    let run = browser.newest().await;
    let entries = run["entries"].as_array().unwrap();
    entries.iter().filter(|it| it["type"] == "hook").map(|it| it["data"].clone()).collect()
}

fn of<'h>(hooks: &'h [Value], hook: &str, event: &str) -> &'h Value {
    let found = hooks.iter().find(|it| it["hook"] == hook && it["event"] == event);
    found.unwrap_or_else(|| panic!("no {hook} at {event}: {hooks:#?}"))
}

fn sets(path: &'static str) -> impl AgentHook {
    on(move |event: &mut PreActing<'_>| event.tool_use_mut().input["path"] = path.into())
}

#[tokio::test]
async fn a_change_is_shown_as_the_event_ended_with_it() {
    let studio = Studio::new();
    let agent = ReActAgent::builder("clerk")
        .model(calls_then("read", json!({ "path": "a" }), "Done."))
        .tool(FunctionTool::new("read", "Reads.", async |_: Value| "text"))
        .hook(sets("b").named("first"))
        .hook(sets("c").named("second").with_role(HookRole::Limits))
        .hook(studio.hook())
        .build()
        .unwrap();

    let hooks = hooks_of(&studio, &agent, "Go").await;

    // Another hook replaced the value of the first one.
    let first = of(&hooks, "first", "PRE_ACTING");
    assert_eq!(
        first["changed"],
        json!([{ "path": "tool_use.input.path", "before_chars": 1, "after_chars": 1, "hidden": true }])
    );
    let second = of(&hooks, "second", "PRE_ACTING");
    assert_eq!(
        second["changed"],
        json!([{
            "path": "tool_use.input.path",
            "before_chars": 1,
            "after": "c",
            "after_chars": 1,
            "hidden": true,
        }])
    );
    assert_eq!(
        (&second["level"], &second["priority"], &second["role"], &second["flow"]),
        (&json!("instance"), &json!(100), &json!("limits"), &json!("continue"))
    );
    assert_eq!(second["tool_call"], "call-1");
    assert!(second["us"].is_u64());
}

#[tokio::test]
async fn replaced_values_are_shown_if_the_program_wants_it() {
    let studio = Studio::new().show_removed(true);
    let agent = ReActAgent::builder("clerk")
        .model(calls_then("read", json!({ "path": "a" }), "Done."))
        .tool(FunctionTool::new("read", "Reads.", async |_: Value| "text"))
        .hook(sets("b").named("set"))
        .hook(studio.hook())
        .build()
        .unwrap();

    let hooks = hooks_of(&studio, &agent, "Go").await;

    let set = of(&hooks, "set", "PRE_ACTING");
    assert_eq!(
        set["changed"],
        json!([{
            "path": "tool_use.input.path",
            "before": "a",
            "before_chars": 1,
            "after": "b",
            "after_chars": 1,
            "hidden": false,
        }])
    );
}

#[tokio::test]
async fn what_hooks_did_before_a_redactor_is_hidden_even_then() {
    let studio = Studio::new().show_removed(true);
    let add = on(|event: &mut PreCall<'_>| {
        let text = format!("{} from bob@example.com", event.messages()[0].text());
        event.set_messages(Msg::user(text));
    });
    let sign = on(|event: &mut PreCall<'_>| {
        let text = format!("{} (signed)", event.messages()[0].text());
        event.set_messages(Msg::user(text));
    });
    let agent = ReActAgent::builder("clerk")
        .model(says("Done."))
        .hook(add.named("add").with_priority(1))
        .hook(PiiDetection::all())
        .hook(sign.named("sign"))
        .hook(studio.hook())
        .build()
        .unwrap();

    let hooks = hooks_of(&studio, &agent, "to ada@example.com").await;

    let add = &of(&hooks, "add", "PRE_CALL")["changed"][0];
    assert_eq!((add.get("before"), add.get("after")), (None, None), "{add}");
    let redactor = hooks.iter().find(|it| it["role"] == "redacts" && it["event"] == "PRE_CALL");
    let change = &redactor.unwrap()["changed"][0];
    assert_eq!(change.get("before"), None, "{change}");
    let sign = &of(&hooks, "sign", "PRE_CALL")["changed"][0];
    assert_eq!(sign["before"], "to [REDACTED_EMAIL] from [REDACTED_EMAIL]");
    assert_eq!(sign["after"], "to [REDACTED_EMAIL] from [REDACTED_EMAIL] (signed)");
}

#[tokio::test]
async fn values_at_an_event_whose_end_nobody_saw_are_hidden() {
    let studio = Studio::new().show_removed(true);
    let add = on(|event: &mut PreCall<'_>| event.append_system("words"));
    let fail = on(|_: &mut PreCall<'_>| -> HookResult { Err("no".into()) });
    let agent = ReActAgent::builder("clerk")
        .model(says("Done."))
        .hook(add.named("add"))
        .hook(fail.named("fail"))
        .hook(studio.hook())
        .build()
        .unwrap();

    let browser = open(&studio).await;
    agent.call("Go").await.unwrap_err();
    let run = browser.newest().await;

    let entries = run["entries"].as_array().unwrap();
    let hooks: Vec<_> =
        entries.iter().filter(|it| it["type"] == "hook").map(|it| &it["data"]).collect();
    assert_eq!((&hooks[0]["hook"], &hooks[1]["hook"]), (&json!("add"), &json!("fail")));
    assert_eq!(hooks[0]["changed"][0]["hidden"], true);
    assert!(!run.to_string().contains("words"), "{run:#}");
    assert_eq!(hooks[1]["flow"], "failed");
    // The run is there, although the studio saw only its end.
    assert_eq!(run["runs"][0]["state"], "failed");
    assert_eq!(run["runs"][0]["error"], "hook");
}

#[tokio::test]
async fn a_hook_that_answers_before_the_studio_is_seen() {
    let studio = Studio::new();
    let answer = on(|event: &mut PreCall<'_>| event.answer(Msg::assistant("clerk", "Closed.")));
    let agent = ReActAgent::builder("clerk")
        .model(says("Done."))
        .hook(answer.named("closed"))
        .hook(studio.hook())
        .build()
        .unwrap();

    let hooks = hooks_of(&studio, &agent, "Go").await;

    assert_eq!(of(&hooks, "closed", "PRE_CALL")["flow"], "answer");
}

#[tokio::test]
async fn flows_of_tools_are_named() {
    let studio = Studio::new();
    let refuse = on(|event: &mut PreActing<'_>| event.refuse("no"));
    let agent = ReActAgent::builder("clerk")
        .model(calls_then("read", json!({}), "Done."))
        .tool(FunctionTool::new("read", "Reads.", async |_: Value| "text"))
        .hook(refuse.named("guard"))
        .hook(studio.hook())
        .build()
        .unwrap();

    let hooks = hooks_of(&studio, &agent, "Go").await;

    let guard = of(&hooks, "guard", "PRE_ACTING");
    assert_eq!((&guard["flow"], &guard["tool_call"]), (&json!("refuse"), &json!("call-1")));
}

/// Returns the chunks of an answer, of an agent with a hook.
async fn chunks(studio: &Studio, hook: impl AgentHook) -> Vec<Value> {
    let agent = ReActAgent::builder("clerk").model(says("one two")).hook(hook);
    let agent = agent.hook(studio.hook()).build().unwrap();
    let browser = open(studio).await;
    agent.call("Go").await.unwrap();
    let run = browser.newest().await;
    let entries = run["entries"].as_array().unwrap().iter();
    let chunks = entries.filter(|it| it["type"] == "reasoning_chunk");
    chunks.map(|it| it["data"].clone()).collect()
}

#[tokio::test]
async fn answers_are_shown_as_drafts_unless_hooks_may_change_them() {
    let look = || on(|_: &PostReasoning<'_>| ());
    let text = |text: &str| json!({ "type": "text", "text": text });
    let hidden = json!({ "type": "text", "hidden": true, "chars": 4 });

    let studio = Studio::new();
    assert_eq!(chunks(&studio, look().named("look")).await[0], hidden);
    let studio = Studio::new();
    let seen = chunks(&studio, look().with_role(HookRole::Observes)).await;
    assert_eq!(seen, [text("one "), text("two")]);
    let studio = Studio::new().show_drafts(true);
    assert_eq!(chunks(&studio, look().named("look")).await, [text("one "), text("two")]);
    // A redactor of chunks does its work before they are shown; one of whole answers does not.
    let studio = Studio::new();
    let pii = chunks(&studio, PiiDetection::all().everywhere()).await;
    assert!(pii.iter().all(|chunk| chunk.get("hidden").is_none()), "{pii:?}");
    let studio = Studio::new();
    assert_eq!(chunks(&studio, look().with_role(HookRole::Redacts)).await[0], hidden);
}

#[tokio::test]
async fn a_draft_that_hooks_changed_is_taken_back() {
    let studio = Studio::new().show_drafts(true);
    let brief = on(|event: &mut PostReasoning<'_>| event.set_message(Msg::assistant("c", "short")));
    let agent = ReActAgent::builder("clerk")
        .model(says("long words"))
        .hook(brief.named("brief"))
        .hook(studio.hook())
        .build()
        .unwrap();
    let browser = open(&studio).await;

    agent.call("Go").await.unwrap();

    let run = browser.newest().await.to_string();
    assert!(run.contains("short") && !run.contains("long"), "{run}");
}

#[tokio::test]
async fn the_plan_names_hooks_in_order_and_its_warnings() {
    let studio = Studio::new();
    let late = on(|_: &mut PreCall<'_>| ()).with_priority(700).with_role(HookRole::Redacts);
    let agent = ReActAgent::builder("clerk")
        .model(says("Done."))
        .hook(studio.hook())
        .hook(late.named("late"))
        .build()
        .unwrap();
    let browser = open(&studio.agent(std::sync::Arc::new(agent))).await;

    let plan = browser.json("/api/plan/clerk").await;

    let first: Vec<_> = plan["hooks"].as_array().unwrap().iter().take(2).collect();
    assert_eq!(
        (&first[0]["hook_type"], &first[0]["name"], &first[0]["role"], &first[0]["priority"]),
        (&json!("pre_reply"), &json!("Studio"), &json!("observes"), &json!(600))
    );
    assert_eq!(first[1]["name"], "late");
    assert!(plan["warnings"][0].as_str().unwrap().contains("`late`"), "{plan}");
    let agents = browser.json("/api/agents").await;
    assert_eq!(
        agents["agents"],
        json!([{ "name": "clerk", "tools": [], "chat": false, "steers": false, "decides": true, "forks": false }])
    );
    assert_eq!(browser.get("/api/plan/nobody").await.status(), 404);
}

#[tokio::test]
async fn a_studio_of_another_name_shows_no_drafts_that_a_hook_may_change() {
    let studio = Studio::new();
    let browser = open(&studio).await;
    let look = on(|_: &PostReasoning<'_>| ()).with_role(HookRole::Observes).with_priority(-500);
    let agent = ReActAgent::builder("clerk")
        .model(says("long words"))
        .hook(look.named("look"))
        .hook(Brief(browser.clone()))
        .hook(studio.hook().named("live"))
        .build()
        .unwrap();

    agent.call("Go").await.unwrap();

    assert!(browser.newest().await.to_string().contains("short"));
}

/// Replaces an answer that the page does not show yet.
struct Brief(Browser);

#[agent_hook]
impl Brief {
    async fn replace(&self, event: &mut PostReasoning<'_>) {
        let seen = self.0.newest().await.to_string();
        assert!(seen.contains("reasoning_chunk") && !seen.contains("long"), "{seen}");
        event.set_message(Msg::assistant("c", "short"));
    }
}

#[tokio::test]
async fn a_hook_in_shadow_is_a_row_of_what_it_would_have_done() {
    let studio = Studio::new();
    let refuses = on(|event: &mut PreActing<'_>| event.refuse("hunter2"));
    let refuses = refuses.named("refuses").in_shadow();
    let edits = sets("hunter2").named("edits").in_shadow();
    let (first, second) = (refuses.clone(), edits.clone());
    // The run is open until they have caught up.
    let wait = hooks_agent_core::on!(async move |_: &mut PostCall<'_>| {
        first.caught_up().await;
        second.caught_up().await;
    });
    let agent = ReActAgent::builder("clerk")
        .model(calls_then("read", json!({ "path": "a" }), "Done."))
        .tool(FunctionTool::new("read", "Reads.", async |_: Value| "text"))
        .hook(refuses)
        .hook(edits)
        .hook(wait)
        .hook(studio.hook())
        .build()
        .unwrap();

    let hooks = hooks_of(&studio, &agent, "Go").await;

    let row = of(&hooks, "refuses", "PRE_ACTING");
    assert_eq!((&row["shadow"], &row["flow"]), (&json!(true), &json!("refuse")));
    let edited = of(&hooks, "edits", "PRE_ACTING");
    assert_eq!(edited["changed"], json!([{ "path": "tool_use.input.*", "hidden": false }]));
    let shown = serde_json::to_string(&hooks).unwrap();
    assert!(!shown.contains("hunter2"), "{shown}");
}

#[tokio::test]
async fn a_hook_in_shadow_that_ends_after_its_call_begins_no_run() {
    let studio = Studio::new();
    let gate = std::sync::Arc::new(tokio::sync::Notify::new());
    let opens = gate.clone();
    let slow = hooks_agent_core::on!(async move |event: &mut PostCall<'_>| {
        opens.notified().await;
        event.final_message_mut().push_text("!");
    });
    let slow = slow.named("slow").in_shadow();
    let agent = ReActAgent::builder("clerk").model(says("Done.")).hook(slow.clone());
    let agent = agent.hook(studio.hook()).build().unwrap();
    let browser = open(&studio).await;
    agent.call("Go").await.unwrap();
    gate.notify_one();
    slow.caught_up().await;
    assert_eq!(slow.counts().changed, 1);
    assert_eq!(browser.runs().await[0]["state"], "finished");
    let entries = browser.newest().await["entries"].clone();
    let started = entries.as_array().unwrap().iter().filter(|it| it["type"] == "started").count();
    assert_eq!(started, 1, "{entries:#}");
}

#[tokio::test]
async fn what_a_hook_in_shadow_decides_after_the_end_of_a_call_is_a_row_of_it() {
    let studio = Studio::new();
    let gate = std::sync::Arc::new(tokio::sync::Notify::new());
    let opens = gate.clone();
    let slow = hooks_agent_core::on!(async move |event: &mut PreActing<'_>| -> Flow {
        opens.notified().await;
        event.refuse("no")
    });
    let slow = slow.named("slow").in_shadow();
    let agent = ReActAgent::builder("clerk")
        .model(calls_then("read", json!({ "path": "a" }), "Done."))
        .tool(FunctionTool::new("read", "Reads.", async |_: Value| "text"))
        .hook(slow.clone())
        .hook(studio.hook())
        .build()
        .unwrap();
    let browser = open(&studio).await;
    agent.call("Go").await.unwrap();
    gate.notify_one();
    slow.caught_up().await;
    let run = browser.newest().await;
    let rows = run["entries"].as_array().unwrap().iter().filter(|it| it["type"] == "hook");
    let rows: Vec<_> = rows.map(|it| (&it["data"]["hook"], &it["data"]["flow"])).collect();
    assert_eq!(rows, [(&json!("slow"), &json!("refuse"))]);
    assert_eq!(browser.runs().await[0]["state"], "finished");
}
