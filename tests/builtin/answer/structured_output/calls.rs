//! Typed calls of one agent, which has no hook for it.

use std::sync::Arc;

use futures::executor::block_on;
use futures::future::join_all;
use hooks_agent_builtin::answer::{StructuredOutput, TypedCalls};
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Calls, Script};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::structured_output::{GOOD, Invoice, bot, invoice};

#[test]
fn a_typed_call_returns_the_value_and_its_reply() {
    let agent = bot(&Script::new().says(GOOD));
    let typed = block_on(agent.call_typed::<Invoice>("Read it")).unwrap();
    assert_eq!(typed.value, invoice());
    assert_eq!(typed.number, 7);
    assert_eq!(typed.reply.text(), GOOD);
}

#[test]
fn a_typed_call_is_part_of_the_conversation() {
    let script = Script::new().says("Hello.").says(GOOD).says("It was invoice 7.");
    let agent = bot(&script);
    block_on(async {
        agent.call("Hi").await.unwrap();
        agent.call_typed::<Invoice>("Read it").await.unwrap();
        agent.call("Which one?").await.unwrap();
    });
    assert_eq!(agent.memory().messages().len(), 6);
    let requests = script.requests();
    assert_eq!(requests[2].messages.len(), 5);
    assert_eq!(requests[2].options, requests[0].options);
    assert_eq!((requests[0].tools.len(), requests[2].tools.len()), (0, 0));
}

#[test]
fn typed_and_untyped_calls_of_one_agent_overlap() {
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Mood {
        mood: String,
    }
    // Who asks for a schema gets what fits it.
    let model = ScriptedModel::new("by schema", |request| {
        match serde_json::to_string(&*request.options).unwrap() {
            options if options.contains("Invoice") => GOOD,
            options if options.contains("Mood") => r#"{"mood":"fine"}"#,
            _ => "Just words.",
        }
    });
    let agent = Arc::new(ReActAgent::builder("bot").model(model).build().unwrap());
    let calls = (0..24).map(|number| {
        let agent = agent.clone();
        let options = CallOptions::new().thread(format!("{}", number % 8));
        async move {
            match number % 3 {
                0 => {
                    let typed = agent.call_typed_with::<Invoice>(options, "Read it").await;
                    assert_eq!(typed.unwrap().value, invoice());
                }
                1 => {
                    let typed = agent.call_typed_with::<Mood>(options, "How are you?").await;
                    assert_eq!(typed.unwrap().value, Mood { mood: "fine".to_owned() });
                }
                _ => {
                    let reply = agent.call_with(options, "Talk").await.unwrap();
                    assert_eq!(reply.text(), "Just words.");
                }
            }
        }
    });
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async { join_all(calls.map(tokio::spawn)).await }).into_iter().for_each(
        |it| {
            it.unwrap();
        },
    );
    let threads =
        (0..8).map(|number| agent.threads().memory(&number.to_string()).unwrap().messages().len());
    assert_eq!(threads.sum::<usize>(), 48);
}

#[test]
fn hooks_of_the_agent_run_in_a_typed_call() {
    let count = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counted = count.clone();
    let hook = on(move |_: &mut PostCall<'_>| {
        counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    });
    let script = Script::new().says(GOOD).says("words");
    let agent = ReActAgent::builder("bot").model(script).hook(hook).build().unwrap();
    block_on(agent.call_typed::<Invoice>("Read it")).unwrap();
    block_on(agent.call("Talk")).unwrap();
    assert_eq!(count.load(std::sync::atomic::Ordering::Relaxed), 2);
}

#[test]
fn a_sub_agent_answers_in_words() {
    let poet = Script::new().says("Roses are red.");
    let tool = ReActAgent::builder("poet").model(poet.clone()).build().unwrap().to_tool("Poems");
    let call = ToolUse::new("1", "poet", json!({ "task": "a poem" }));
    let script = Script::new().calls([call]).calls([answer(GOOD)]);
    let agent = ReActAgent::builder("bot").model(script.clone()).tool(tool).build().unwrap();
    assert_eq!(block_on(agent.call_typed::<Invoice>("Go")).unwrap().value, invoice());
    assert!(poet.requests()[0].tools.is_empty());
    let results: Vec<_> =
        script.requests()[1].messages.iter().flat_map(Msg::tool_results).cloned().collect();
    assert_eq!(results[0].output, "Roses are red.");
}

fn answer(json: &str) -> ToolUse {
    ToolUse::new("9", StructuredOutput::TOOL_NAME, serde_json::from_str(json).unwrap())
}

#[test]
fn one_hook_serves_two_agents_and_every_call_of_them() {
    let output = StructuredOutput::of::<Invoice>().build().unwrap();
    let agents: Vec<_> = (0..2)
        .map(|_| {
            let script = Script::new().says("no").says(GOOD).says("no").says("no").says(GOOD);
            ReActAgent::builder("bot").model(script).hook(output.clone()).build().unwrap()
        })
        .collect();
    for agent in agents.iter().chain(&agents) {
        let reply = block_on(agent.call("Read it")).unwrap();
        assert_eq!(reply.text(), GOOD);
        assert_eq!(output.typed::<Invoice>(reply).unwrap().value, invoice());
    }
}

#[test]
fn a_typed_call_goes_before_the_type_of_the_agent() {
    let output = StructuredOutput::of::<Invoice>().build().unwrap();
    let script = Script::new().says(r#"{"answer":[1,2]}"#).says(GOOD);
    let agent = ReActAgent::builder("bot").model(script).hook(output).build().unwrap();
    assert_eq!(block_on(agent.call_typed::<Vec<u32>>("Count")).unwrap().value, [1, 2]);
    assert_eq!(block_on(agent.call("Read it")).unwrap().text(), GOOD);
}

#[test]
fn a_schema_without_a_type_is_read_as_any_type() {
    let schema = json!({ "type": "object", "required": ["number"] });
    let output = StructuredOutput::with_schema("Anything", schema).build().unwrap();
    let agent = bot(&Script::new().calls([answer(GOOD)]));
    let typed = output.call::<serde_json::Value>(&agent, CallOptions::new(), "Go");
    assert_eq!(block_on(typed).unwrap()["number"], 7);
}

#[test]
fn tools_of_a_typed_call_run_before_the_answer() {
    let search = Calls::new("search").answers("42");
    let call = ToolUse::new("1", "search", json!({ "for": "it" }));
    let script = Script::new().calls([call]).calls([answer(GOOD)]);
    let builder = ReActAgent::builder("bot").model(script.clone()).tool(search.clone());
    let agent = builder.build().unwrap();
    assert_eq!(block_on(agent.call_typed::<Invoice>("Go")).unwrap().value, invoice());
    search.assert_called_with([json!({ "for": "it" })]);
    script.finish();
}
