//! What was denied is nowhere.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use agent_hooks::{AgentContext, Interceptor, Verdict};
use hooks_agent_core::prelude::*;
use hooks_agent_interceptors::{Output, async_trait};
use serde_json::{Value, json};
use tokio::task::yield_now;

use crate::attacked::{DeniesWord, by_chunk, check};
use crate::support::{
    all_of, at, deciding, deny, looker, looking, memory_of, saying, transform, with,
};

/// Each permitted `pre_tool_call` has one `post_tool_call`.
#[tokio::test]
async fn arguments_that_cannot_be_read_back_leave_no_permitted_point_without_its_pair() {
    let (interceptors, records) = deciding(at("pre_tool_call", |_| transform("$target", "text")));
    let agent = looker(interceptors);
    agent.call("Go").await.unwrap();
    let all = records.all();
    let pre = all
        .iter()
        .filter(|it| it.interception_point.as_str() == "pre_tool_call" && it.proceeds())
        .count();
    let post = all.iter().filter(|it| it.interception_point.as_str() == "post_tool_call").count();
    assert_eq!(pre, post, "{:?}", records.points());
}

#[agent_hook]
impl Fails {
    async fn around_tool(
        &self,
        call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        let result = next.run(call.into_tool_use()).await?;
        Err(next.fail(format!("cannot store {}", result.output.as_str())))
    }
}

struct Fails;

/// An error that ends the call, with a denied text.
#[tokio::test]
async fn a_denied_error_that_ends_the_call_is_nowhere() {
    let (interceptors, records) = deciding(at("post_tool_call", |_| deny("tainted")));
    let tool = FunctionTool::new("look", "Looks.", async |_: Value| "RESULT-4711");
    let agent = ReActAgent::builder("looker").model(looking(json!({}))).tool(tool);
    let agent = agent.hook(Fails).hook(interceptors).build().unwrap();
    let seen = all_of(&agent, "Go").await;
    assert!(!seen.contains("RESULT-4711"), "{seen} {:?}", records.points());
}

/// A call that ends with a result of a tool.
#[tokio::test]
async fn a_denied_reply_that_is_the_result_of_a_tool_is_nowhere() {
    let (interceptors, records) = deciding(at("output", |context| {
        if context["output"].to_string().contains("RESULT-4711") {
            deny("secrets")
        } else {
            Verdict::allow()
        }
    }));
    let ends = on(|event: &mut PostActing<'_>| event.jump_to_end());
    let tool = FunctionTool::new("look", "Looks.", async |_: Value| "RESULT-4711");
    let agent = ReActAgent::builder("looker").model(looking(json!({}))).tool(tool);
    let agent = agent.hook(ends).hook(interceptors).build().unwrap();
    assert!(agent.call("Go").await.is_err(), "{:?}", records.points());
    let memory = memory_of(&agent);
    assert!(!memory.contains("RESULT-4711"), "{memory}");
}

/// Another agent says something while the reply waits for its verdict.
#[tokio::test]
async fn a_denied_reply_is_withheld_also_if_something_was_observed_meanwhile() {
    struct Slow(Mutex<Option<tokio::sync::oneshot::Sender<()>>>, tokio::sync::Semaphore);
    #[async_trait]
    impl Interceptor for Slow {
        async fn intercept(&self, context: &AgentContext) -> Verdict {
            if context["interception_point"] == "output" {
                if let Some(reached) = self.0.lock().unwrap().take() {
                    reached.send(()).unwrap();
                }
                drop(self.1.acquire().await);
                return deny("secrets");
            }
            Verdict::allow()
        }
    }
    struct Shared(Arc<Slow>);
    #[async_trait]
    impl Interceptor for Shared {
        async fn intercept(&self, context: &AgentContext) -> Verdict {
            self.0.intercept(context).await
        }
    }
    let (reached, is_reached) = tokio::sync::oneshot::channel();
    let slow = Arc::new(Slow(Mutex::new(Some(reached)), tokio::sync::Semaphore::new(0)));
    let (interceptors, records) = with(Shared(slow.clone()));
    let model = ScriptedModel::new("scripted", |_| "SECRET");
    let agent = ReActAgent::builder("bot").model(model).hook(interceptors).build().unwrap();
    let agent = Arc::new(agent);
    let other = ScriptedModel::new("other", |_| "I am another agent.");
    let other = ReActAgent::builder("other").model(other).build().unwrap();
    let observer: Arc<dyn Agent> = agent.clone();
    other.state().subscribe(&observer);
    let call = tokio::spawn(agent.clone().call_owned(CallOptions::new(), "Go"));
    is_reached.await.unwrap();
    other.call("Hello").await.unwrap();
    slow.1.add_permits(1);
    assert!(call.await.unwrap().is_err());
    let memory = memory_of(&agent);
    assert!(!memory.contains("SECRET"), "{memory} {:?}", records.points());
}

/// Hooks that show what happens.
#[tokio::test]
async fn hooks_that_write_have_no_result_that_was_withheld() {
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
        for point in ["post_tool_call", "input", "post_model_call"] {
            let (interceptors, _) = deciding(at(point, |context| {
                if context["target"].to_string().contains("4711") {
                    deny("secrets")
                } else {
                    Verdict::allow()
                }
            }));
            let told = Arc::new(Mutex::new(String::new()));
            let heard = told.clone();
            let streaming = Streaming::to_callback(move |event| {
                heard.lock().unwrap().push_str(&serde_json::to_string(&event).unwrap());
            });
            let written = Written::default();
            let trace = JsonlTrace::to_writer(written.clone());
            let model = ScriptedModel::new("scripted", |request| -> ScriptedAnswer {
                match request.messages.last().unwrap().tool_results().next() {
                    None => ToolUse::new("1", "look", json!({})).into(),
                    Some(_) => "MODEL-4711".into(),
                }
            });
            let tool =
                FunctionTool::with_context("look", "Looks.", async |_: Value, cx: ToolContext| {
                    cx.progress("PROGRESS-4711");
                    "RESULT-4711"
                });
            let agent = ReActAgent::builder("bot").model(model).tool(tool).hook(streaming);
            let agent = agent.hook(trace.open().unwrap()).hook(interceptors.output(output));
            let agent = agent.build().unwrap();
            let _ = agent.call("INPUT-4711").await;
            let trace = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
            let all = format!("{}\n{trace}\n{}", told.lock().unwrap(), memory_of(&agent));
            let word = match point {
                "post_tool_call" => "RESULT-4711",
                "input" => "INPUT-4711",
                _ => "MODEL-4711",
            };
            assert!(!all.contains(word), "{output:?} {point} {all}");
        }
    }
}

/// An agent that is inside of another, denied at its own output.
#[tokio::test]
async fn a_denied_reply_of_a_sub_agent_is_nowhere() {
    let (interceptors, records) = deciding(at("output", |context| {
        if context["agent"]["name"] == "look" { deny("secrets") } else { Verdict::allow() }
    }));
    let below = ScriptedModel::new("below", |_| "BELOW-4711");
    let below = ReActAgent::builder("look").model(below).build().unwrap();
    let agent = ReActAgent::builder("above").model(looking(json!({ "task": "Go" })));
    let agent = agent.tool(below.to_tool("Looks.")).hook(interceptors).build().unwrap();
    let seen = all_of(&agent, "Go").await + &memory_of(&below);
    assert!(!seen.contains("BELOW-4711"), "{seen}");
    assert_eq!(check(&records), Ok(()));
}

/// A changed reply that is the result of a tool.
#[tokio::test]
async fn a_changed_reply_that_is_the_result_of_a_tool_is_nowhere_as_it_was() {
    let (interceptors, records) = deciding(at("output", |context| {
        println!("{}", context["output"]);
        transform("$target.content", "***")
    }));
    let ends = on(|event: &mut PostActing<'_>| event.jump_to_end());
    let tool = FunctionTool::new("look", "Looks.", async |_: Value| "RESULT-4711");
    let agent = ReActAgent::builder("looker").model(looking(json!({}))).tool(tool);
    let agent = agent.hook(ends).hook(interceptors).build().unwrap();
    let reply = agent.call("Go").await;
    let memory = memory_of(&agent);
    assert!(!memory.contains("RESULT-4711"), "{reply:?} {memory} {:?}", records.points());
}

/// An answer with media that a hook joined.
#[tokio::test]
async fn a_denied_reply_with_media_is_nowhere() {
    use hooks_agent_core::message::Media;
    for is_denied in [true, false] {
        let (interceptors, records) = deciding(at("output", move |_| {
            if is_denied { deny("secrets") } else { transform("$target.content", "***") }
        }));
        let adds = on(|event: &mut PostReasoning<'_>| {
            let image = Media::base64("image/png", "PIN4");
            event.message_mut().content.push(ContentBlock::Image(image));
        });
        let model = ScriptedModel::new("scripted", |_| "Here.");
        let agent = ReActAgent::builder("bot").model(model).hook(adds).hook(interceptors);
        let agent = agent.build().unwrap();
        let reply = agent.call("Go").await;
        let memory = memory_of(&agent);
        assert!(!memory.contains("PIN4"), "{is_denied} {reply:?} {memory} {:?}", records.points());
    }
}

/// Results that are too large.
#[tokio::test]
async fn a_result_that_is_too_large_is_withheld() {
    let (interceptors, records) = deciding(|_| Verdict::allow());
    let tool = FunctionTool::new("look", "Looks.", async |_: Value| "PIN4".repeat(100));
    let agent = ReActAgent::builder("looker").model(looking(json!({}))).tool(tool);
    let agent = agent.hook(interceptors.most_bytes(350)).build().unwrap();
    let seen = all_of(&agent, "Go").await;
    assert!(!seen.contains("PIN4"), "{seen}");
    assert_eq!(check(&records), Ok(()));

    // Evaluate only: as it is.
    let (interceptors, _) = deciding(|_| deny("no"));
    let tool = FunctionTool::new("look", "Looks.", async |_: Value| "PIN4".repeat(100));
    let agent = ReActAgent::builder("looker").model(looking(json!({}))).tool(tool);
    let agent = agent.hook(interceptors.most_bytes(3).evaluate_only(true)).build().unwrap();
    assert!(agent.call("Go").await.unwrap().text().contains("PIN4"));
}

/// The same on the way in.
#[tokio::test]
async fn an_input_that_was_denied_or_never_decided_is_nowhere() {
    for times in [3, 1000] {
        let (interceptors, records) = with(DeniesWord { at: "input", word: "PIN-4711", waits: 5 });
        let agent = saying("Hello.", interceptors);
        {
            let mut call = Box::pin(agent.call("PIN-4711"));
            for _ in 0..times {
                let is_pending = std::future::poll_fn(|cx| {
                    std::task::Poll::Ready(
                        std::future::Future::poll(call.as_mut(), cx).is_pending(),
                    )
                });
                if !is_pending.await {
                    break;
                }
            }
        }
        for _ in 0..30 {
            yield_now().await;
        }
        assert_eq!(check(&records), Ok(()));
        assert!(!memory_of(&agent).contains("PIN-4711"));
    }
}

/// Long-term memory.
#[tokio::test]
async fn a_reply_that_was_denied_is_not_in_long_term_memory() {
    use hooks_agent_knowledge::{Keep, LongTermMemory, ProcessMemories};
    let keep = Keep::by_rule(|said| vec![said.reply.clone()]);
    let memory = LongTermMemory::new(ProcessMemories::new(), keep);
    let (interceptors, records) = deciding(at("output", |context| {
        if context["output"].to_string().contains("My pin is 4711") {
            deny("secrets")
        } else {
            Verdict::allow()
        }
    }));
    let asked = AtomicUsize::new(0);
    let model = ScriptedModel::new("scripted", move |request| {
        match asked.fetch_add(1, Ordering::Relaxed) {
            0 => "My pin is 4711.".to_owned(),
            _ => format!(
                "I know: {}",
                request
                    .messages
                    .iter()
                    .map(Msg::text)
                    .collect::<Vec<_>>()
                    .join("|")
                    .replace("4711", "4-7-1-1")
            ),
        }
    });
    let agent = ReActAgent::builder("bot").model(model).hook(memory).hook(interceptors);
    let agent = agent.build().unwrap();
    let on = |thread: &str| CallOptions::new().user("ada").thread(thread);
    assert!(agent.call_with(on("monday"), "What is the pin?").await.is_err());
    let reply = agent.call_with(on("friday"), "What is the pin?").await.unwrap();
    assert!(!reply.text().contains("4-7-1-1"), "{} {:?}", reply.text(), records.points());
}

/// The error of a tool that was withheld, in hooks that write.
#[tokio::test]
async fn an_error_of_a_tool_that_was_withheld_is_in_no_trace() {
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
    for verdict in [deny("tainted"), transform("$target", "***")] {
        let (interceptors, _) = deciding(at("post_tool_call", move |_| verdict.clone()));
        let written = Written::default();
        let trace = JsonlTrace::to_writer(written.clone());
        let fails =
            FunctionTool::new("look", "Looks.", async |_: Value| -> Result<String, String> {
                Err("ERROR-4711".to_owned())
            });
        let agent = ReActAgent::builder("bot").model(looking(json!({}))).tool(fails);
        let agent = agent.hook(trace.open().unwrap()).hook(interceptors).build().unwrap();
        let seen = all_of(&agent, "Go").await;
        let trace = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
        assert!(!seen.contains("ERROR-4711") && !trace.contains("ERROR-4711"), "{seen} {trace}");
    }
}

/// A sub-agent with interceptors of its own, inside of those of its caller.
#[tokio::test]
async fn a_sub_agent_with_interceptors_of_its_own_keeps_both_verdicts() {
    for output in [Output::Buffered, by_chunk()] {
        for is_own in [true, false] {
            for point in ["post_model_call", "output"] {
                if point == "output" && output != Output::Buffered {
                    continue;
                }
                let denies = || {
                    deciding(move |context| {
                        let is_it = context["agent"]["name"] == "look"
                            && context["interception_point"] == point;
                        if is_it { deny("secrets") } else { Verdict::allow() }
                    })
                };
                let allows = || deciding(|_| Verdict::allow());
                let (own, own_records) = if is_own { denies() } else { allows() };
                let (outer, outer_records) = if is_own { allows() } else { denies() };
                let below = ScriptedModel::new("below", |_| "BELOW-4711");
                let below = ReActAgent::builder("look").model(below).hook(own.output(output));
                let below = below.build().unwrap();
                let agent = ReActAgent::builder("above").model(looking(json!({ "task": "Go" })));
                let agent = agent.tool(below.to_tool("Looks.")).hook(outer.output(output));
                let agent = agent.build().unwrap();
                let seen = all_of(&agent, "Go").await + &memory_of(&below);
                assert!(!seen.contains("BELOW-4711"), "{output:?} {is_own} {point} {seen}");
                assert_eq!(check(&own_records), Ok(()));
                assert_eq!(check(&outer_records), Ok(()));
            }
        }
    }
}
