//! `ModelRetry`.

use std::time::Duration;

use hooks_agent_builtin::recover::{ModelRetry, RetryPolicy};
use hooks_agent_core::call::Interrupt;
use hooks_agent_core::hook::AroundMask;
use hooks_agent_core::message::GenerateReason;
use hooks_agent_core::model::ModelError;
use hooks_agent_core::prelude::*;
use hooks_agent_core::stream::AgentEventKind;
use hooks_agent_core::testing::Script;
use hooks_core::HookRole;
use tokio::time::{Instant, sleep, timeout};

use crate::around::Count;

fn busy() -> ModelError {
    ModelError::status("script", 503)
}

fn asks_to_wait(seconds: u64) -> ModelError {
    let mut error = ModelError::status("script", 429);
    if let ModelError::Status { retry_after, .. } = &mut error {
        *retry_after = Some(Duration::from_secs(seconds));
    }
    error
}

fn plain() -> RetryPolicy {
    RetryPolicy::new().jitter(false)
}

fn retry(policy: RetryPolicy) -> ModelRetry {
    ModelRetry::with(policy).unwrap()
}

fn agent(script: &Script, hook: impl AgentHook) -> ReActAgent {
    ReActAgent::builder("bot").model(script.clone()).hook(hook).build().unwrap()
}

/// D 3.6: delay(n) = min(initial × factor^n, max).
#[test]
fn delays_are_those_of_the_table() {
    let seconds = |policy: RetryPolicy, count| -> Vec<f64> {
        (0..count).map(|retry| policy.delay(retry).as_secs_f64()).collect()
    };
    let to = Duration::from_secs;
    assert_eq!(seconds(RetryPolicy::new(), 8), [1., 2., 4., 8., 16., 32., 60., 60.]);
    assert_eq!(seconds(RetryPolicy::new().factor(0.), 4), [1.; 4]);
    assert_eq!(seconds(RetryPolicy::new().factor(10.).max_delay(to(2)), 3), [1., 2., 2.]);
    assert_eq!(seconds(RetryPolicy::new().factor(0.5), 3), [1., 0.5, 0.25]);
    assert_eq!(seconds(RetryPolicy::new().initial_delay(to(90)), 2), [60., 60.]);
    assert_eq!(seconds(RetryPolicy::new().initial_delay(to(0)).factor(f32::INFINITY), 2), [0., 0.]);
    assert_eq!(RetryPolicy::new().delay(usize::MAX), to(60));
    let endless = RetryPolicy::new().max_delay(Duration::MAX).factor(f32::MAX);
    assert_eq!(endless.delay(usize::MAX), Duration::MAX);
}

/// D 3.6.
#[test]
fn a_policy_that_cannot_be_followed_is_an_error() {
    let error = |policy| ModelRetry::with(policy).unwrap_err().to_string();
    assert_eq!(error(RetryPolicy::new().attempts(0)), "attempts must be >= 1");
    for factor in [-1., f32::NAN, f32::NEG_INFINITY] {
        assert_eq!(error(RetryPolicy::new().factor(factor)), "backoff_factor must be >= 0");
    }
    assert!(ModelRetry::with(RetryPolicy::new().max_retries(usize::MAX)).is_ok());
}

/// D 3.6: jitter in [0.75 d, 1.25 d].
#[tokio::test(start_paused = true)]
async fn jitter_stays_within_a_quarter_and_spreads() {
    let mut waits = Vec::new();
    for _ in 0..300 {
        let script = Script::new().fails(busy()).says("hi");
        let policy = RetryPolicy::new().initial_delay(Duration::from_secs(4));
        let start = Instant::now();
        agent(&script, retry(policy)).call("go").await.unwrap();
        waits.push(start.elapsed().as_secs_f64());
    }
    // The timer of tokio rounds up to a millisecond.
    assert!(waits.iter().all(|wait| (3.0..=5.002).contains(wait)), "{waits:?}");
    assert!(waits.iter().any(|wait| *wait < 3.4) && waits.iter().any(|wait| *wait > 4.6));
}

/// D 3.6: `max_retries` 2 is 3 calls, 0 is 1 call.
#[tokio::test(start_paused = true)]
async fn a_model_is_called_as_often_as_allowed_and_its_last_error_stays() {
    for retries in [0, 1, 2, 5] {
        let last = ModelError::status("script", 502);
        let failing = (0..retries).fold(Script::new(), |script, _| script.fails(busy()));
        let script = failing.fails(last).says("never");
        let error = agent(&script, retry(RetryPolicy::new().max_retries(retries)))
            .call("go")
            .await
            .unwrap_err();
        assert!(matches!(error, AgentError::Model(ModelError::Status { status: 502, .. })));
        assert_eq!(script.requests().len(), retries + 1);
    }
}

/// D 3.6: succeeds on the second and on the third call.
#[tokio::test(start_paused = true)]
async fn an_error_that_passes_is_not_seen() {
    for failures in [0, 1, 2] {
        let failing = (0..failures).fold(Script::new(), |script, _| script.fails(busy()));
        let script = failing.says("hi");
        let agent = agent(&script, ModelRetry::new());
        assert_eq!(agent.call("go").await.unwrap().text(), "hi");
        assert_eq!(agent.memory().messages().len(), 2);
        let requests = script.requests();
        assert!(requests.iter().all(|request| *request == requests[0]));
        script.finish();
    }
}

/// D 3.6 (SAA): 100 ms ×2, 3 attempts; maxDelay 150 gives 100, 150, 150.
#[tokio::test(start_paused = true)]
async fn delays_grow_up_to_the_longest() {
    let ms = Duration::from_millis;
    for (attempts, longest, total) in [(3, 60_000, 300), (4, 150, 400)] {
        let script = (1..attempts).fold(Script::new(), |script, _| script.fails(busy())).says("hi");
        let policy = plain().attempts(attempts).initial_delay(ms(100)).max_delay(ms(longest));
        let start = Instant::now();
        agent(&script, retry(policy)).call("go").await.unwrap();
        // The timer of tokio rounds up to a millisecond.
        let late = start.elapsed().saturating_sub(ms(total));
        assert!(start.elapsed() >= ms(total) && late <= ms(2), "{late:?}");
    }
}

/// D 3.6 (SAA): non-retryable stops at 1.
#[tokio::test(start_paused = true)]
async fn other_errors_are_returned_at_once() {
    let blocked = ModelError::blocked("no");
    let failed = || ModelError::status("script", 400);
    for (hook, error, calls) in [
        (ModelRetry::new(), failed(), 1),
        (ModelRetry::new().retry_on(|_| true), failed(), 2),
        (ModelRetry::new().retry_on(|_| false), busy(), 1),
        (ModelRetry::new().retry_on(|_| panic!("a bug")), busy(), 1),
        (ModelRetry::new().retry_on(|_| true), blocked, 1),
    ] {
        let script = Script::new().fails(error).says("hi");
        let ended = agent(&script, hook).call("go").await;
        assert_eq!((ended.is_ok(), script.requests().len()), (calls == 2, calls));
    }
}

#[tokio::test(start_paused = true)]
async fn the_provider_says_how_long_to_wait() {
    let script = Script::new().fails(asks_to_wait(7)).says("hi");
    let start = Instant::now();
    agent(&script, ModelRetry::new()).call("go").await.unwrap();
    assert_eq!(start.elapsed(), Duration::from_secs(7));

    // The delay of the policy is longer.
    let script = Script::new().fails(asks_to_wait(0)).says("hi");
    let start = Instant::now();
    agent(&script, retry(plain())).call("go").await.unwrap();
    assert_eq!(start.elapsed(), Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_asks_to_wait_too_long_is_not_called_again() {
    let script = Script::new().fails(asks_to_wait(61)).says("hi");
    let start = Instant::now();
    let error = agent(&script, ModelRetry::new()).call("go").await.unwrap_err();
    assert!(error.to_string().contains("retry after 61 s"), "{error}");
    assert_eq!((script.requests().len(), start.elapsed()), (1, Duration::ZERO));
}

/// D 3.6 (SAA): streaming retry before the first chunk only.
#[tokio::test(start_paused = true)]
async fn a_stream_that_breaks_is_repeated_only_before_its_first_chunk() {
    let script = Script::new().cut().says("hi");
    assert_eq!(agent(&script, ModelRetry::new()).call("go").await.unwrap().text(), "hi");

    let script = Script::new().cut_after("Once upon").says("hi");
    let agent = agent(&script, ModelRetry::new().retry_on(|_| true));
    let mut stream = agent.stream("go");
    let mut shown = String::new();
    let mut error = None;
    while let Some(event) = futures::StreamExt::next(&mut stream).await {
        match event {
            Ok(event) => {
                if let AgentEventKind::ReasoningChunk(ContentBlock::Text { text }) = event.kind {
                    shown.push_str(&text);
                }
            }
            Err(failed) => error = Some(failed),
        }
    }
    assert!(matches!(error, Some(AgentError::Model(ModelError::Cut { .. }))), "{error:?}");
    assert_eq!((shown.as_str(), script.requests().len()), ("Once upon", 1));
}

#[tokio::test(start_paused = true)]
async fn a_limit_inside_counts_each_attempt_and_its_error_passes() {
    let (inside, outside) = (Count::models(), Count::models());
    let script = Script::new().fails(busy()).fails(busy()).says("hi");
    let agent = ReActAgent::builder("bot")
        .model(script)
        .hook(inside.clone().named("inside").with_priority(200))
        .hook(outside.clone().named("outside").with_priority(10))
        .hook(ModelRetry::new())
        .build()
        .unwrap();
    agent.call("go").await.unwrap();
    assert_eq!((outside.get(), inside.get()), (1, 3));

    let limit = Count::models().failing();
    let agent = ReActAgent::builder("bot")
        .model(Script::new().says("hi"))
        .hook(limit.clone().with_priority(200))
        .hook(ModelRetry::new().retry_on(|_| true))
        .build()
        .unwrap();
    let error = agent.call("go").await.unwrap_err();
    assert!(matches!(error, AgentError::Hook(_)), "{error}");
    assert_eq!(limit.get(), 1);
}

/// D 3.6: an outer hook sees one call that succeeds first time.
#[tokio::test]
async fn a_call_that_succeeds_is_made_once() {
    let outside = Count::models();
    let agent = ReActAgent::builder("bot")
        .model(Script::new().says("hi"))
        .hook(outside.clone().with_priority(10))
        .hook(ModelRetry::new())
        .build()
        .unwrap();
    agent.call("go").await.unwrap();
    assert_eq!(outside.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_ends_the_delay() {
    let script = Script::new().fails(busy()).says("hi");
    let agent = agent(&script, retry(plain().initial_delay(Duration::from_secs(50))));
    let interrupt = Interrupt::new();
    let start = Instant::now();
    let options = CallOptions::new().interrupt(interrupt.clone());
    let (reply, ()) = tokio::join!(agent.call_with(options, "go"), async {
        sleep(Duration::from_secs(1)).await;
        interrupt.interrupt();
    });
    assert_eq!(reply.unwrap().reason, Some(GenerateReason::Interrupted));
    assert_eq!((start.elapsed(), script.requests().len()), (Duration::from_secs(1), 1));
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_of_a_method_on_its_own_ends_the_delay() {
    let script = Script::new().fails(busy()).says("hi");
    let agent = agent(&script, retry(plain().initial_delay(Duration::from_secs(50))));
    let cx = CallContext::default();
    let (ended, ()) = tokio::join!(agent.model_call(cx.clone(), ChatRequest::new("go")), async {
        sleep(Duration::from_secs(1)).await;
        cx.interrupt();
    });
    assert!(matches!(ended, Err(AgentError::Interrupted)));
    assert_eq!(script.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_calls_the_model_no_more() {
    let script = Script::new().fails(busy()).says("hi");
    let agent = agent(&script, retry(plain().initial_delay(Duration::from_secs(50))));
    assert!(timeout(Duration::from_secs(1), agent.call("go")).await.is_err());
    sleep(Duration::from_secs(100)).await;
    assert_eq!(script.requests().len(), 1);
    assert_eq!(agent.call("go").await.unwrap().text(), "hi");
}

#[test]
fn the_plan_warns_of_a_retry_inside_of_a_limit() {
    let plan = |priority: i32| {
        let retry = ModelRetry::new().with_priority(priority);
        let limit = Limit.with_priority(200);
        let builder = ReActAgent::builder("bot").model(Script::new());
        builder.hook(retry).hook(limit).build().unwrap().hook_plan()
    };
    assert!(plan(ModelRetry::PRIORITY).warnings().is_empty());
    assert_eq!(plan(260).warnings().len(), 1);
}

/// A limit of model calls.
struct Limit;

impl AgentHook for Limit {
    fn events(&self) -> EventMask {
        EventMask::NONE
    }

    fn around(&self) -> AroundMask {
        AroundMask::MODEL_CALL
    }

    fn role(&self) -> Option<HookRole> {
        Some(HookRole::Limits)
    }
}

#[test]
fn debug_shows_the_policy() {
    let text = format!("{:?}", ModelRetry::new());
    assert!(text.contains("attempts: 3"), "{text}");
}
