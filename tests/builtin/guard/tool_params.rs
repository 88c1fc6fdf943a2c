//! `ToolParams`: the tool receives the values and nobody else.

use std::sync::{Arc, Mutex};

use futures::executor::block_on;
use hooks_agent_builtin::guard::ToolParams;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use serde_json::{Value, json};

use crate::everything::shown_of;

const SECRET: &str = "s3\"cr3t-\u{00fc}";

struct Tenant(&'static str);

/// A tool that notes what it receives, with hidden arguments.
fn noting() -> (FunctionTool, Arc<Mutex<Vec<Value>>>) {
    let inputs = Arc::new(Mutex::new(Vec::new()));
    let noted = inputs.clone();
    let tool = FunctionTool::new("echo", "Notes.", move |input: Value| {
        noted.lock().unwrap().push(input);
        async { "done" }
    });
    (tool, inputs)
}

/// Returns the input that the tool received and its result, of a call with this input of the model.
fn run(hook: impl AgentHook, written: Value) -> (Option<Value>, ToolResult) {
    run_call(hook, ToolUse::new("1", "echo", written))
}

fn run_call(hook: impl AgentHook, call: ToolUse) -> (Option<Value>, ToolResult) {
    let (tool, inputs) = noting();
    let script = Script::new().calls([call]).says("done");
    let agent = ReActAgent::builder("bot").model(script).tool(tool).hook(hook);
    let agent = agent.build().unwrap();
    block_on(agent.call_with(CallOptions::new().value(Tenant("acme")), "go")).unwrap();
    let history = agent.threads().memory("default").unwrap().messages();
    let result = history.iter().flat_map(Msg::tool_results).next().unwrap().clone();
    (inputs.lock().unwrap().pop(), result)
}

/// A tool that says its arguments in every way that it can.
fn gossip(fails: bool, seen: &Arc<Mutex<Vec<Value>>>) -> FunctionTool {
    let seen = seen.clone();
    FunctionTool::with_context("gossip", "Gossips.", move |input: Value, cx: ToolContext| {
        cx.progress(format!("with {} {}", input["key"].as_str().unwrap(), input["tenant"]));
        seen.lock().unwrap().push(input.clone());
        let said = format!("{} {input}", input["key"].as_str().unwrap());
        async move { if fails { Err(said) } else { Ok(said) } }
    })
}

#[test]
fn the_values_reach_the_tool_and_appear_nowhere_else() {
    for fails in [false, true] {
        let received = Arc::default();
        let params = ToolParams::new()
            .secret("key", SECRET.to_owned())
            .value("pin", 987_654)
            .from_context("tenant", |_| Some("acme-tenant"));
        let debug = format!("{params:?}");
        let script = Script::new().calls([ToolUse::new("1", "gossip", json!({ "q": 1 }))]);
        let script = script.says("done");
        let builder = ReActAgent::builder("bot").tool(gossip(fails, &received)).hook(params);
        let shown = debug + &block_on(shown_of(builder, script));
        let expected = json!({ "q": 1, "key": SECRET, "pin": 987_654, "tenant": "acme-tenant" });
        assert_eq!(*received.lock().unwrap(), [expected]);
        for secret in ["s3", "cr3t", "987654", "acme"] {
            assert!(!shown.contains(secret), "{secret} in {shown}");
        }
        // The order of the keys depends on a feature that other crates switch on.
        let input = json!({ "q": 1, "key": "[hidden]", "pin": "[hidden]", "tenant": "[hidden]" });
        let ran = format!(r#""ran":{{"id":"1","name":"gossip","input":{input}}}"#);
        assert!(shown.contains(&ran), "{shown}");
    }
}

#[test]
fn the_value_of_the_hook_wins_unless_the_model_may_choose() {
    let hook = ToolParams::new().value("tenant", "ours");
    let (input, _) = run(hook.clone(), json!({ "tenant": "theirs" }));
    assert_eq!(input, Some(json!({ "tenant": "ours" })));
    let (input, result) = run(hook.clone().model_wins(), json!({ "tenant": "theirs" }));
    assert_eq!((input, result.ran), (Some(json!({ "tenant": "theirs" })), None));
    let (input, _) = run(hook.model_wins(), json!({}));
    assert_eq!(input, Some(json!({ "tenant": "ours" })));
}

#[test]
fn a_value_of_the_context_that_is_missing_refuses_the_call() {
    struct Missing;

    let hook = ToolParams::new().from_context("user", |cx| cx.get::<Missing>().map(|_| "x"));
    let (input, result) = run(hook.clone(), json!({ "user": "root" }));
    assert_eq!((input, result.is_error), (None, true));
    assert_eq!(
        result.output,
        "the argument `user` of `echo` is missing in the context of the call"
    );
    // Without a value of the program, that of the model is not used either.
    let (input, _) = run(hook.clone().optional(), json!({ "user": "root", "q": 1 }));
    assert_eq!(input, Some(json!({ "q": 1 })));
    let (input, _) = run(hook.optional().model_wins(), json!({ "user": "root" }));
    assert_eq!(input, Some(json!({ "user": "root" })));
}

#[test]
fn a_closure_that_panics_refuses_the_call() {
    let hook = ToolParams::new().from_context("user", |_| -> Option<Value> { panic!("no user") });
    for hook in [hook.clone(), hook.optional()] {
        let (input, result) = run(hook, json!({}));
        assert_eq!((input, result.is_error), (None, true));
    }
}

#[test]
fn only_chosen_tools_receive_the_values() {
    let hook = ToolParams::new().value("key", "value");
    let (input, _) = run(hook.clone().for_tools(["other"]), json!({}));
    assert_eq!(input, Some(json!({})));
    let hook = hook.from_context("tenant", |cx| Some(cx.get::<Tenant>()?.0));
    let (input, _) = run(hook.for_tools(["other"]).for_tools(["echo"]), json!({}));
    assert_eq!(input, Some(json!({ "key": "value", "tenant": "acme" })));
}

#[test]
fn shown_values_are_shown_and_secrets_stay_hidden() {
    let hook = ToolParams::new().value("unit", "kelvin").secret("key", "hunter2".to_owned());
    let (input, result) = run(hook.shown(), json!({}));
    assert_eq!(input, Some(json!({ "unit": "kelvin", "key": "hunter2" })));
    assert_eq!(result.ran.unwrap().input, json!({ "unit": "kelvin", "key": "[hidden]" }));
}

#[test]
fn a_call_with_invalid_input_stays_as_it_is() {
    let hook = ToolParams::new().value("key", "value").from_context("no", |_| None::<Value>);
    let (input, result) = run_call(hook, ToolUse::invalid("1", "echo", "{oops"));
    assert_eq!((input, result.ran.clone()), (None, None));
    assert!(result.output.as_str().contains("are not a JSON object: {oops"), "{result:?}");
}

#[test]
fn hooks_of_earlier_priorities_see_the_call_of_the_model() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    let look = on(move |event: &mut PreActing<'_>| {
        log.lock().unwrap().push(event.tool_use().input.clone());
    });
    let (tool, inputs) = noting();
    let script = Script::new().calls([ToolUse::new("1", "echo", json!({ "q": 1 }))]).says("done");
    let agent = ReActAgent::builder("bot").model(script).tool(tool);
    let agent = agent.hook(ToolParams::new().value("key", "value")).hook(look.with_priority(900));
    block_on(agent.build().unwrap().call("go")).unwrap();
    assert_eq!(*seen.lock().unwrap(), [json!({ "q": 1 })]);
    assert_eq!(*inputs.lock().unwrap(), [json!({ "q": 1, "key": "value" })]);
}

#[test]
fn the_tools_of_a_sub_agent_receive_the_values_and_the_sub_agent_does_not() {
    let (tool, inputs) = noting();
    let inner = Script::new().calls([ToolUse::new("1", "echo", json!({}))]).says("done");
    let helper = ReActAgent::builder("helper").model(inner.clone()).tool(tool);
    let helper = helper.build().unwrap().to_tool("Helps");
    let script = Script::new().calls([ToolUse::new("1", "helper", json!({ "task": "x" }))]);
    let hook = ToolParams::new().secret("key", "hunter2".to_owned());
    let agent = ReActAgent::builder("bot").model(script.says("done")).tool(helper).hook(hook);
    block_on(agent.build().unwrap().call("go")).unwrap();
    assert_eq!(*inputs.lock().unwrap(), [json!({ "key": "hunter2" })]);
    assert!(!format!("{:?}", inner.requests()).contains("hunter2"));
}

#[test]
fn parallel_calls_each_receive_the_values() {
    let (tool, inputs) = noting();
    let calls = (0..64).map(|n| ToolUse::new(n.to_string(), "echo", json!({ "n": n })));
    let script = Script::new().calls(calls).says("done");
    let agent = ReActAgent::builder("bot").model(script).tool(tool).parallel_tools(true);
    let agent = agent.hook(ToolParams::new().value("key", "value")).build().unwrap();
    block_on(agent.call("go")).unwrap();
    let inputs = inputs.lock().unwrap();
    assert_eq!(inputs.len(), 64);
    assert!(inputs.iter().all(|input| input["key"] == "value"));
}

#[test]
fn the_model_does_not_see_the_arguments_in_the_schema() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Search {
        q: String,
        key: String,
    }

    let schema_of = |params: ToolParams| {
        let search = FunctionTool::new("search", "Searches.", async |input: Search| {
            format!("{} {}", input.q, input.key.len())
        });
        let calls = [ToolUse::new("1", "search", json!({ "q": "rust" }))];
        let script = Arc::new(Script::new().calls(calls).says("done"));
        let agent = ReActAgent::builder("bot").model(script.clone()).tool(search).hook(params);
        let agent = agent.build().unwrap();
        block_on(agent.call("go")).unwrap();
        let history = agent.threads().memory("default").unwrap().messages();
        let result = history.iter().flat_map(Msg::tool_results).next().unwrap().output.to_string();
        (script.requests()[0].tools[0].schema.clone(), result)
    };
    let (schema, result) = schema_of(ToolParams::new().value("key", "s3cr3t"));
    assert_eq!((&schema["required"], result.as_str()), (&json!(["q"]), "rust 6"));
    assert!(schema["properties"].get("key").is_none() && schema["properties"].get("q").is_some());
    let (schema, _) = schema_of(ToolParams::new().value("key", "s3cr3t").model_wins());
    assert_eq!(schema["required"], json!(["q", "key"]));
    let (schema, _) = schema_of(ToolParams::new().value("key", "s3cr3t").for_tools(["other"]));
    assert_eq!(schema["required"], json!(["q", "key"]));
}
