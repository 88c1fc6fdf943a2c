//! Tests of the module `testing` of `hooks-agent` (vectors TH).

use std::error::Error;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::executor::block_on;
use hooks_agent_core::agent::CallOutcome;
use hooks_agent_core::memory::Memory;
use hooks_agent_core::message::{GenerateReason, Messages};
use hooks_agent_core::model::ModelError;
use hooks_agent_core::prelude::*;
use hooks_agent_core::round::JumpTo;
use hooks_agent_core::testing::{Calls, Probe, Recorder, Script, SeenFlow, check_history};
use hooks_agent_core::tool::ToolError;
use hooks_fixtures::scripted_agents::go;
use hooks_fixtures::{Records, Reports};
use serde_json::json;
use tracing::Level;

/// A hook with a sync and an async handler of each kind of flow.
struct Guard;

#[agent_hook]
impl Guard {
    async fn deny(&self, event: &mut PreActing<'_>) -> Flow {
        tokio::task::yield_now().await;
        match &*event.tool_use().name {
            "delete_file" => event.refuse("not the root"),
            "pay" => event.ask("payments need approval"),
            "exit" => event.stop(),
            "clock" => event.answer("noon"),
            _ => Flow::Continue,
        }
    }

    fn mask(&self, event: &mut PostActing<'_>) {
        event.tool_result_mut().output.map_text(|text| text.replace("a@b.c", "<email>"));
    }
}

fn tool_call(name: &str) -> ToolUse {
    ToolUse::new("1", name, json!({ "path": "/" }))
}

/// Returns the text of the panic of an assertion.
fn panic_of(assertion: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(assertion)).expect_err("the assertion fails");
    *panic.downcast::<String>().expect("an assertion panics with a text")
}

/// TH-01.
#[test]
fn a_probe_runs_one_hook_at_one_event() {
    block_on(async {
        let seen = Probe::new(Guard).pre_acting(tool_call("delete_file")).await.unwrap();
        seen.assert_refused("not the root").assert_unchanged();

        let call = tool_call("read_file");
        let probe = Probe::new(Guard).value("ada".to_owned()).thread("t");
        let seen = probe.post_acting(&call, ToolResult::success(&call, "a@b.c")).await.unwrap();
        assert_eq!(seen.event.output, "<email>");
        assert!(seen.changed && seen.failure.is_none());
    });
}

#[test]
fn every_flow_of_a_tool_call_can_be_asserted() {
    block_on(async {
        let probe = Probe::new(Guard);
        let see = async |name| probe.pre_acting(tool_call(name)).await.unwrap();
        see("read_file").await.assert_continues();
        see("pay").await.assert_asked("approval");
        see("exit").await.assert_stopped();
        see("clock").await.assert_answered("noon");
        probe.pre_acting(tool_call("pay")).await.unwrap().assert_asked("need");
        let confirmed = Probe::new(Guard).confirm("1");
        confirmed.pre_acting(tool_call("pay")).await.unwrap().assert_continues();
    });
}

/// TH-02.
#[test]
fn the_error_of_a_hook_is_shown_with_its_name_and_its_source() {
    let hook =
        on(|_: &mut PostCall<'_>| -> HookResult { Err(io::Error::other("the disk is full"))? });
    let hook = hook.named("store");
    let seen = block_on(Probe::new(hook).post_call(Msg::assistant("bot", "hi"))).unwrap();
    seen.assert_failed("disk").assert_unchanged();
    assert_eq!(seen.flow, SeenFlow::Continue);
    assert_eq!(seen.event.text(), "hi");
    let failure = seen.failure.as_ref().unwrap();
    assert_eq!(failure.hook, "store");
    let text = "hook `store` failed at POST_CALL: the disk is full";
    assert_eq!(failure.to_string(), text);
    assert!(failure.source().unwrap().is::<io::Error>());
}

/// TH-03.
#[test]
fn a_panic_of_a_hook_is_its_failure_and_the_test_goes_on() {
    let probe = Probe::new(on(|_: &mut PreActing<'_>| -> Flow { panic!("a bug") }));
    let seen = block_on(probe.pre_acting(tool_call("any"))).unwrap();
    seen.assert_failed("panicked");
    let text = panic_of(|| _ = seen.assert_continues());
    assert!(text.contains("failed: the hook panicked"), "{text}");
}

/// TH-04.
#[test]
fn an_event_that_the_hook_does_not_receive_is_an_error() {
    let error = block_on(Probe::new(Guard).pre_call("hi")).unwrap_err();
    let expected = "hook `Guard` does not receive PRE_CALL, it receives PRE_ACTING, POST_ACTING";
    assert_eq!(error.to_string(), expected);
}

struct Now;

#[agent_hook(name = "twin")]
impl Now {
    fn rewrite(&self, event: &mut PreActing<'_>) -> Flow {
        event.tool_use_mut().name.push('!');
        event.stop()
    }
}

struct Later;

#[agent_hook(name = "twin")]
impl Later {
    async fn rewrite(&self, event: &mut PreActing<'_>) -> Flow {
        tokio::task::yield_now().await;
        event.tool_use_mut().name.push('!');
        event.stop()
    }
}

/// TH-05.
#[test]
fn sync_and_async_hooks_have_the_same_result() {
    block_on(async {
        let now = Probe::new(Now).pre_acting(tool_call("a")).await.unwrap();
        let later = Probe::new(Later).pre_acting(tool_call("a")).await.unwrap();
        assert_eq!(now.event.name, "a!");
        assert_eq!((&now.event, &now.flow, now.changed), (&later.event, &later.flow, true));
        now.assert_stopped();
    });
}

#[test]
fn a_sync_handler_also_runs_when_it_is_called_as_an_async_one() {
    use hooks_agent_core::round::ActingInput;
    let agent = ReActAgent::builder("bot").model(Script::new()).build().unwrap();
    let (cx, mut input) = (CallContext::default(), ActingInput::new(tool_call("a")));
    let mut event = HookEvent::PreActing(PreActing::new(&agent, &cx, &mut input));
    let flow = block_on(Now.on_event(&mut event)).unwrap();
    assert!(matches!(flow, Flow::Then(_)));
    assert_eq!(input.call.name, "a!");
}

/// TH-06.
#[test]
fn a_request_without_a_turn_fails_and_says_which_it_is() {
    let script = Script::new().says("hi");
    let agent = ReActAgent::builder("bot").model(script.clone()).build().unwrap();
    block_on(async {
        assert_eq!(agent.call("first").await.unwrap().text(), "hi");
        let error = agent.call("the second question").await.unwrap_err().to_string();
        assert!(error.contains("no turn 2"), "{error}");
        assert!(error.contains("the second question"), "{error}");
    });
    assert_eq!(script.requests().len(), 2);
    script.finish();
}

/// TH-07.
#[test]
fn a_turn_that_is_left_fails_the_end_of_the_script() {
    let script = Script::new().says("one").says("two");
    let agent = ReActAgent::builder("bot").model(script.clone()).build().unwrap();
    block_on(agent.call("go")).unwrap();
    let text = panic_of(|| script.finish());
    assert!(text.contains("1 of the turns are left") && text.contains("two"), "{text}");
}

#[test]
fn a_script_has_turns_of_every_kind() {
    let script = Script::new()
        .thinks("hm", "let me see")
        .fails(ModelError::status("script", 429))
        .cut()
        .calls([tool_call("a"), ToolUse::new("2", "a", json!({}))])
        .says("done");
    let tool = Calls::new("a").answers("one").fails("no");
    let agent =
        ReActAgent::builder("bot").model(script.clone()).tool(tool.clone()).build().unwrap();
    block_on(async {
        let reply = agent.call("go").await.unwrap();
        assert_eq!(reply.content[0], ContentBlock::thinking("hm"));
        let error = agent.call("go").await.unwrap_err();
        assert!(matches!(error, AgentError::Model(ModelError::Status { .. })), "{error}");
        let error = agent.call("go").await.unwrap_err();
        assert!(matches!(error, AgentError::Model(ModelError::Cut { .. })), "{error}");
        assert_eq!(agent.call("go").await.unwrap().text(), "done");
    });
    tool.assert_called_with([json!({ "path": "/" }), json!({})]);
    let last = script.requests().pop().unwrap();
    let outputs: Vec<_> = last.messages.iter().flat_map(Msg::tool_results).collect();
    assert_eq!(outputs[0].output, "one");
    assert!(outputs[1].is_error && outputs[1].output.as_str().contains("no"));
    check_history(agent.memory());
    script.finish();
}

#[test]
fn a_tool_says_which_answer_it_lacks_and_which_inputs_differ() {
    let script = Script::new().calls([tool_call("a")]).says("done");
    let tool = Calls::new("a");
    let agent =
        ReActAgent::builder("bot").model(script.clone()).tool(tool.clone()).build().unwrap();
    block_on(agent.call("go")).unwrap();
    let last = script.requests()[1].messages.last().cloned().unwrap();
    let output = last.tool_results().next().unwrap().output.to_string();
    assert!(output.contains("tool `a` has no answer 1"), "{output}");
    let text = panic_of(|| tool.assert_called_with([json!({ "path": "/tmp" })]));
    assert!(text.contains(r#"-         "path": String("/tmp"),"#), "{text}");
    assert!(text.contains(r#"+         "path": String("/"),"#), "{text}");
}

struct Slow;

#[agent_hook]
impl Slow {
    async fn wait(&self, _: &mut PreActing<'_>) -> HookResult {
        tokio::time::timeout(Duration::from_secs(30), std::future::pending::<()>()).await?;
        Ok(())
    }
}

/// TH-09.
#[tokio::test(start_paused = true)]
async fn a_hook_times_out_in_paused_time() {
    let start = std::time::Instant::now();
    let seen = Probe::new(Slow).pre_acting(tool_call("a")).await.unwrap();
    seen.assert_failed("deadline has elapsed");
    assert_eq!(seen.elapsed.as_secs(), 30);
    assert!(start.elapsed() < Duration::from_secs(10));
}

/// TH-11.
#[test]
fn an_assertion_that_fails_says_what_the_hook_did_and_where() {
    let seen = block_on(Probe::new(Guard).pre_acting(tool_call("read_file"))).unwrap();
    let text = panic_of(|| _ = seen.assert_refused("x"));
    let expected = "hook `Guard` at PRE_ACTING was expected to refuse with a reason that contains \
                    \"x\", but it continued";
    assert_eq!(text, expected);
    let seen = block_on(Probe::new(Guard).pre_acting(tool_call("delete_file"))).unwrap();
    let text = panic_of(|| _ = seen.assert_stopped());
    assert!(
        text.ends_with("was expected to stop the call, but it refused: not the root"),
        "{text}"
    );
}

#[test]
fn a_change_is_shown_as_a_difference() {
    let call = tool_call("read_file");
    let result = ToolResult::success(&call, "a@b.c");
    let seen = block_on(Probe::new(Guard).post_acting(&call, result)).unwrap();
    let text = panic_of(|| _ = seen.assert_unchanged());
    assert!(text.contains("-     output: \"a@b.c\","), "{text}");
    assert!(text.contains("+     output: \"<email>\","), "{text}");
    assert!(text.contains("      is_error: false,"), "{text}");
}

/// TH-12.
#[test]
fn a_tool_call_without_a_result_is_named() {
    let memory = Memory::new();
    let block = ContentBlock::ToolUse(ToolUse::new("call_7", "pay", json!({})));
    memory.add(Msg::from_blocks(Role::Assistant, "bot", vec![block]));
    let text = panic_of(|| check_history(&memory));
    assert_eq!(text, "not one result for each tool call: `call_7` of `pay` has 0 results");
}

#[test]
fn a_probe_has_every_event() {
    let recorder = Recorder::new();
    let probe = Probe::new(recorder.clone());
    let call = tool_call("a");
    let reply = || Msg::assistant("bot", "hi");
    let chunk = || ContentBlock::text("hi");
    block_on(async {
        probe.pre_call("hi").await.unwrap().assert_unchanged();
        probe.pre_reasoning("hi").await.unwrap().assert_unchanged();
        probe.reasoning_chunk(chunk()).await.unwrap().assert_unchanged();
        probe.post_reasoning(reply()).await.unwrap().assert_unchanged();
        probe.pre_acting(call.clone()).await.unwrap().assert_unchanged();
        probe.acting_chunk(&call, "50 %").await.unwrap().assert_unchanged();
        let result = ToolResult::success(&call, "done");
        probe.post_acting(&call, result).await.unwrap().assert_unchanged();
        probe.pre_summary("hi").await.unwrap().assert_unchanged();
        probe.summary_chunk(chunk()).await.unwrap().assert_unchanged();
        probe.post_summary(reply()).await.unwrap().assert_unchanged();
        probe.post_call(reply()).await.unwrap().assert_unchanged();
        probe.error(ErrorPhase::Call, "oh no").await.unwrap().assert_unchanged();
        let outcome = CallOutcome::Finished(Some(GenerateReason::ModelStop));
        probe.settled(outcome).await.unwrap().assert_unchanged();
    });
    recorder.assert_order(EventKind::ALL.map(EventKind::name));
}

/// Recovers every failure and notes its phase and type.
struct Recover(Arc<Records<String>>);

#[agent_hook]
impl Recover {
    fn recover(&self, event: &mut ErrorEvent<'_>) -> Flow {
        let error = event.error();
        let kind = if error.is::<ToolError>() {
            "ToolError"
        } else if error.is::<AgentError>() {
            "AgentError"
        } else {
            "another error"
        };
        self.0.push(kind.to_owned());
        match event.phase() {
            ErrorPhase::Acting(call) => event.recover(ToolResult::success(call, "saved")),
            _ => event.recover(Msg::assistant("bot", "saved")),
        }
    }
}

#[test]
fn an_error_arrives_in_its_phase_as_in_a_call() {
    let records = Arc::new(Records::default());
    let probe = Probe::new(Recover(records.clone()));
    let call = tool_call("a");
    block_on(async {
        for phase in [ErrorPhase::Call, ErrorPhase::Reasoning, ErrorPhase::Summary] {
            let seen = probe.error(phase, ModelError::status("m", 429)).await.unwrap();
            let SeenFlow::Recovered(_) = seen.flow else { panic!("{:?}", seen.flow) };
            assert!(seen.failure.is_none() && seen.event.contains("429"));
        }
        let seen = probe.error(ErrorPhase::Acting(&call), "no disk").await.unwrap();
        assert_eq!(seen.event, "no disk");
        let seen = probe.error(ErrorPhase::Acting(&call), AgentError::Interrupted).await.unwrap();
        assert_eq!(seen.event, "the call is interrupted");
    });
    let kinds = ["AgentError", "AgentError", "AgentError", "ToolError", "AgentError"];
    assert_eq!(records.take(), kinds);
}

#[test]
fn a_substitute_of_the_wrong_kind_is_a_failure() {
    let result = ToolResult::success(&tool_call("a"), "");
    let probe = Probe::new(on(move |event: &mut ErrorEvent<'_>| event.recover(result.clone())));
    let seen = block_on(probe.error(ErrorPhase::Call, "oh no")).unwrap();
    seen.assert_failed("a message saves this phase");
}

#[test]
fn a_hook_that_waits_at_the_end_of_a_call_fails() {
    struct Waits;

    #[agent_hook]
    impl Waits {
        async fn wait(&self, _: &mut Settled<'_>) {
            std::future::pending::<()>().await;
        }
    }

    let seen = block_on(Probe::new(Waits).settled(CallOutcome::Cancelled)).unwrap();
    seen.assert_failed("the hook waits");
}

#[test]
fn jumps_and_answers_of_reasoning_can_be_compared() {
    let again =
        |event: &mut PostReasoning<'_>| -> HookResult<Flow> { Ok(event.jump_to_model("again")?) };
    let hook = on(again);
    let seen = block_on(Probe::new(hook).post_reasoning(Msg::assistant("bot", "hi"))).unwrap();
    let messages = Messages::from("again");
    assert_eq!(seen.flow, SeenFlow::Jumped { to: JumpTo::Model, messages });

    let cached = Msg::assistant("bot", "cached");
    let hook = on(move |event: &mut PreReasoning<'_>| event.answer(cached.clone()));
    let seen = block_on(Probe::new(hook).pre_reasoning("hi")).unwrap();
    seen.assert_answered("cached").assert_unchanged();
    let text = panic_of(|| _ = seen.assert_answered("fresh"));
    assert!(text.contains("- fresh\n+ cached"), "{text}");
}

#[tokio::test]
async fn probes_run_in_spawned_tasks() {
    let task = tokio::spawn(async {
        let mut call = Probe::new(Retry).around_tool(tool_call("list")).unwrap();
        call.next_request().await.respond("a.txt");
        call.next_request().await.respond("b.txt");
        assert_eq!(call.answer().await.unwrap().output, "b.txt");
        let probe = Probe::new(Guard);
        probe.pre_acting(tool_call("exit")).await.unwrap().assert_stopped();
    });
    task.await.unwrap();
}

struct User(&'static str);

#[test]
fn the_events_of_a_probe_are_of_one_call() {
    struct Count;

    #[agent_hook]
    impl Count {
        fn start(&self, event: &mut PreCall<'_>) {
            let cx = event.context();
            assert_eq!((cx.thread_id(), cx.agent_name()), ("t", "clerk"));
            assert_eq!(cx.get::<User>().unwrap().0, "ada");
            let memory = event.agent().memory_of(cx).unwrap();
            cx.insert(memory.messages().len());
            event.append_system("Be kind.");
        }

        fn then(&self, event: &mut PreReasoning<'_>) {
            let count = *event.context().get::<usize>().unwrap();
            event.append_system(format!(" {count}"));
        }
    }

    let caller = CallContext::default();
    caller.insert(User("ada"));
    let history = [Msg::user("a"), Msg::assistant("bot", "b")];
    let probe = Probe::new(Count).agent("clerk").thread("t").parent(&caller).history(history);
    block_on(async {
        let seen = probe.pre_call("c").await.unwrap();
        assert_eq!(seen.event.system.as_ref().unwrap().text(), "Be kind.");
        assert!(seen.changed);
        let seen = probe.pre_reasoning("c").await.unwrap();
        assert_eq!(seen.event.messages.len(), 3);
        assert_eq!(seen.event.system.as_ref().unwrap().text(), "Be kind.\n 2");
        assert_eq!(seen.context().run_id(), probe.context().run_id());
    });
}

#[test]
fn the_logs_of_a_hook_are_seen_and_reach_the_subscriber_of_the_test() {
    let (reports, records) = Reports::up_to(Level::WARN);
    let hook = on(|_: &mut PreActing<'_>| {
        let span = tracing::info_span!("checking");
        let _entered = span.enter();
        tracing::warn!(path = "/", "a strange path");
        tracing::debug!("looked");
    });
    let see = || block_on(Probe::new(hook).pre_acting(tool_call("a"))).unwrap();
    let seen = tracing::subscriber::with_default(reports, see);
    assert_eq!(seen.logs, [r#"WARN a strange path path="/""#, "DEBUG looked"]);
    assert_eq!(records.take(), [r#"WARN message=a strange path path="/""#]);
}

#[test]
fn a_recorder_notes_what_hooks_before_it_decided() {
    let script = Script::new().calls([tool_call("pay")]);
    let recorder = Recorder::new()
        .only(EventMask::of(&[EventKind::PreActing, EventKind::PostCall]))
        .priority(priority::METRICS);
    let tool = Calls::new("pay");
    let agent = ReActAgent::builder("bot").model(script).tool(tool.clone()).hook(Guard);
    let agent = agent.hook(recorder.clone()).build().unwrap();
    let reply = block_on(agent.call(go())).unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::PermissionAsking));
    recorder.assert_order(["PRE_ACTING", "POST_CALL"]);
    let asked = SeenFlow::Asked("payments need approval".to_owned());
    assert_eq!(recorder.records()[0].flow, asked);
    tool.assert_called_with([]);
    let text = panic_of(|| recorder.assert_order(["POST_CALL"]));
    assert!(text.contains("+ PRE_ACTING\n  POST_CALL"), "{text}");
}

struct Retry;

#[agent_hook]
impl Retry {
    async fn ask_twice(
        &self,
        call: ModelCall<'_>,
        next: NextModel<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        match next.run(call.request().clone()).await {
            Err(AgentError::Model(_)) => next.run(call.into_request()).await,
            answer => answer,
        }
    }

    async fn run_twice(
        &self,
        mut call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        if next.run(call.tool_use().clone()).await.is_err() {
            call.tool_use_mut().input = json!({ "path": "/tmp" });
        }
        next.run(call.into_tool_use()).await
    }
}

/// TH-08.
#[test]
fn the_test_is_the_model_inside_of_a_hook_that_retries() {
    block_on(async {
        let mut call = Probe::new(Retry).around_model(ChatRequest::new("hello")).unwrap();
        call.next_request().await.respond(ModelError::status("probe", 429));
        let second = call.next_request().await;
        assert_eq!(second.request.last_text(), "hello");
        second.respond("I am here.");
        assert_eq!(call.answer().await.unwrap().text(), "I am here.");
    });
}

/// TH-08.
#[test]
fn the_test_is_the_tool_inside_of_a_hook_that_retries() {
    block_on(async {
        let mut call = Probe::new(Retry).around_tool(tool_call("list")).unwrap();
        call.next_request().await.fail("no such path");
        let second = call.next_request().await;
        assert_eq!(second.call.input, json!({ "path": "/tmp" }));
        second.respond("a.txt");
        assert_eq!(call.answer().await.unwrap().output, "a.txt");
    });
}

#[test]
fn a_request_too_few_or_too_many_fails_the_test() {
    block_on(async {
        let mut call = Probe::new(Retry).around_model(ChatRequest::new("hello")).unwrap();
        call.next_request().await.respond("I am here.");
        let next = AssertUnwindSafe(async { call.next_request().await.request });
        assert!(next.catch_unwind().await.is_err());

        let mut call = Probe::new(Retry).around_tool(tool_call("list")).unwrap();
        drop(call.next_request().await);
        assert!(AssertUnwindSafe(call.answer()).catch_unwind().await.is_err());
    });
}

#[test]
fn calls_that_the_hook_does_not_run_around_are_an_error() {
    let error = Probe::new(Guard).around_tool(tool_call("a")).unwrap_err();
    let expected = "hook `Guard` does not receive tool calls, it receives PRE_ACTING, POST_ACTING";
    assert_eq!(error.to_string(), expected);
    let error = block_on(Probe::new(Retry).pre_acting(tool_call("a"))).unwrap_err();
    assert!(error.to_string().ends_with("it receives model calls, tool calls"), "{error}");
}
