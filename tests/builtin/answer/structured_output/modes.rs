//! Requests to the model in each mode.

use futures::executor::block_on;
use hooks_agent_builtin::answer::{Mode, StructuredOutput, StructuredOutputError, TypedCalls};
use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::model::{ChatRequest, ResponseFormat, ToolChoice};
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Calls, Script, check_history};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

use crate::structured_output::{GOOD, Invoice, bot, invoice, of_invoices};

fn answer(input: Value) -> ToolUse {
    ToolUse::new("9", StructuredOutput::TOOL_NAME, input)
}

fn good() -> Value {
    serde_json::from_str(GOOD).unwrap()
}

/// What the model is asked by this mode, and the reply.
fn asked(mode: Mode, script: &Script) -> (ChatRequest, Msg) {
    let agent = bot(script);
    let typed = of_invoices(mode);
    let typed = block_on(typed.call::<Invoice>(&agent, CallOptions::new(), "Read it")).unwrap();
    assert_eq!(typed.value, invoice());
    check_history(agent.memory());
    (script.requests().remove(0), typed.reply)
}

#[test]
fn a_format_has_the_schema_and_no_tool() {
    let (request, _) = asked(Mode::Format, &Script::new().says(GOOD));
    let ResponseFormat::JsonSchema { name, schema } = &request.options.response_format else {
        panic!("no format")
    };
    assert_eq!(name, "Invoice");
    assert_eq!(schema["properties"]["items"]["items"]["properties"]["price"]["type"], "number");
    // Inlined, and without what only says how large a number is.
    assert!(!schema.to_string().contains("$ref") && !schema.to_string().contains("uint32"));
    assert_eq!(schema["properties"]["number"]["minimum"], 0);
    assert_eq!((request.tools.len(), request.messages.len()), (0, 1));
}

#[test]
fn a_prompt_has_the_schema_and_leaves_the_options() {
    let fenced = format!("Here it is:\n```json\n{GOOD}\n```\nAnything else?");
    let (request, reply) = asked(Mode::Prompt, &Script::new().says(fenced));
    assert!(request.messages.first().unwrap().text().contains(r#""Item""#));
    assert_eq!(request.options.response_format, ResponseFormat::Text);
    assert_eq!(reply.text(), GOOD);
}

#[test]
fn a_tool_takes_the_answer_and_does_not_run() {
    let script = Script::new().calls([answer(good())]);
    let (request, reply) = asked(Mode::Tool, &script);
    assert_eq!(request.tools[0].name, "final_answer");
    assert!(request.tools[0].description.contains("What is to be paid."));
    assert_eq!(request.options.tool_choice, ToolChoice::Tool("final_answer".to_owned()));
    assert_eq!(serde_json::from_str::<Value>(&reply.text()).unwrap(), good());
    assert_eq!((reply.tool_uses().count(), reply.pending().len()), (0, 0));
}

#[test]
fn words_before_the_call_are_no_part_of_the_answer() {
    let blocks =
        vec![ContentBlock::text("I found {two} things:"), ContentBlock::ToolUse(answer(good()))];
    let (_, reply) = asked(Mode::Tool, &Script::new().turn(blocks));
    assert_eq!(serde_json::from_str::<Value>(&reply.text()).unwrap(), good());
}

#[test]
fn with_tools_a_call_is_required_in_every_round() {
    let search = Calls::new("search").answers("42");
    let script =
        Script::new().calls([ToolUse::new("1", "search", json!({}))]).calls([answer(good())]);
    let agent = ReActAgent::builder("bot").model(script.clone()).tool(search).build().unwrap();
    block_on(agent.call_typed::<Invoice>("Go")).unwrap();
    for request in script.requests() {
        assert_eq!(request.options.tool_choice, ToolChoice::Required);
        let names: Vec<_> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["search", "final_answer"]);
    }
    check_history(agent.memory());
}

#[test]
fn an_answer_beside_calls_of_tools_is_not_final() {
    let search = Calls::new("search").answers("42");
    let both = [ToolUse::new("1", "search", json!({})), answer(json!({ "number": 0 }))];
    let script = Script::new().calls(both).calls([answer(good())]);
    let agent = ReActAgent::builder("bot").model(script).tool(search.clone()).build().unwrap();
    assert_eq!(block_on(agent.call_typed::<Invoice>("Go")).unwrap().value, invoice());
    assert_eq!(search.inputs().len(), 1);
    check_history(agent.memory());
}

#[test]
fn a_tool_of_the_same_name_is_a_clear_error() {
    let script = Script::new();
    let tool = Calls::new("final_answer");
    let agent = ReActAgent::builder("bot").model(script.clone()).tool(tool).build().unwrap();
    let error = block_on(agent.call_typed::<Invoice>("Go")).unwrap_err();
    assert!(matches!(&error, StructuredOutputError::ToolExists { tool } if tool == "final_answer"));
    assert!(error.to_string().contains("StructuredOutputBuilder::tool_name"), "{error}");
    assert!(script.requests().is_empty());

    let renamed = StructuredOutput::of::<Invoice>().tool_name("submit").build().unwrap();
    let script = Script::new().calls([ToolUse::new("1", "submit", good())]);
    let tool = Calls::new("final_answer");
    let agent = ReActAgent::builder("bot").model(script).tool(tool).build().unwrap();
    let typed = block_on(renamed.call::<Invoice>(&agent, CallOptions::new(), "Go")).unwrap();
    assert_eq!(typed.value, invoice());
}

#[test]
fn a_tool_that_a_hook_dropped_is_offered_again() {
    let drop = on(|event: &mut PreReasoning<'_>| event.set_tools(Vec::new()));
    let script = Script::new().calls([answer(good())]);
    let builder = ReActAgent::builder("bot").model(script.clone()).tool(Calls::new("search"));
    let agent = builder.hook(drop.with_priority(400)).build().unwrap();
    block_on(agent.call_typed::<Invoice>("Go")).unwrap();
    assert_eq!(script.requests()[0].tools.len(), 1);
}

#[test]
fn a_tool_choice_of_the_agent_stays() {
    let search = Calls::new("search").answers("42");
    let mut first = true;
    let choose = std::sync::Mutex::new(move || std::mem::take(&mut first));
    let force = on(move |event: &mut PreReasoning<'_>| {
        if (choose.lock().unwrap())() {
            event.options_mut().tool_choice = ToolChoice::Tool("search".to_owned());
        }
    });
    let script =
        Script::new().calls([ToolUse::new("1", "search", json!({}))]).calls([answer(good())]);
    let builder = ReActAgent::builder("bot").model(script.clone()).tool(search);
    let agent = builder.hook(force.with_priority(100)).build().unwrap();
    block_on(agent.call_typed::<Invoice>("Go")).unwrap();
    let choices: Vec<_> =
        script.requests().iter().map(|request| request.options.tool_choice.clone()).collect();
    assert_eq!(choices, [ToolChoice::Tool("search".to_owned()), ToolChoice::Required]);
}

/// Vector of `StructuredOutputHookTest`: base options survive.
#[test]
fn options_of_the_agent_survive() {
    let options = ModelOptions::new().temperature(0.7).max_tokens(1000);
    for mode in [Mode::Format, Mode::Tool, Mode::Prompt] {
        let script = Script::new().says(GOOD);
        let builder = ReActAgent::builder("bot").model(script.clone());
        let agent = builder.model_options(options.clone()).build().unwrap();
        let output = of_invoices(mode);
        block_on(output.call::<Invoice>(&agent, CallOptions::new(), "Go")).unwrap();
        let sent = script.requests()[0].options.clone();
        assert_eq!((sent.temperature, sent.max_tokens), (Some(0.7), Some(1000)));
        let is_forced = sent.tool_choice != ToolChoice::Auto;
        assert_eq!(is_forced, mode == Mode::Tool);
    }
}

/// Whether a type is asked for by format, without tools and a mode.
fn is_format<T: serde::de::DeserializeOwned + JsonSchema>(json: &str) -> bool {
    let script = Script::new().says(json);
    let agent = bot(&script);
    block_on(agent.call_typed::<T>("Go")).unwrap();
    script.requests()[0].options.response_format != ResponseFormat::Text
}

#[test]
fn what_providers_cannot_be_held_to_is_asked_by_a_tool() {
    #[derive(Deserialize, JsonSchema)]
    #[serde(tag = "kind")]
    #[expect(dead_code)]
    enum Shape {
        Circle { radius: f64 },
        Square { side: f64 },
    }
    assert!(is_format::<Invoice>(GOOD));
    assert!(is_format::<Vec<Shape>>(r#"[{"kind":"Circle","radius":1}]"#));
    assert!(is_format::<Shape>(r#"{"kind":"Square","side":1}"#));
    assert!(!is_format::<BTreeMap<String, u32>>(r#"{"a":1}"#));
    assert!(!is_format::<Value>("[1]"));
}

#[test]
fn a_value_that_is_no_object_is_asked_for_inside_of_one() {
    let script = Script::new().says(r#"{"answer":[1,2]}"#);
    let typed = block_on(bot(&script).call_typed::<Vec<u32>>("Go")).unwrap();
    assert_eq!((typed.value, typed.reply.text().as_str()), (vec![1, 2], "[1,2]"));
    let ResponseFormat::JsonSchema { schema, .. } = &script.requests()[0].options.response_format
    else {
        panic!("no format")
    };
    assert_eq!(schema["properties"]["answer"]["type"], "array");
    assert_eq!(schema["required"], json!(["answer"]));

    let script = Script::new().calls([answer(json!({ "answer": "green" }))]);
    let output = StructuredOutput::of::<String>().mode(Mode::Tool).build().unwrap();
    let agent = bot(&script);
    let typed = output.call::<String>(&agent, CallOptions::new(), "Go");
    assert_eq!(block_on(typed).unwrap().value, "green");
}

#[test]
fn a_value_with_a_field_of_that_name_is_read_either_way() {
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Turn {
        Answer(String),
        Question(String),
    }
    for text in [r#"{"answer":"yes"}"#, r#"{"answer":{"answer":"yes"}}"#] {
        let agent = bot(&Script::new().says(text));
        let turn = block_on(agent.call_typed::<Turn>("Go")).unwrap();
        assert_eq!(turn.value, Turn::Answer("yes".to_owned()));
    }
}

#[test]
fn definitions_that_multiply_are_not_inlined_without_end() {
    let mut definitions = serde_json::Map::new();
    for level in 0..40 {
        let next = json!({ "$ref": format!("#/$defs/d{}", level + 1) });
        let fields = json!({ "a": next, "b": next });
        definitions.insert(format!("d{level}"), json!({ "type": "object", "properties": fields }));
    }
    definitions.insert("d40".to_owned(), json!({ "type": "integer" }));
    let fields = json!({ "d": { "$ref": "#/$defs/d0" } });
    let schema = json!({ "type": "object", "properties": fields, "$defs": definitions });
    let output = StructuredOutput::with_schema("Deep", schema).build().unwrap();
    let script = Script::new().says("{}");
    block_on(output.call::<Value>(&bot(&script), CallOptions::new(), "Go")).unwrap();
    let ResponseFormat::JsonSchema { schema, .. } = &script.requests()[0].options.response_format
    else {
        panic!("no format")
    };
    assert_eq!(schema["$defs"].as_object().unwrap().len(), 41);
}

#[test]
fn a_type_that_contains_itself_keeps_its_references() {
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    enum Sum {
        Number(i64),
        Add(Vec<Sum>),
    }
    let script = Script::new().calls([answer(json!({ "answer": { "Add": [{ "Number": 1 }] } }))]);
    let output = StructuredOutput::of::<Sum>().mode(Mode::Tool).build().unwrap();
    let agent = bot(&script);
    let typed = block_on(output.call::<Sum>(&agent, CallOptions::new(), "Go")).unwrap();
    assert_eq!(typed.value, Sum::Add(vec![Sum::Number(1)]));
    let schema = script.requests()[0].tools[0].schema.clone();
    let validator = jsonschema_of(&schema);
    assert!(validator(&json!({ "answer": { "Add": [{ "Add": [{ "Number": 2 }] }] } })));
    assert!(!validator(&json!({ "answer": { "Add": [{ "Add": [{ "Number": "x" }] }] } })));
}

/// Checks values by a hook of the schema.
fn jsonschema_of(schema: &Value) -> impl Fn(&Value) -> bool + use<> {
    let output = StructuredOutput::with_schema("Sent", schema.clone()).retries(0).build().unwrap();
    move |value| {
        let agent = bot(&Script::new().says(value.to_string()));
        let agent = agent.with_agent_hook(output.clone());
        block_on(agent.call("Go")).is_ok()
    }
}

#[test]
fn an_invalid_schema_is_an_error_of_the_builder() {
    for (schema, part) in [
        (json!({ "type": "nothing" }), "/type"),
        (json!([1]), "no JSON object"),
        (json!({ "$ref": "#/$defs/Missing" }), "Missing"),
        (json!({ "$ref": "https://example.com/schema.json" }), "example.com"),
    ] {
        let error = StructuredOutput::with_schema("Broken", schema).build().unwrap_err();
        assert!(matches!(&error, StructuredOutputError::Schema { name, .. } if name == "Broken"));
        assert!(error.to_string().contains(part), "{error}");
    }
    for name in ["", "my tool", "ä"] {
        let error = StructuredOutput::of::<Invoice>().tool_name(name).build().unwrap_err();
        assert!(matches!(error, StructuredOutputError::ToolName { .. }));
    }
}
