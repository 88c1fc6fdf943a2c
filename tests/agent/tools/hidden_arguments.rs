//! Arguments that only the tool receives, and what hooks around a tool call make of its progress.

use std::fmt::Write;
use std::sync::{Arc, Mutex};

use futures::StreamExt;
use futures::executor::block_on;
use hooks_agent_builtin::observe::JsonlTrace;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use serde_json::{Value, json};

const SECRET: &str = "s3\"cr3t-\u{00fc}";

/// Hides a key from everybody but the tool.
struct Key;

#[agent_hook]
impl Key {
    fn add(&self, event: &mut PreActing<'_>) {
        event.tool_use_mut().hide("key", SECRET);
        event.tool_use_mut().hide("pin", 987_654);
    }
}

/// The same around the call of the tool.
struct KeyAround;

#[agent_hook]
impl KeyAround {
    async fn add(
        &self,
        mut call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        call.tool_use_mut().hide("key", SECRET);
        call.tool_use_mut().hide("pin", 987_654);
        next.run(call.into_tool_use()).await
    }
}

/// A tool that says its arguments in every way that it can.
fn gossip(fails: bool, seen: &Arc<Mutex<Vec<Value>>>) -> FunctionTool {
    let seen = seen.clone();
    FunctionTool::with_context("gossip", "Gossips.", move |input: Value, cx: ToolContext| {
        cx.progress(format!("with {} {}", input["key"].as_str().unwrap(), input["pin"]));
        let shown = format!("{cx:?} {:?}", cx.tool_use());
        assert!(!shown.contains("s3") && shown.contains("[hidden]"), "{shown}");
        seen.lock().unwrap().push(input.clone());
        let key = input["key"].as_str().unwrap();
        let said =
            if fails { Err(format!("no {key} {input}")) } else { Ok(format!("{key} {input}")) };
        async move { said }
    })
}

/// Everything that anybody but the tool may have seen of a call.
async fn seen_of(hook: impl AgentHook, fails: bool, seen: &Arc<Mutex<Vec<Value>>>) -> String {
    let (log, file) = (Arc::new(Mutex::new(String::new())), Arc::new(Mutex::new(Vec::new())));
    let trace = JsonlTrace::to_writer(Shared(file.clone())).include_acting_chunks();
    let trace = trace.open().unwrap();
    let look = log.clone();
    let watch = |priority: i32| {
        let look = look.clone();
        let all = Everything(look);
        all.with_priority(priority).named(priority.to_string())
    };
    let script = Script::new().calls([ToolUse::new("1", "gossip", json!({ "q": 1 }))]).says("done");
    let requests = Arc::new(script);
    let builder = ReActAgent::builder("bot").model(requests.clone()).tool(gossip(fails, seen));
    let builder = builder.hook(watch(1)).hook(watch(900)).hook(trace.clone()).hook(hook);
    let agent = builder.build().unwrap();
    let mut stream = agent.stream("go");
    while let Some(event) = stream.next().await {
        let event = event.unwrap();
        let json = serde_json::to_string(&event).unwrap();
        write!(log.lock().unwrap(), "{event:?} {json}").unwrap();
    }
    drop(stream);
    trace.close();
    let history = agent.threads().memory("default").unwrap().messages();
    let requests = format!("{:?}", requests.requests());
    let lines = String::from_utf8(file.lock().unwrap().clone()).unwrap();
    let log = log.lock().unwrap();
    format!("{log} {history:?} {} {requests} {lines}", serde_json::to_string(&history).unwrap())
}

struct Shared(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Notes the `Debug` form of every event.
struct Everything(Arc<Mutex<String>>);

impl AgentHook for Everything {
    async fn on_event(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        write!(self.0.lock().unwrap(), "{event:?}").unwrap();
        if let HookEvent::Error(event) = event {
            self.0.lock().unwrap().push_str(&event.error().to_string());
        }
        Ok(Flow::Continue)
    }
}

#[test]
fn hidden_arguments_reach_the_tool_and_nobody_else() {
    for fails in [false, true] {
        for around in [false, true] {
            let received = Arc::default();
            let shown = block_on(async {
                if around {
                    seen_of(KeyAround, fails, &received).await
                } else {
                    seen_of(Key, fails, &received).await
                }
            });
            let expected = json!({ "q": 1, "key": SECRET, "pin": 987_654 });
            assert_eq!(*received.lock().unwrap(), [expected]);
            for secret in ["s3", "cr3t", "987654"] {
                assert!(!shown.contains(secret), "{secret} in {shown}");
            }
            assert!(shown.contains("with [hidden] [hidden]"), "{shown}");
            // The order of the keys depends on a feature that other crates switch on.
            let input = json!({ "q": 1, "key": "[hidden]", "pin": "[hidden]" });
            assert!(
                shown.contains(&format!(r#""ran":{{"id":"1","name":"gossip","input":{input}}}"#)),
                "{shown}"
            );
        }
    }
}

#[test]
fn a_hidden_argument_that_a_later_hook_replaces_stays_replaced() {
    let replace = on(|event: &mut PreActing<'_>| {
        event.tool_use_mut().input["key"] = json!("public");
        event.tool_use_mut().input.as_object_mut().unwrap().remove("pin");
    });
    let echo = FunctionTool::new("echo", "Echoes.", async |input: Value| input.to_string());
    let script = Script::new().calls([ToolUse::new("1", "echo", json!({}))]).says("done");
    let agent = ReActAgent::builder("bot").model(script).tool(echo).hook(Key).hook(replace);
    let agent = agent.build().unwrap();
    block_on(agent.call("go")).unwrap();
    let history = agent.threads().memory("default").unwrap().messages();
    let result = history.iter().flat_map(Msg::tool_results).next().unwrap();
    assert_eq!(result.output, r#"{"key":"public"}"#);
}

#[test]
fn an_argument_is_hidden_until_a_hook_replaces_it() {
    let mut call = ToolUse::new("1", "echo", json!({ "q": "[hidden]" }));
    call.hide("key", SECRET);
    assert!(call.is_hidden("key") && !call.is_hidden("q") && !call.is_hidden("other"));
    call.input["key"] = json!("public");
    assert!(!call.is_hidden("key"));
}

#[test]
fn a_sub_agent_does_not_receive_hidden_arguments() {
    let secretive = on(|event: &mut PreActing<'_>| event.tool_use_mut().hide("task", SECRET));
    let echo = ScriptedModel::new("echo", ChatRequest::last_text);
    let helper = ReActAgent::builder("helper").model(echo).build().unwrap();
    let script = Script::new().calls([ToolUse::new("1", "helper", json!({ "task": "x" }))]);
    let agent = ReActAgent::builder("bot").model(script.says("done")).tool(helper.to_tool("Helps"));
    let agent = agent.hook(secretive).build().unwrap();
    block_on(agent.call("go")).unwrap();
    let history = agent.threads().memory("default").unwrap().messages();
    assert_eq!(history.iter().flat_map(Msg::tool_results).next().unwrap().output, "[hidden]");
}

/// Changes progress around a tool.
struct Mark(&'static str);

#[agent_hook]
impl Mark {
    async fn mark(&self, call: ToolCall<'_>, next: NextTool<'_>) -> Result<ToolResult, ToolError> {
        let mark = self.0;
        next.run_with_progress(call.into_tool_use(), move |text| match text.as_str() {
            "drop" => None,
            "panic" => panic!("a map that panics"),
            _ => Some(format!("{text}{mark}")),
        })
        .await
    }
}

/// Runs the rest twice.
struct Twice;

#[agent_hook]
impl Twice {
    async fn twice(&self, call: ToolCall<'_>, next: NextTool<'_>) -> Result<ToolResult, ToolError> {
        next.run(call.tool_use().clone()).await?;
        next.run(call.into_tool_use()).await
    }
}

#[test]
fn hooks_around_a_tool_change_its_progress_the_innermost_first() {
    let chunks = Arc::new(Mutex::new(Vec::new()));
    let seen = chunks.clone();
    let look = on(move |event: &mut ActingChunk<'_>| {
        seen.lock().unwrap().push(event.chunk().to_owned());
    });
    let tool = FunctionTool::with_context("work", "Works.", async |_: Value, cx| {
        for text in ["one", "drop", "panic", "two"] {
            cx.progress(text);
        }
        "done"
    });
    let script = Script::new().calls([ToolUse::new("1", "work", json!({}))]).says("done");
    let agent = ReActAgent::builder("bot").model(script).tool(tool).hook(look);
    let agent = agent.hook(Mark("<outer").with_priority(1)).hook(Twice.with_priority(2));
    let agent = agent.hook(Mark("<inner").named("inner").with_priority(3)).build().unwrap();
    block_on(agent.call("go")).unwrap();
    let expected = ["one<inner<outer", "two<inner<outer"].repeat(2);
    assert_eq!(*chunks.lock().unwrap(), expected);
}

#[test]
fn an_answer_in_place_of_the_model_ends_the_call_with_its_reason() {
    use hooks_agent_core::message::GenerateReason::LimitReached;

    struct Limit;

    #[agent_hook]
    impl Limit {
        async fn end(&self, _: ModelCall<'_>, _: NextModel<'_>) -> Result<ModelAnswer, AgentError> {
            Ok(ModelAnswer::in_place("limit", "Enough.", LimitReached).map_stream(|stream| stream))
        }
    }

    let model = ScriptedModel::new("fixed", |_| "Done.");
    let agent = ReActAgent::builder("bot").model(model).hook(Limit).build().unwrap();
    let reply = block_on(agent.call("go")).unwrap();
    assert_eq!((reply.text().as_str(), reply.reason), ("Enough.", Some(LimitReached)));
    assert_eq!(agent.threads().memory("default").unwrap().messages().len(), 2);
}

#[test]
fn a_hidden_argument_may_show_another_value_in_its_place() {
    let reveal = on(|event: &mut PreActing<'_>| {
        let shown = event.tool_use().input["to"].clone();
        event.tool_use_mut().hide_as("to", json!(["ada@example.com", "open", 12345]), shown);
    });
    let echo = FunctionTool::new("send", "Sends.", async |input: Value| input.to_string());
    let input = json!({ "to": ["<mail>", "open", "<pin>"] });
    let call = ToolUse::new("1", "send", input.clone());
    let script = Script::new().calls([call]).says("done");
    let agent = ReActAgent::builder("bot").model(script).tool(echo).hook(reveal).build().unwrap();
    block_on(agent.call("go")).unwrap();
    let history = agent.threads().memory("default").unwrap().messages();
    let result = history.iter().flat_map(Msg::tool_results).next().unwrap();
    assert_eq!(result.output, r#"{"to":["<mail>","open",<pin>]}"#);
    // What is shown is what the model wrote.
    assert_eq!(result.ran, None);
}
