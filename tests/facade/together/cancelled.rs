//! A call whose future is dropped at any await leaves nothing behind.

use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures::StreamExt;
use hooks_agent::builtin::guard::{Decision, ToolApproval, Vault, VaultKey};
use hooks_agent::builtin::limit::{ModelCallLimit, RateLimit, ToolCallLimit};
use hooks_agent::builtin::observe::Monitoring;
use hooks_agent::builtin::recover::{CircuitBreaker, CircuitState, ModelRetry, ToolRetry};
use hooks_agent::model::{ChatChunk, ChatRequest, ChatStream, ScriptedAnswer};
use hooks_agent::prelude::*;
use hooks_agent::testing::{Script, check_history};
use serde_json::{Value, json};
use tokio::runtime::Builder;

use crate::agents::{
    ADDRESS, MINUTE, at_once, busy, call, counts, guards_with, limits, observers_at_once, results,
};

/// Waits for one poll.
struct Yield(bool);

impl Future for Yield {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        cx.waker().wake_by_ref();
        if std::mem::replace(&mut self.0, true) { Poll::Ready(()) } else { Poll::Pending }
    }
}

async fn wait() {
    Yield(false).await;
}

/// A script that waits before each chunk.
#[derive(Clone)]
struct Slow(Script);

impl ChatModel for Slow {
    fn name(&self) -> &'static str {
        "script"
    }

    fn stream(&self, request: ChatRequest) -> ChatStream {
        let chunks = self.0.stream(request);
        chunks
            .then(async |chunk: Result<ChatChunk, _>| {
                wait().await;
                chunk
            })
            .boxed()
    }
}

/// A tool that waits, reports, fails at first, and answers.
fn slow(name: &'static str, fails: bool) -> FunctionTool {
    let calls = Arc::new(AtomicU64::new(0));
    FunctionTool::with_context(name, "Waits.", move |_: Value, cx: ToolContext| {
        let number = calls.fetch_add(1, Ordering::Relaxed);
        async move {
            wait().await;
            cx.progress("half");
            wait().await;
            if fails && number == 0 { Err("locked") } else { Ok("seen") }
        }
    })
}

struct Bench {
    agent: ReActAgent,
    script: Script,
    model: CircuitBreaker,
    tool: CircuitBreaker,
    monitoring: Monitoring,
    time: Arc<AtomicU64>,
}

/// An agent whose circuits are half open from the first second on, if they open.
fn bench(parallel: bool, script: Script, failures: usize) -> Bench {
    let time = Arc::new(AtomicU64::new(0));
    let clock = || {
        let time = time.clone();
        move || Duration::from_secs(time.load(Ordering::Relaxed))
    };
    let (monitoring, vault) = (Monitoring::new(), Vault::stored(VaultKey::new("test", [7; 32])));
    let open = |breaker: CircuitBreaker| breaker.failures(1).open_for(Duration::from_secs(1));
    let model = open(CircuitBreaker::for_model("script")).failures(failures).clock(clock());
    let tool = open(CircuitBreaker::for_tool("browse")).clock(clock());
    let approval = ToolApproval::new(["send"], async |_| {
        wait().await;
        Decision::Edit(json!({ "to": "[EMAIL_XZNDVXQW]" }))
    });
    let rate = RateLimit::of_models().requests(1_000_000, MINUTE).clock(clock()).build().unwrap();
    let builder = ReActAgent::builder("bot").model(Slow(script.clone())).parallel_tools(parallel);
    let builder = builder.tool(slow("look", true)).tool(slow("send", false));
    let builder =
        limits(guards_with(builder.tool(slow("browse", false)), &vault, approval.one_at_a_time()))
            .hook(rate.named("RateLimit[models]"))
            .hook(ModelRetry::with(at_once(2)).unwrap())
            .hook(ToolRetry::with(at_once(2)).unwrap().tools(["look"]))
            .hook(model.clone())
            .hook(tool.clone());
    let agent = observers_at_once(builder, io::empty(), &monitoring).build().unwrap();
    Bench { agent, script, model, tool, monitoring, time }
}

fn turns(fails: bool) -> Script {
    let calls = || [call("1", "look"), call("2", "send"), call("3", "browse"), call("4", "send")];
    let script = if fails { Script::new().fails(busy()) } else { Script::new() };
    script.calls(calls()).calls(calls()).says("done")
}

/// Polls a future this many times and drops it. Returns its output if that was enough.
fn poll_times<T>(future: impl Future<Output = T>, times: usize) -> Option<T> {
    let (mut future, mut cx) = (pin!(future), Context::from_waker(Waker::noop()));
    (0..times).find_map(|_| match future.as_mut().poll(&mut cx) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    })
}

impl Bench {
    /// An agent whose circuit of the tool is half open, and that of the model, if its script does not
    /// begin with a failure.
    fn new(parallel: bool, fails: bool) -> Self {
        let bench = bench(parallel, turns(fails), if fails { 3 } else { 1 });
        let failing = ReActAgent::builder("failing").model(Script::new().fails(busy()));
        let failing = failing.hook(bench.model.clone()).build().unwrap();
        poll_times(failing.call("go"), 100).unwrap().unwrap_err();
        let broken = FunctionTool::new("browse", "Fails.", async |_: Value| Err::<&str, _>("down"));
        let script = Script::new().calls([call("1", "browse")]).says("done");
        let failing = ReActAgent::builder("failing").model(script).tool(broken);
        let failing = failing.hook(bench.tool.clone()).build().unwrap();
        poll_times(failing.call("go"), 100).unwrap().unwrap();
        assert_eq!(bench.tool.state(), CircuitState::Open);
        bench.time.store(1, Ordering::Relaxed);
        bench
    }

    /// Asserts that a call, dropped or not, has left nothing behind.
    fn assert_clean(&self, polls: usize, ended: bool) {
        check_history(self.agent.memory());
        let snapshot = self.monitoring.snapshot();
        assert_eq!((snapshot.in_flight, snapshot.calls), (0, u64::from(polls > 0)), "{polls}");
        assert_eq!(snapshot.cancelled, u64::from(polls > 0 && !ended), "{polls}");
        let requests = self.script.requests().len() as u64;
        assert_eq!(counts(&self.agent, "default", "ModelCallLimit").0, requests, "{polls}");
        let history = self.agent.threads().memory("default").unwrap().messages();
        let calls = history.iter().flat_map(Msg::tool_uses).count() as u64;
        let counted = counts(&self.agent, "default", "ToolCallLimit").0;
        // An answer is counted before it is remembered.
        assert!(counted == calls || counted == calls + 4, "{polls}: {counted} of {calls}");
    }
}

#[test]
fn at_every_await_and_the_next_call_works() {
    // The timeout of the judge needs one.
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    let _inside = runtime.enter();
    for (parallel, fails) in [(false, false), (false, true), (true, false), (true, true)] {
        let (mut finished, mut half_open) = (0, [0; 2]);
        for polls in 0..200 {
            let bench = Bench::new(parallel, fails);
            let go = bench.agent.call(format!("write to {ADDRESS}"));
            let ended = poll_times(go, polls).map(|reply| reply.unwrap().text());
            assert!(ended.as_deref().is_none_or(|text| text == "done"), "{polls}: {ended:?}");
            finished += usize::from(ended.is_some());
            bench.assert_clean(polls, ended.is_some());
            for (breaker, count) in [&bench.model, &bench.tool].into_iter().zip(&mut half_open) {
                *count += usize::from(polls > 0 && breaker.state() == CircuitState::HalfOpen);
            }
            // The probes are free, so the next call is not refused because of them.
            let next = poll_times(bench.agent.call("go on"), 1000);
            let next = next.unwrap_or_else(|| panic!("{polls}: the call does not end"));
            assert!(!format!("{next:?}").contains("a probe runs"), "{polls}: {next:?}");
            for result in results(&bench.agent) {
                assert!(!result.output.as_str().contains("a probe runs"), "{polls}: {result:?}");
            }
            check_history(bench.agent.memory());
            assert_eq!(bench.monitoring.snapshot().in_flight, 0, "{polls}");
        }
        assert!((20..190).contains(&finished), "{finished}");
        assert!(half_open[1] > 0 && (fails || half_open[0] > 0), "{half_open:?}");
    }
}

/// Limits that are exact: neither a permit nor a count more or less.
#[test]
fn limits_are_exact_after_calls_that_were_dropped() {
    for polls in 0..60 {
        let answers = (0..9).map(|_| ScriptedAnswer::from("a b c"));
        let script = answers.fold(Script::new(), Script::turn);
        let limit = ModelCallLimit::builder().thread(5).build().unwrap();
        let rate = RateLimit::of_models().requests(6, MINUTE).clock(|| Duration::ZERO);
        let builder = ReActAgent::builder("bot").model(Slow(script.clone())).hook(limit);
        let builder = builder.hook(ToolCallLimit::all().thread(1).build().unwrap());
        let agent = builder.hook(rate.build().unwrap()).build().unwrap();
        for _ in 0..9 {
            drop(poll_times(agent.call("go"), polls));
            check_history(agent.memory());
        }
        assert!(script.requests().len() <= 5, "{polls}");
        let asked = script.requests().len() as u64;
        assert_eq!(counts(&agent, "default", "ModelCallLimit").0, asked, "{polls}");
        if polls > 20 {
            assert_eq!(asked, 5);
        }
    }
}
