//! Tools from functions: the schemas of their arguments, and functions that block.

#![expect(dead_code, reason = "the fields are there for their schemas")]

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::executor::block_on;
use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::call::CallOptions;
use hooks_agent_core::call::Interrupt;
use hooks_agent_core::event::{EventKind, Flow, HookEvent};
use hooks_agent_core::message::{GenerateReason, ToolUse};
use hooks_agent_core::react::ReActAgent;
use hooks_agent_core::tool::{FunctionTool, Tool, ToolContext, ToolError};
use hooks_fixtures::Records;
use hooks_fixtures::scripted_agents::{go, on, results, script, uses};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

fn schema<T: DeserializeOwned + JsonSchema + Send + 'static>() -> Value {
    let tool = FunctionTool::new("t", "T.", async |_: T| "done");
    let schema = tool.schema().clone();
    let text = schema.to_string();
    assert!(!text.contains("$ref") && !text.contains("$defs"), "{text}");
    schema
}

/// Where something is.
#[derive(Deserialize, JsonSchema)]
struct Place {
    /// The name of the city.
    city: String,
    country: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Unit {
    Celsius,
    Kelvin,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
enum When {
    Now,
    /// On a day.
    Day {
        /// Counted from today.
        offset: u8,
    },
}

#[derive(Deserialize, JsonSchema)]
struct Forecast {
    /// Where to look.
    place: Place,
    others: Vec<Place>,
    more: HashMap<String, Place>,
    /// If not in kelvin.
    unit: Option<Unit>,
    when: When,
}

#[test]
fn nested_types_are_written_out_with_their_descriptions() {
    let schema = schema::<Forecast>();
    let place = |description: &str| {
        json!({
            "type": "object",
            "description": description,
            "properties": {
                "city": { "type": "string", "description": "The name of the city." },
                "country": { "type": ["string", "null"] },
            },
            "required": ["city"],
        })
    };
    let properties = &schema["properties"];
    assert_eq!(properties["place"], place("Where to look."));
    assert_eq!(properties["others"]["items"], place("Where something is."));
    assert_eq!(properties["more"]["additionalProperties"], place("Where something is."));
    assert_eq!(schema["required"], json!(["place", "others", "more", "when"]));
    assert_eq!(schema["type"], "object");
}

#[test]
fn enums_and_options_are_written_out() {
    let schema = schema::<Forecast>();
    let unit = json!({
        "description": "If not in kelvin.",
        "type": ["string", "null"],
        "enum": ["celsius", "kelvin", null],
    });
    assert_eq!(schema["properties"]["unit"], unit);
    let day = &schema["properties"]["when"]["oneOf"][1];
    assert_eq!(day["description"], "On a day.");
    assert_eq!(day["properties"]["offset"]["description"], "Counted from today.");
}

/// A tree.
#[derive(Deserialize, JsonSchema)]
struct Tree {
    name: String,
    branches: Vec<Tree>,
    /// The best of them.
    best: Option<Box<Tree>>,
}

#[derive(Deserialize, JsonSchema)]
struct Garden {
    tree: Tree,
}

#[derive(Deserialize, JsonSchema)]
struct Ping {
    pong: Option<Box<Pong>>,
}

#[derive(Deserialize, JsonSchema)]
struct Pong {
    pings: Vec<Ping>,
}

#[test]
fn a_type_inside_of_itself_has_its_json_type_and_description_only() {
    let inner = json!({ "type": "object", "description": "A tree." });
    for tree in [schema::<Tree>(), schema::<Garden>()["properties"]["tree"].clone()] {
        assert_eq!(tree["properties"]["name"], json!({ "type": "string" }));
        assert_eq!(tree["properties"]["branches"], json!({ "type": "array", "items": inner }));
        let best =
            json!({ "description": "The best of them.", "anyOf": [inner, { "type": "null" }] });
        assert_eq!(tree["properties"]["best"], best);
    }
    let pong = &schema::<Ping>()["properties"]["pong"];
    assert!(pong.to_string().contains(r#""items":{"type":"object"}"#), "{pong}");
}

#[test]
fn arguments_of_a_recursive_type_are_read_to_any_depth() {
    let depth = FunctionTool::new("depth", "Counts.", async |tree: Tree| {
        fn depth(tree: &Tree) -> usize {
            1 + tree.branches.iter().map(depth).max().unwrap_or_default()
        }
        depth(&tree).to_string()
    });
    let call =
        |input| block_on(depth.call(ToolContext::detached(ToolUse::new("1", "depth", input))));
    let leaf = json!({ "name": "leaf", "branches": [] });
    let twig = json!({ "name": "twig", "branches": [leaf] });
    assert_eq!(call(json!({ "name": "tree", "branches": [twig] })).unwrap(), "3");
    let error = call(json!({ "name": "tree", "branches": [{ "name": "leaf" }] })).unwrap_err();
    assert_eq!(error.to_string(), "arguments of `depth` do not fit: missing field `branches`");
}

#[test]
fn a_property_may_have_the_name_of_a_reference() {
    #[derive(Deserialize, JsonSchema)]
    struct Link {
        #[serde(rename = "$ref")]
        target: String,
    }

    let tool = FunctionTool::new("t", "T.", async |_: Link| "done");
    assert_eq!(tool.schema()["properties"]["$ref"], json!({ "type": "string" }));
}

/// A tool that says when it starts, blocks until it may go on, and says when it is over.
fn held() -> (FunctionTool, UnboundedReceiver<&'static str>, Sender<()>) {
    let (go_on, wait): (Sender<()>, Receiver<()>) = channel();
    let (say, heard): (UnboundedSender<&'static str>, _) = unbounded_channel();
    let wait = Mutex::new(wait);
    let tool = FunctionTool::blocking("hold", "Blocks.", move |_: Value| {
        say.send("started").unwrap();
        // An error once nobody holds it any more.
        let _ = wait.lock().unwrap().recv();
        let _ = say.send("over");
        "held"
    });
    (tool, heard, go_on)
}

fn hold() -> ToolUse {
    ToolUse::new("1", "hold", json!({}))
}

#[tokio::test]
async fn a_blocking_function_does_not_block_the_runtime_and_gives_its_output() {
    // The runtime has one thread, on which this test goes on while the function blocks.
    let (tool, mut heard, go_on) = held();
    let (model, _) = script([uses([hold()]), "done".into()]);
    let agent = Arc::new(ReActAgent::builder("bot").model(model).tool(tool).build().unwrap());
    let calling = agent.clone();
    let call = tokio::spawn(async move { calling.call(go()).await });
    assert_eq!(heard.recv().await, Some("started"));
    drop(go_on);
    assert_eq!(call.await.unwrap().unwrap().text(), "done");
    assert_eq!(results(&agent), [("1".to_owned(), "held".to_owned())]);
}

#[tokio::test]
async fn an_interrupt_returns_while_the_function_still_blocks() {
    let (tool, mut heard, go_on) = held();
    let (model, _) = script([uses([hold()]), "done".into()]);
    let agent = ReActAgent::builder("bot").model(model).tool(tool).build().unwrap();
    let token = Interrupt::new();
    let interrupt = token.clone();
    let call = tokio::spawn(async move {
        agent.call_with(CallOptions::new().interrupt(token), go()).await.unwrap()
    });
    assert_eq!(heard.recv().await, Some("started"));
    interrupt.interrupt();
    assert_eq!(call.await.unwrap().reason, Some(GenerateReason::Interrupted));
    assert!(heard.is_empty());
    // The thread goes on by itself.
    drop(go_on);
    assert_eq!(heard.recv().await, Some("over"));
}

#[tokio::test]
async fn a_timeout_ends_a_tool_call_while_the_function_still_blocks() {
    let (tool, _heard, go_on) = held();
    let (model, _) = script([uses([hold()]), "done".into()]);
    let agent = ReActAgent::builder("bot")
        .model(model)
        .tool(tool)
        .tool_timeout(Duration::from_millis(1))
        .build()
        .unwrap();
    assert_eq!(agent.call(go()).await.unwrap().text(), "done");
    assert_eq!(results(&agent)[0].1, "! the tool `hold` took longer than 1ms");
    drop(go_on);
}

#[test]
fn a_function_that_waits_for_a_thread_does_not_start_after_an_interrupt() {
    let runtime =
        tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
    let ran = Arc::new(Records::new());
    let noted = ran.clone();
    let note = FunctionTool::blocking("note", "Notes.", move |_: Value| {
        noted.push("ran");
        "noted"
    });
    let (tool, mut heard, go_on) = held();
    let running = tool.call(ToolContext::detached(hold()));
    runtime.block_on(async {
        let (mut running, mut waiting) = (running, note.call(ToolContext::detached(hold())));
        assert!(futures::poll!(&mut running).is_pending());
        assert_eq!(heard.recv().await, Some("started"));
        assert!(futures::poll!(&mut waiting).is_pending());
        drop(waiting);
        drop(go_on);
        assert_eq!(running.await.unwrap(), "held");
        // The only thread is free, and has been so in order.
        let after = FunctionTool::blocking("after", "Nothing.", |_: Value| "after");
        assert_eq!(after.call(ToolContext::detached(hold())).await.unwrap(), "after");
    });
    assert_eq!(ran.take(), [""; 0]);
}

#[tokio::test]
async fn a_panic_of_a_blocking_function_is_the_panic_of_the_tool() {
    let told = Arc::new(Records::new());
    let noted = told.clone();
    let panics =
        FunctionTool::blocking("panics", "Panics.", |_: Value| -> String { panic!("as told") });
    let (model, _) = script([uses([ToolUse::new("1", "panics", json!({}))]), "done".into()]);
    let agent = ReActAgent::builder("bot")
        .model(model)
        .tool(panics)
        .hook(on(EventKind::Error, move |event| {
            let HookEvent::Error(event) = event else { unreachable!() };
            let error = event.error().downcast_ref::<ToolError>();
            noted.push(matches!(error, Some(ToolError::Panicked { tool }) if tool == "panics"));
            Ok(Flow::Continue)
        }))
        .build()
        .unwrap();
    assert_eq!(agent.call(go()).await.unwrap().text(), "done");
    assert_eq!(results(&agent)[0].1, "! the tool `panics` panicked");
    assert_eq!(told.take(), [true]);
}

#[test]
fn outside_of_a_runtime_a_blocking_tool_is_an_error_that_the_model_reads() {
    let tool = FunctionTool::blocking("hold", "Blocks.", |_: Value| "held");
    let (model, _) = script([uses([hold()]), "done".into()]);
    let agent = ReActAgent::builder("bot").model(model).tool(tool).build().unwrap();
    assert_eq!(block_on(agent.call(go())).unwrap().text(), "done");
    assert_eq!(results(&agent)[0].1, "! a blocking tool needs a runtime of tokio, start one");
}

#[tokio::test]
async fn an_error_of_a_blocking_function_is_the_error_of_the_tool() {
    let tool = FunctionTool::blocking("hold", "Fails.", |_: Value| {
        Err::<String, _>(std::io::Error::other("the disk is full"))
    });
    let error = tool.call(ToolContext::detached(hold())).await.unwrap_err();
    assert_eq!(error.to_string(), "the disk is full");
}
