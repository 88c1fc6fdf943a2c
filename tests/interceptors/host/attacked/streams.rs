//! What a stream has, and the verdicts about it.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use agent_hooks::Verdict;
use futures::StreamExt;
use hooks_agent_core::prelude::*;
use hooks_agent_interceptors::{Output, Segment};
use hooks_core::{Hookable, Hooks, hookable};
use serde_json::{Value, json};

use crate::attacked::{Chunks, by_chunk, end, text, thinking};
use crate::support::{all_of, at, deciding, deny, look, looking, transform};

#[hookable]
impl Agent for Own {
    fn state(&self) -> &AgentState {
        &self.state
    }

    async fn reply(&self, cx: CallContext, _: Messages) -> Result<Msg, AgentError> {
        Ok(Msg::assistant(cx.agent_name(), "RESULT-4711"))
    }
}

/// An agent of one's own, which is no `ReActAgent`.
#[derive(Hookable)]
struct Own {
    state: AgentState,
    hooks: Hooks,
}

/// The reply of an agent of one's own, as an event before the verdict about it.
#[tokio::test]
async fn the_reply_of_an_agent_without_the_hook_is_not_in_the_stream() {
    let (interceptors, records) = deciding(at("post_tool_call", |_| deny("tainted")));
    let tool = FunctionTool::with_context("look", "Looks.", async |_: Value, cx: ToolContext| {
        let own = Own { state: AgentState::new("own"), hooks: Hooks::new() };
        let reply = own.call_with(CallOptions::new().child_of(cx.call()), "Go").await.unwrap();
        reply.text()
    });
    let agent = ReActAgent::builder("looker").model(looking(json!({}))).tool(tool);
    let agent = agent.hook(interceptors).build().unwrap();
    let seen = all_of(&agent, "Go").await;
    assert!(!seen.contains("RESULT-4711"), "{seen} {:?}", records.points());
}

/// Segments: the verdict is about another text than what is said.
#[tokio::test]
async fn a_verdict_is_about_the_text_that_is_sent() {
    let (interceptors, records) = deciding(at("post_model_call", |context| {
        let said = context["response"]["content"].as_str().unwrap_or_default();
        if said.contains("SECRET") {
            deny("secrets")
        } else if said.contains('x') {
            transform("$target.content", said.replace('x', ""))
        } else {
            Verdict::allow()
        }
    }));
    let chunks = vec![text("SEC"), text("x"), thinking("tt"), text("RET"), end()];
    let output = Output::Incremental { segment: Segment::Line { most: 3 } };
    let model = Chunks(chunks);
    let agent = ReActAgent::builder("bot").model(model).hook(interceptors.output(output));
    let agent = agent.build().unwrap();
    let mut read = String::new();
    let mut stream = agent.stream("Go");
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => {
                if let AgentEventKind::ReasoningChunk(ContentBlock::Text { text }) = event.kind {
                    read.push_str(&text);
                } else if let AgentEventKind::Finished(reply) = event.kind {
                    write!(read, " reply {:?}", reply.text()).unwrap();
                }
            }
            Err(error) => write!(read, " error {error}").unwrap(),
        }
    }
    assert!(!read.contains("SECRET"), "{read} {:?}", records.points());
}

/// A warning of a tool.
#[tokio::test]
async fn a_warning_of_a_tool_has_no_verdict() {
    let (interceptors, _) = deciding(at("post_tool_call", |_| deny("tainted")));
    let tool = FunctionTool::with_context("look", "Looks.", async |_: Value, cx: ToolContext| {
        cx.call().warn("RESULT-4711");
        "read"
    });
    let agent = ReActAgent::builder("looker").model(looking(json!({}))).tool(tool);
    let agent = agent.hook(interceptors).build().unwrap();
    let seen = all_of(&agent, "Go").await;
    assert!(!seen.contains("RESULT-4711"), "{seen}");
}

/// Nobody asks again after a block, also if it comes in a stream.
#[tokio::test]
async fn a_denied_segment_is_not_asked_for_again() {
    use hooks_agent_builtin::recover::{ModelFallback, ModelRetry};
    for output in [Output::Buffered, by_chunk(), Output::incremental()] {
        let (interceptors, records) = deciding(at("post_model_call", |_| deny("secrets")));
        let asked = Arc::new(AtomicUsize::new(0));
        let count = asked.clone();
        let model = ScriptedModel::new("scripted", move |_| {
            count.fetch_add(1, Ordering::Relaxed);
            "The secret is XLII."
        });
        let other = ScriptedModel::new("other", |_| "I am asked in vain.");
        let agent = ReActAgent::builder("sayer").model(model).hook(interceptors.output(output));
        let agent =
            agent.hook(ModelRetry::with(crate::support::at_once()).unwrap().retry_on(|_| true));
        let agent = agent.hook(ModelFallback::new(other)).build().unwrap();
        let error = agent.call("Go").await.unwrap_err();
        assert!(!error.is_transient());
        assert!(hooks_agent_interceptors::Blocked::find(&error).is_some(), "{error:?}");
        assert_eq!(asked.load(Ordering::Relaxed), 1);
        assert_eq!(records.denied(), ["secrets"]);
    }
}

/// A summary that is denied at the output.
#[tokio::test]
async fn a_denied_summary_is_nowhere() {
    for output in [Output::Buffered, by_chunk()] {
        for point in ["post_model_call", "output"] {
            if output != Output::Buffered && point == "output" {
                continue;
            }
            let (interceptors, records) = deciding(at(point, |context| {
                if context["target"].to_string().contains("SECRET") {
                    deny("secrets")
                } else {
                    Verdict::allow()
                }
            }));
            let asked = AtomicUsize::new(0);
            let model = ScriptedModel::new("scripted", move |_| -> ScriptedAnswer {
                match asked.fetch_add(1, Ordering::Relaxed) {
                    0 => ToolUse::new("1", "look", json!({})).into(),
                    _ => "SECRET summary".into(),
                }
            });
            let agent = ReActAgent::builder("bot").model(model).tool(look()).max_iters(1);
            let agent = agent.hook(interceptors.output(output)).build().unwrap();
            let seen = all_of(&agent, "Go").await;
            assert!(!seen.contains("SECRET"), "{seen} {:?}", records.points());
            assert!(seen.contains("secrets"), "{seen}");
        }
    }
}

/// An answer of a hook, with text that no verdict covers, in hooks that show it.
#[tokio::test]
async fn an_answer_of_a_hook_is_shown_nowhere_before_the_verdict_about_it() {
    use hooks_agent_builtin::answer::Streaming;
    use hooks_agent_builtin::observe::JsonlTrace;
    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);
    impl std::io::Write for Written {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    for output in [Output::Buffered, by_chunk()] {
        let (interceptors, _) = deciding(at("output", |_| deny("secrets")));
        let told = Arc::new(Mutex::new(String::new()));
        let heard = told.clone();
        let streaming = Streaming::to_callback(move |event| {
            heard.lock().unwrap().push_str(&serde_json::to_string(&event).unwrap());
        });
        let written = Written::default();
        let trace = JsonlTrace::to_writer(written.clone());
        let answers =
            on(|event: &mut PreReasoning<'_>| event.answer(Msg::assistant("bot", "CACHED-4711")));
        let model = ScriptedModel::new("scripted", |_| "never");
        let agent = ReActAgent::builder("bot").model(model).hook(answers).hook(streaming);
        let agent = agent.hook(trace.open().unwrap()).hook(interceptors.output(output));
        let agent = agent.build().unwrap();
        let seen = all_of(&agent, "Go").await;
        let trace = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
        let all = format!("{}\n{trace}\n{seen}", told.lock().unwrap());
        assert!(!all.contains("CACHED-4711"), "{output:?} {all}");
    }
}

/// A transform of a segment that cannot be read back.
#[tokio::test]
async fn a_change_of_a_segment_that_cannot_be_read_back_is_denied() {
    for (path, value) in [
        ("$target.content", json!(7)),
        ("$target", json!("text")),
        (
            "$target",
            json!({ "content": "x", "tool_calls": [], "finish_reason": "incremental", "more": 1 }),
        ),
    ] {
        let (interceptors, records) = deciding(at("post_model_call", {
            let value = value.clone();
            move |context| {
                if context["response"]["finish_reason"] == "incremental" {
                    transform(path, value.clone())
                } else {
                    Verdict::allow()
                }
            }
        }));
        let chunks = vec![text("one"), text("two"), end()];
        let agent = ReActAgent::builder("bot").model(Chunks(chunks));
        let agent = agent.hook(interceptors.output(by_chunk())).build().unwrap();
        let reply = agent.call("Go").await;
        assert!(reply.is_err(), "{path} {value} {reply:?} {:?}", records.points());
    }
}
