//! An interrupt ends every wait of a hook at once and leaves nothing behind.

use std::future::pending;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::{StreamExt, poll};
use hooks_agent::builtin::guard::{Decision, ToolApproval, Vault};
use hooks_agent::builtin::limit::RateLimit;
use hooks_agent::builtin::observe::Monitoring;
use hooks_agent::builtin::recover::{
    CircuitBreaker, ModelFallback, ModelRetry, RetryPolicy, ToolEmulator, ToolRetry,
};
use hooks_agent::call::Interrupt;
use hooks_agent::message::GenerateReason;
use hooks_agent::model::{ChatRequest, ChatStream};
use hooks_agent::prelude::*;
use hooks_agent::react::ReActAgentBuilder;
use hooks_agent::testing::{Calls, Script, check_history};
use tokio::task::yield_now;
use tokio::time::{Instant, advance};

use crate::agents::{MINUTE, busy, call, guards, limits, observers_at_once};

/// A model that never answers while it is stuck.
#[derive(Clone)]
struct Stuck(Arc<AtomicBool>);

impl Stuck {
    fn new() -> Self {
        Self(Arc::new(AtomicBool::new(true)))
    }

    fn is_stuck(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn free(&self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

impl ChatModel for Stuck {
    fn name(&self) -> &'static str {
        "stuck"
    }

    fn stream(&self, request: ChatRequest) -> ChatStream {
        if self.is_stuck() {
            return futures::stream::pending().boxed();
        }
        ScriptedModel::new("stuck", |_| "free").stream(request)
    }
}

/// Interrupts a call that waits, and asserts that it ends at once and leaves nothing behind.
async fn interrupted(
    builder: ReActAgentBuilder,
    monitoring: &Monitoring,
) -> (ReActAgent, Result<Msg, AgentError>) {
    let agent = observers_at_once(limits(guards(builder, &Vault::new())), io::empty(), monitoring);
    let agent = agent.build().unwrap();
    let interrupt = Interrupt::new();
    let ended = {
        let options = CallOptions::new().interrupt(interrupt.clone());
        let mut running = Box::pin(agent.call_with(options, "go"));
        for _ in 0..50 {
            assert!(poll!(&mut running).is_pending(), "the call waits");
            yield_now().await;
        }
        let start = Instant::now();
        interrupt.interrupt();
        let ended = running.await;
        assert_eq!(start.elapsed(), Duration::ZERO);
        ended
    };
    assert_eq!(ended.as_ref().unwrap().reason, Some(GenerateReason::Interrupted));
    check_history(agent.memory());
    let snapshot = monitoring.snapshot();
    assert_eq!((snapshot.in_flight, snapshot.interrupted), (0, 1));
    (agent, ended)
}

/// Calls the agent, which waits for nothing.
async fn answer_at_once(agent: &ReActAgent) -> String {
    let start = Instant::now();
    let reply = agent.call("go").await.unwrap();
    assert_eq!(start.elapsed(), Duration::ZERO);
    reply.text()
}

fn bot(script: &Script) -> ReActAgentBuilder {
    ReActAgent::builder("bot").model(script.clone())
}

#[tokio::test(start_paused = true)]
async fn in_the_queue_of_a_rate_limit() {
    let limit = RateLimit::of_models().requests(1, MINUTE).wait(MINUTE * 9).build().unwrap();
    // Another agent takes the permit.
    let other =
        bot(&Script::new().says("first").says("third")).hook(limit.clone()).build().unwrap();
    other.call("go").await.unwrap();
    let script = Script::new().says("done");
    let (agent, _) =
        interrupted(bot(&script).hook(limit.clone().named("shared")), &Monitoring::new()).await;
    assert_eq!(script.requests().len(), 0);
    // The permit is not lost, and there is one.
    advance(MINUTE).await;
    assert_eq!(answer_at_once(&agent).await, "done");
    let mut waiting = Box::pin(other.call("go"));
    for _ in 0..50 {
        assert!(poll!(&mut waiting).is_pending());
        yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn in_the_delay_of_a_model_retry() {
    let script = Script::new().fails(busy()).says("done");
    let retry = ModelRetry::with(RetryPolicy::new().initial_delay(MINUTE)).unwrap();
    let (agent, _) = interrupted(bot(&script).hook(retry), &Monitoring::new()).await;
    assert_eq!(answer_at_once(&agent).await, "done");
}

#[tokio::test(start_paused = true)]
async fn in_the_delay_of_a_tool_retry() {
    let script = Script::new().calls([call("1", "look")]).says("done");
    let retry = ToolRetry::with(RetryPolicy::new().initial_delay(MINUTE)).unwrap().tools(["look"]);
    let tool = Calls::new("look").fails("locked").answers("seen");
    let builder = bot(&script).tool(tool.clone()).hook(retry);
    let (agent, _) = interrupted(builder, &Monitoring::new()).await;
    assert_eq!(tool.inputs().len(), 1);
    assert_eq!(answer_at_once(&agent).await, "done");
}

#[tokio::test(start_paused = true)]
async fn in_the_decider_of_an_approval() {
    for one_at_a_time in [false, true] {
        let is_stuck = Arc::new(AtomicBool::new(true));
        let asked = is_stuck.clone();
        let approval = ToolApproval::new(["look"], move |_| {
            let is_stuck = asked.load(Ordering::Relaxed);
            async move { if is_stuck { pending().await } else { Decision::Allow } }
        });
        let approval = if one_at_a_time { approval.one_at_a_time() } else { approval };
        let calls = || [call("1", "look"), call("2", "look")];
        let script = Script::new().calls(calls()).calls(calls()).says("done");
        let tool = Calls::new("look").answers("seen").answers("seen");
        let builder = bot(&script).tool(tool.clone()).parallel_tools(true);
        let builder = builder.hook(approval.named("stuck"));
        let (agent, _) = interrupted(builder, &Monitoring::new()).await;
        assert_eq!(tool.inputs().len(), 0);
        is_stuck.store(false, Ordering::Relaxed);
        assert_eq!(answer_at_once(&agent).await, "done");
        assert_eq!(tool.inputs().len(), 2);
        check_history(agent.memory());
    }
}

#[tokio::test(start_paused = true)]
async fn in_the_model_of_a_fallback() {
    let script = Script::new().fails(busy()).fails(busy());
    let (other, breaker) = (Stuck::new(), CircuitBreaker::for_model("script"));
    let builder = bot(&script).hook(ModelFallback::new(other.clone())).hook(breaker.clone());
    let (agent, _) = interrupted(builder, &Monitoring::new()).await;
    other.free();
    assert_eq!(answer_at_once(&agent).await, "free");
}

#[tokio::test(start_paused = true)]
async fn in_the_model_that_plays_a_tool() {
    let script = Script::new().calls([call("1", "look")]);
    let script = script.calls([call("2", "look")]).says("done");
    let actor = Stuck::new();
    let builder = bot(&script).tool(Calls::new("look")).hook(ToolEmulator::new(actor.clone()));
    let (agent, _) = interrupted(builder, &Monitoring::new()).await;
    actor.free();
    assert_eq!(answer_at_once(&agent).await, "done");
}

#[tokio::test(start_paused = true)]
async fn in_a_probe_of_a_half_open_circuit() {
    let model = Stuck::new();
    let breaker = CircuitBreaker::for_model("stuck").failures(1).open_for(Duration::ZERO);
    let failing = bot(&Script::new().fails(busy())).hook(breaker.clone()).build().unwrap();
    failing.call("go").await.unwrap_err();
    let builder = ReActAgent::builder("bot").model(model.clone()).hook(breaker.clone());
    let (agent, _) = interrupted(builder, &Monitoring::new()).await;
    model.free();
    assert_eq!(answer_at_once(&agent).await, "free");
}
