//! Calls that are stopped, fail or panic, wherever they are.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use agent_hooks::{AgentContext, Interceptor, Verdict};
use futures::{StreamExt, stream};
use hooks_agent_core::message::GenerateReason;
use hooks_agent_core::model::ChatStream;
use hooks_agent_core::prelude::*;
use hooks_agent_interceptors::{Interceptors, Output, Profile, async_trait};
use serde_json::json;
use tokio::task::yield_now;

use crate::attacked::{DeniesWord, busy, by_chunk, check, text};
use crate::support::{Records, all_of, at, deciding, deny, look, looker, memory_of, with};

/// Shutdown is last.
#[tokio::test]
async fn nothing_follows_the_shutdown_of_a_session() {
    let kept = Arc::new(Mutex::new(None));
    let keeps = kept.clone();
    let hook = on(move |event: &mut PostCall<'_>| {
        *keeps.lock().unwrap() = Some(event.context().clone());
    });
    let (interceptors, records) = deciding(|_| Verdict::allow());
    let model = ScriptedModel::new("scripted", |_| "Hello.");
    let agent = ReActAgent::builder("bot").model(model).hook(hook).hook(interceptors);
    let agent = agent.tool(look()).build().unwrap();
    agent.call("Go").await.unwrap();
    let cx = kept.lock().unwrap().take().unwrap();
    let asked = agent.model_call(cx.clone(), ChatRequest::new(Msg::user("Go"))).await;
    let call = Arc::new(ToolUse::new("1", "look", json!({})));
    let looked = agent.tool_call(cx, call).await;
    let points = records.points();
    assert!(asked.is_err() && looked.is_err(), "{points:?}");
    let last = points.iter().position(|it| it == "agent_shutdown").unwrap();
    let all = records.all();
    let session = &all[last].session_id;
    assert!(all.iter().rposition(|it| it.session_id == *session) == Some(last), "{points:?}");
}

/// Dropped while `output` is asked about.
#[tokio::test]
async fn a_reply_whose_output_verdict_never_came_is_not_in_memory() {
    struct Waits;
    #[async_trait]
    impl Interceptor for Waits {
        async fn intercept(&self, context: &AgentContext) -> Verdict {
            if context["interception_point"] == "output"
                && context["output"]["content"].as_str().unwrap().contains("SECRET")
            {
                for _ in 0..1000 {
                    yield_now().await;
                }
                return deny("secrets");
            }
            Verdict::allow()
        }
    }
    let (interceptors, records) = with(Waits);
    let model = ScriptedModel::new("scripted", |request| match request.messages.len() {
        1 => "SECRET".to_owned(),
        _ => request.messages.iter().map(Msg::text).collect::<Vec<_>>().join("|"),
    });
    let agent = ReActAgent::builder("bot").model(model).hook(interceptors).build().unwrap();
    {
        let mut call = Box::pin(agent.call("Go"));
        for _ in 0..50 {
            let polled = std::future::poll_fn(|cx| {
                std::task::Poll::Ready(std::future::Future::poll(call.as_mut(), cx).is_pending())
            });
            assert!(polled.await);
        }
    }
    for _ in 0..20 {
        yield_now().await;
    }
    let memory = memory_of(&agent);
    assert!(!memory.contains("SECRET"), "{memory} {:?}", records.points());
}

/// A hook fails after the answer: `output` is never asked.
#[tokio::test]
async fn a_reply_of_a_call_that_fails_before_its_output_verdict_is_not_in_memory() {
    let (interceptors, records) = deciding(at("output", |_| deny("secrets")));
    let fails = on(|_: &mut PostCall<'_>| -> HookResult { Err("on purpose".into()) });
    let model = ScriptedModel::new("scripted", |_| "SECRET");
    let agent = ReActAgent::builder("bot").model(model).hook(fails).hook(interceptors);
    let agent = agent.build().unwrap();
    let seen = all_of(&agent, "Go").await;
    assert!(!seen.contains("SECRET"), "{seen} {:?}", records.points());
}

#[derive(Clone, Copy, Debug)]
enum Stop {
    Drop,
    Interrupt,
}

/// Dropped or interrupted at each await.
#[tokio::test]
async fn nothing_denied_is_left_wherever_a_call_is_stopped() {
    let mut faults = Vec::new();
    for output in [Output::Buffered, by_chunk(), Output::incremental()] {
        for point in ["post_model_call", "post_tool_call", "output", "pre_tool_call", "input"] {
            for at_once in [false, true] {
                for stop in [Stop::Drop, Stop::Interrupt] {
                    for times in (0..24).chain((24..150).step_by(7)) {
                        let records = Records::default();
                        let interceptors = Interceptors::new(Profile::default())
                            .add("word", DeniesWord { at: point, word: "SECRET", waits: 2 })
                            .add("slow", DeniesWord { at: "none", word: "", waits: 1 })
                            .output(output)
                            .records(records.0.clone());
                        let agent = busy(interceptors, at_once);
                        let interrupt = hooks_agent_core::call::Interrupt::new();
                        let mut seen = String::new();
                        {
                            let options = CallOptions::new().interrupt(interrupt.clone());
                            let mut stream = agent.stream_with(options, "Go");
                            let mut left = times;
                            std::future::poll_fn(|cx| {
                                loop {
                                    if left == 0 {
                                        match stop {
                                            Stop::Drop => return std::task::Poll::Ready(()),
                                            Stop::Interrupt => interrupt.interrupt(),
                                        }
                                    } else {
                                        left -= 1;
                                    }
                                    match stream.poll_next_unpin(cx) {
                                        std::task::Poll::Ready(Some(Ok(event))) => {
                                            seen.push_str(&serde_json::to_string(&event).unwrap());
                                        }
                                        std::task::Poll::Ready(Some(Err(error))) => {
                                            write!(seen, "{error:?}").unwrap();
                                        }
                                        std::task::Poll::Ready(None) => {
                                            return std::task::Poll::Ready(());
                                        }
                                        std::task::Poll::Pending => {
                                            return std::task::Poll::Pending;
                                        }
                                    }
                                }
                            })
                            .await;
                        }
                        for _ in 0..60 {
                            yield_now().await;
                        }
                        let what = format!("{output:?} {point} {at_once} {stop:?} {times}");
                        if let Err(fault) = check(&records) {
                            faults.push(format!("{what} {fault}"));
                        }
                        // Known: memory of a call that has no verdict at `output`.
                        let memory = memory_of(&agent);
                        let leaks = match point {
                            "post_model_call" => {
                                seen.contains("BELOW SECRET")
                                    || seen.contains("RET\"")
                                    || seen.contains("you see")
                                    || memory.contains("BELOW SECRET")
                                    || memory.contains("you see")
                            }
                            "post_tool_call" => {
                                seen.contains("SECRET result") || memory.contains("SECRET result")
                            }
                            "output" => {
                                output == Output::Buffered
                                    && (seen.contains("you see") || seen.contains("SECRET thought"))
                            }
                            _ => false,
                        };
                        if leaks || seen.contains("SECRET progress") {
                            faults.push(format!("{what} {seen} {memory}"));
                        }
                    }
                }
            }
        }
    }
    let count = faults.len();
    faults.truncate(3);
    assert!(faults.is_empty(), "{count} {faults:#?}");
}

/// Waits until each session has its end: that of a call that was dropped is asked about on the runtime.
async fn all_ended(records: &Records) {
    let count = |point: &str| {
        records.all().iter().filter(|it| it.interception_point.as_str() == point).count()
    };
    let ended = async {
        while count("agent_startup") != count("agent_shutdown") {
            yield_now().await;
        }
    };
    let in_time = tokio::time::timeout(std::time::Duration::from_mins(1), ended).await;
    assert!(in_time.is_ok(), "{:?}", records.points());
}

/// Many calls of one agent at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_calls_at_once_have_whole_trails() {
    for output in [Output::Buffered, by_chunk()] {
        for round in 0..20 {
            let records = Records::default();
            let interceptors = Interceptors::new(Profile::default())
                .add("word", DeniesWord { at: "post_tool_call", word: "SECRET", waits: round % 4 })
                .output(output)
                .records(records.0.clone());
            let agent = Arc::new(busy(interceptors, true));
            let calls: Vec<_> = (0..8)
                .map(|number| {
                    let options = CallOptions::new().thread(format!("t{}", number % 5));
                    tokio::spawn(agent.clone().call_owned(options, "Go"))
                })
                .collect();
            for (number, call) in calls.into_iter().enumerate() {
                if number == 3 {
                    call.abort();
                    let _ = call.await;
                } else {
                    drop(call.await.unwrap());
                }
            }
            all_ended(&records).await;
            assert_eq!(check(&records), Ok(()));
        }
    }
}

/// What panics.
#[tokio::test]
async fn whatever_panics_the_trail_is_whole_and_nothing_is_left() {
    struct Panics(usize);
    impl ChatModel for Panics {
        fn name(&self) -> &'static str {
            "panics"
        }
        fn stream(&self, _: ChatRequest) -> ChatStream {
            assert!(self.0 != 0, "on purpose");
            let left = self.0;
            Box::pin(stream::iter(0..).map(move |number| {
                assert!(number != left, "on purpose");
                text("SECRET ")
            }))
        }
    }
    for output in [Output::Buffered, by_chunk(), Output::incremental()] {
        for number in 0..4 {
            let (interceptors, records) = with(DeniesWord { at: "none", word: "", waits: 1 });
            let agent = ReActAgent::builder("bot").model(Panics(number));
            let agent = Arc::new(agent.hook(interceptors.output(output)).build().unwrap());
            let call = tokio::spawn(agent.clone().call_owned(CallOptions::new(), "Go")).await;
            for _ in 0..50 {
                yield_now().await;
            }
            assert!(call.is_err() || call.unwrap().is_err());
            assert_eq!(check(&records), Ok(()));
            assert!(!memory_of(&agent).contains("SECRET"));
        }
        for at in [
            "agent_startup",
            "input",
            "pre_model_call",
            "post_model_call",
            "pre_tool_call",
            "post_tool_call",
            "output",
            "agent_shutdown",
        ] {
            let (interceptors, records) = deciding(move |context| {
                assert!(context["interception_point"] != at, "on purpose");
                Verdict::allow()
            });
            let agent = busy(interceptors.output(output), true);
            let seen = all_of(&agent, "Go").await;
            if at == "post_model_call" {
                assert!(!seen.contains("SECRET"), "{seen}");
            }
            if at == "post_tool_call" {
                assert!(!seen.contains("SECRET result"), "{seen}");
            }
            assert_eq!(check(&records), Ok(()));
        }
    }
}

/// A redactor that panics.
#[tokio::test]
async fn a_redactor_that_panics_fails_closed() {
    struct Approves;
    #[async_trait]
    impl agent_hooks::ApprovalResolver for Approves {
        async fn resolve(
            &self,
            request: agent_hooks::ApprovalRequest<'_>,
        ) -> agent_hooks::ApprovalResolution {
            agent_hooks::ApprovalResolution {
                outcome: agent_hooks::ApprovalOutcome::Approve,
                context_identity: request.context_identity.clone(),
                verdict: Some(Verdict::allow()),
            }
        }
    }
    for point in ["input", "pre_tool_call", "post_tool_call", "output", "post_model_call"] {
        let (interceptors, records) =
            deciding(at(point, |_| Verdict::escalate(Some("ask".to_owned()), None)));
        let interceptors = interceptors.resolver(Approves).redact(|_| panic!("on purpose"));
        let agent = Arc::new(looker(interceptors));
        let call = tokio::spawn(agent.clone().call_owned(CallOptions::new(), "Go")).await;
        for _ in 0..50 {
            yield_now().await;
        }
        println!("{point} {call:?} {:?}", records.points());
        assert_eq!(check(&records), Ok(()), "{point}");
        assert!(
            !memory_of(&agent).contains(r#"I read: {\"at"#),
            "{point} {call:?} {:?}",
            records.points()
        );
    }
}

/// A call that outlives its runtime.
#[test]
fn a_call_that_outlives_its_runtime_has_its_end() {
    for times in 0..60 {
        let records = Records::default();
        let interceptors = Interceptors::new(Profile::default())
            .add("word", DeniesWord { at: "none", word: "", waits: 1 })
            .records(records.0.clone());
        let agent = busy(interceptors, true);
        let mut call = Box::pin(agent.call("Go"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let is_done = runtime.block_on(async {
            let mut left = times;
            std::future::poll_fn(|cx| {
                if left == 0 {
                    return std::task::Poll::Ready(false);
                }
                left -= 1;
                std::future::Future::poll(call.as_mut(), cx).map(|_| true)
            })
            .await
        });
        if times % 2 == 0 {
            drop(runtime);
            drop(call);
        } else {
            drop(call);
            drop(runtime);
        }
        if times > 0 {
            assert_eq!(check(&records), Ok(()), "{times} {is_done}");
        }
    }
}

/// An agent that shuts down.
#[tokio::test]
async fn an_agent_that_shuts_down_has_whole_trails() {
    for times in 0..80 {
        let records = Records::default();
        let interceptors = Interceptors::new(Profile::default())
            .add("word", DeniesWord { at: "none", word: "", waits: 1 })
            .records(records.0.clone());
        let agent = Arc::new(busy(interceptors, true));
        let call = tokio::spawn(agent.clone().call_owned(CallOptions::new(), "Go"));
        for _ in 0..times {
            yield_now().await;
        }
        agent.shutdown().await;
        let _ = call.await;
        for _ in 0..50 {
            yield_now().await;
        }
        if !records.all().is_empty() {
            assert_eq!(check(&records), Ok(()), "{times}");
        }
    }
}

/// An interrupt while `output` is asked about, and the next request.
#[tokio::test]
async fn a_reply_that_was_interrupted_before_its_verdict_is_not_told_to_the_model() {
    let (interceptors, records) = with(DeniesWord { at: "output", word: "SECRET", waits: 100 });
    let model = ScriptedModel::new("scripted", |request| match request.messages.len() {
        1 => "SECRET".to_owned(),
        _ => request
            .messages
            .iter()
            .map(Msg::text)
            .collect::<Vec<_>>()
            .join("|")
            .replace("SECRET", "S-E-C"),
    });
    let agent = ReActAgent::builder("bot").model(model).hook(interceptors).build().unwrap();
    let agent = Arc::new(agent);
    let interrupt = hooks_agent_core::call::Interrupt::new();
    let options = CallOptions::new().interrupt(interrupt.clone());
    let call = tokio::spawn(agent.clone().call_owned(options, "Go"));
    while !records.points().contains(&"post_model_call".to_owned()) {
        yield_now().await;
    }
    for _ in 0..10 {
        yield_now().await;
    }
    interrupt.interrupt();
    let reply = call.await.unwrap().unwrap();
    assert_eq!((reply.reason, reply.text()), (Some(GenerateReason::Interrupted), String::new()));
    let reply = agent.call("Go on").await.unwrap();
    assert!(!reply.text().contains("S-E-C"), "{} {:?}", reply.text(), records.points());
}
