//! Tests of `RateLimit`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use futures::FutureExt;
use futures::executor::block_on;
use hooks_agent_builtin::limit::{
    RateLimit, RateLimitBuilder, RateLimitError, RateLimited, RateUnit,
};
use hooks_agent_core::call::Interrupt;
use hooks_agent_core::message::{GenerateReason, Usage};
use hooks_agent_core::model::ModelError;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use hooks_fixtures::Records;
use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::{Instant, advance};

use crate::task::{agent, call, cause};

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_mins(1);

/// A clock that tests advance, in milliseconds.
#[derive(Clone, Default)]
struct Time(Arc<AtomicU64>);

impl Time {
    fn clock(&self) -> impl Fn() -> Duration + Send + Sync + 'static {
        let now = self.0.clone();
        move || Duration::from_millis(now.load(Ordering::Relaxed))
    }

    fn set(&self, now: Duration) {
        self.0.store(u64::try_from(now.as_millis()).unwrap(), Ordering::Relaxed);
    }
}

fn fixed() -> ScriptedModel {
    ScriptedModel::new("m", |_| "done")
}

fn agent_of(model: impl ChatModel + 'static, limit: RateLimitBuilder) -> ReActAgent {
    let limit = limit.build().unwrap();
    ReActAgent::builder("bot").model(model).hook(limit).build().unwrap()
}

fn on_thread(number: usize) -> CallOptions {
    CallOptions::new().thread(number.to_string())
}

fn limited(result: Result<Msg, AgentError>) -> RateLimited {
    *cause(&result.unwrap_err())
}

#[test]
fn calls_beyond_the_quota_fail_with_the_time_to_wait() {
    let time = Time::default();
    let limit = RateLimit::of_models().requests(2, MINUTE).clock(time.clock());
    let agent = agent_of(fixed(), limit);
    let go = || block_on(agent.call("go"));
    assert!(go().is_ok() && go().is_ok());
    let error = limited(go());
    assert_eq!((error.unit, error.retry_after), (RateUnit::Requests, SECOND * 30));
    assert_eq!(error.to_string(), "the rate limit of requests is reached, retry in 30s");
    time.set(SECOND * 29);
    assert_eq!(limited(go()).retry_after, SECOND);
    time.set(SECOND * 30);
    assert!(go().is_ok());
    assert_eq!(limited(go()).retry_after, SECOND * 30);
}

#[test]
fn a_clock_that_jumps_back_gives_nothing_and_takes_nothing() {
    let time = Time::default();
    time.set(MINUTE);
    let limit = RateLimit::of_models().requests(1, MINUTE).clock(time.clock());
    let agent = agent_of(fixed(), limit);
    let go = || block_on(agent.call("go"));
    assert!(go().is_ok());
    time.set(Duration::ZERO);
    assert_eq!(limited(go()).retry_after, MINUTE);
    time.set(MINUTE * 2);
    assert!(go().is_ok());
}

#[test]
fn a_refused_tool_call_is_an_error_that_the_model_reads() {
    let script = Script::new().calls([call("1", "search"), call("2", "search"), call("3", "calc")]);
    let ran = Arc::new(Records::new());
    let limit = RateLimit::of_tools().only("search").requests(1, MINUTE);
    let limit = limit.clock(Time::default().clock()).build().unwrap();
    let agent = agent(&script.says("done"), &ran, limit);
    assert_eq!(block_on(agent.call("go")).unwrap().text(), "done");
    assert_eq!(ran.take(), ["search", "calc"]);
    let results = hooks_fixtures::scripted_agents::results(&agent);
    let text = "! the rate limit of requests is reached, retry in 60s";
    assert_eq!(results[1].1, text);
}

#[tokio::test]
async fn a_quota_that_is_in_use_is_not_dropped_for_another_key() {
    let (time, entered, leave) =
        (Time::default(), Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (enters, left) = (entered.clone(), leave.clone());
    let hold = move || {
        let (enters, left) = (enters.clone(), left.clone());
        FunctionTool::new("hold", "Waits.", move |_: Value| {
            let (enters, left) = (enters.clone(), left.clone());
            async move {
                enters.notify_one();
                left.notified().await;
                "held"
            }
        })
    };
    let user = |cx: &CallContext| cx.get::<User>().expect("there is a user").0.clone();
    let limit = RateLimit::of_tools().requests(1, MINUTE).by(user).most_keys(1);
    let limit = limit.clock(time.clock()).build().unwrap();
    let agent = |tool: &str| {
        let script = Script::new().calls([call("1", tool)]).says("done");
        let builder = ReActAgent::builder("bot").model(script).tool(hold());
        let search = FunctionTool::new("search", "Searches.", async |_: Value| "found");
        builder.tool(search).hook(limit.clone()).build().unwrap()
    };
    let as_user = |user: &str| CallOptions::new().value(User(user.to_owned()));
    let (ada, eve) = (agent("hold"), agent("search"));
    let output = |agent: &ReActAgent| hooks_fixtures::scripted_agents::results(agent)[0].1.clone();
    let (done, ()) = tokio::join!(ada.call_with(as_user("ada"), "go"), async {
        entered.notified().await;
        // The quota of ada is whole again, but her call is not over.
        time.set(MINUTE);
        eve.call_with(as_user("eve"), "go").await.unwrap();
        assert!(output(&eve).contains("the rate limit of requests is reached"), "{}", output(&eve));
        leave.notify_one();
    });
    done.unwrap();
    assert_eq!(output(&ada), "held");
    let later = agent("search");
    later.call_with(as_user("eve"), "go").await.unwrap();
    assert_eq!(output(&later), "found");
}

/// A model whose answers cost this many tokens.
fn costing(tokens: u64) -> ScriptedModel {
    ScriptedModel::new("m", move |_| {
        ScriptedAnswer::from("done").costing(Usage::new(tokens - 1, 1))
    })
}

#[test]
fn tokens_are_estimated_and_corrected_by_what_is_reported() {
    // 60 tokens in a minute; the estimate of "12345678" is 2.
    for (cost, passes) in [(2, 30), (59, 1), (20, 3), (58, 2), (200, 1)] {
        let limit = RateLimit::of_models().tokens(60, MINUTE).clock(Time::default().clock());
        let agent = agent_of(costing(cost), limit);
        let go = |number| block_on(agent.call_with(on_thread(number), "12345678"));
        for number in 0..passes {
            assert!(go(number).is_ok(), "{cost} {number}");
        }
        let error = limited(go(passes));
        assert_eq!(error.unit, RateUnit::Tokens, "{cost}");
    }
}

#[test]
fn what_is_used_beyond_the_quota_is_a_debt() {
    let time = Time::default();
    let limit = RateLimit::of_models().tokens(60, MINUTE).clock(time.clock());
    let agent = agent_of(costing(180), limit);
    let go = |number| block_on(agent.call_with(on_thread(number), "1234"));
    assert!(go(0).is_ok());
    assert_eq!(limited(go(1)).retry_after, SECOND * 121);
    time.set(SECOND * 121);
    assert!(go(2).is_ok());
}

#[test]
fn a_call_that_is_larger_than_the_quota_leaves_the_rest_as_a_debt() {
    let time = Time::default();
    let limit = RateLimit::of_models().tokens(60, MINUTE).clock(time.clock());
    let agent = agent_of(costing(180), limit);
    let go = |number, text: &str| block_on(agent.call_with(on_thread(number), text));
    // The estimate is right: there is nothing to correct.
    assert!(go(0, &"1234".repeat(180)).is_ok());
    assert_eq!(limited(go(1, "1234")).retry_after, SECOND * 121);
    time.set(SECOND * 120);
    assert_eq!(limited(go(2, "1234")).retry_after, SECOND);
    time.set(SECOND * 121);
    assert!(go(3, "1234").is_ok());
}

#[test]
fn a_call_without_tokens_left_takes_no_request() {
    let time = Time::default();
    let limit = RateLimit::of_models().requests(3, MINUTE * 60).tokens(2, SECOND * 2);
    let agent = agent_of(costing(2), limit.clock(time.clock()));
    let go = |number| block_on(agent.call_with(on_thread(number), "12345678"));
    assert!(go(0).is_ok());
    for number in 1..9 {
        assert_eq!(limited(go(number)).unit, RateUnit::Tokens);
    }
    time.set(SECOND * 2);
    assert!(go(10).is_ok());
    time.set(SECOND * 4);
    assert!(go(11).is_ok());
    time.set(SECOND * 6);
    assert_eq!(limited(go(12)).unit, RateUnit::Requests);
}

#[test]
fn a_call_that_the_provider_refuses_gives_its_tokens_back() {
    let model = ScriptedModel::new("m", |_| ModelError::status("m", 503));
    let limit = RateLimit::of_models().tokens(2, MINUTE).clock(Time::default().clock());
    let agent = agent_of(model, limit);
    for number in 0..3 {
        let error = block_on(agent.call_with(on_thread(number), "12345678")).unwrap_err();
        assert!(matches!(error, AgentError::Model(_)), "{error}");
    }
}

#[test]
fn an_empty_answer_uses_the_tokens_that_were_reported() {
    let usage = hooks_agent_core::message::Usage::new(70, 20);
    let model = ScriptedModel::new("m", move |_| {
        ScriptedAnswer::Stream(vec![Ok(hooks_agent_core::model::ChatChunk::end(usage))])
    });
    let limit = RateLimit::of_models().tokens(90, MINUTE).clock(Time::default().clock());
    let agent = agent_of(model, limit);
    let error = block_on(agent.call_with(on_thread(0), "12345678")).unwrap_err();
    assert!(matches!(error, AgentError::Model(_)), "{error}");
    let error = block_on(agent.call_with(on_thread(1), "12345678")).unwrap_err();
    assert!(!matches!(error, AgentError::Model(_)), "{error}");
}

struct User(String);

fn as_user(agent: &ReActAgent, user: &str) -> Result<Msg, AgentError> {
    block_on(agent.call_with(CallOptions::new().value(User(user.to_owned())), "go"))
}

fn by_user() -> RateLimitBuilder {
    let user = |cx: &CallContext| cx.get::<User>().expect("there is a user").0.clone();
    RateLimit::of_models().requests(1, MINUTE).by(user)
}

#[test]
fn each_user_has_a_quota_and_a_closure_that_panics_refuses_the_call() {
    let agent = agent_of(fixed(), by_user().clock(Time::default().clock()));
    assert!(as_user(&agent, "ada").is_ok());
    assert_eq!(limited(as_user(&agent, "ada")).unit, RateUnit::Requests);
    assert!(as_user(&agent, "bob").is_ok());
    assert!(block_on(agent.call("go")).is_err());
}

#[test]
fn keys_are_few_and_only_those_that_are_whole_are_dropped() {
    let time = Time::default();
    let limit = by_user().most_keys(2).clock(time.clock()).build().unwrap();
    let agent = ReActAgent::builder("bot").model(fixed()).hook(limit.clone()).build().unwrap();
    assert!(as_user(&agent, "ada").is_ok() && as_user(&agent, "bob").is_ok());
    // Neither quota is whole, so a third key would get around its limit.
    assert!(as_user(&agent, "eve").is_err());
    time.set(MINUTE);
    assert!(as_user(&agent, "eve").is_ok());
    assert!(as_user(&agent, "eve").is_err());
    let shown = format!("{limit:?}");
    assert!(shown.contains("keys: 1") && !shown.contains("eve"), "{shown}");
}

#[test]
fn of_64_threads_exactly_as_many_pass_as_the_quota_allows() {
    let limit = RateLimit::of_models().requests(40, MINUTE).clock(Time::default().clock());
    let agent = Arc::new(agent_of(fixed(), limit));
    let start = Arc::new(Barrier::new(64));
    let threads: Vec<_> = (0..64)
        .map(|number| {
            let (agent, start) = (agent.clone(), start.clone());
            thread::spawn(move || {
                start.wait();
                block_on(agent.call_with(on_thread(number), "go")).is_ok()
            })
        })
        .collect();
    let passed = threads.into_iter().map(|thread| thread.join().unwrap());
    assert_eq!(passed.filter(|passed| *passed).count(), 40);
}

#[tokio::test(start_paused = true)]
async fn calls_that_wait_pass_in_the_order_in_which_they_came() {
    let limit = RateLimit::of_models().requests(1, SECOND).wait(MINUTE);
    let agent = Arc::new(agent_of(fixed(), limit));
    let (start, passed) = (Instant::now(), Arc::new(Records::new()));
    let tasks: Vec<_> = (0..8)
        .map(|number| {
            let (agent, passed) = (agent.clone(), passed.clone());
            tokio::spawn(async move {
                agent.call_with(on_thread(number), "go").await.unwrap();
                passed.push((number, start.elapsed().as_secs()));
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let expected: Vec<_> = (0..8).map(|number| (number, number as u64)).collect();
    assert_eq!(passed.take(), expected);
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_would_take_too_long_fails_at_once() {
    let limit = RateLimit::of_models().requests(1, MINUTE).wait(SECOND * 59);
    let agent = agent_of(fixed(), limit);
    agent.call("go").await.unwrap();
    let start = Instant::now();
    assert_eq!(limited(agent.call("go").await).retry_after, MINUTE);
    assert_eq!(start.elapsed(), Duration::ZERO);
    advance(SECOND).await;
    agent.call("go").await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 60);
}

#[tokio::test(start_paused = true)]
async fn a_wait_in_line_is_bounded_too() {
    let limit = RateLimit::of_models().requests(1, MINUTE).wait(SECOND * 90);
    let agent = Arc::new(agent_of(fixed(), limit));
    agent.call("go").await.unwrap();
    let first = tokio::spawn({
        let agent = agent.clone();
        async move { agent.call_with(on_thread(1), "go").await.is_ok() }
    });
    tokio::task::yield_now().await;
    // The first in line passes after a minute, which leaves too little for the second.
    let start = Instant::now();
    assert_eq!(limited(agent.call_with(on_thread(2), "go").await).retry_after, MINUTE);
    assert!(first.await.unwrap() && start.elapsed() <= SECOND * 61);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_while_it_waits_takes_no_permit() {
    let limit = RateLimit::of_models().requests(1, MINUTE).wait(MINUTE * 5);
    let agent = agent_of(fixed(), limit);
    agent.call("go").await.unwrap();
    for number in 0..9 {
        let waits = agent.call_with(on_thread(number), "go");
        assert!(tokio::time::timeout(SECOND, waits).await.is_err());
    }
    advance(SECOND * 51).await;
    assert!(agent.call_with(on_thread(10), "go").now_or_never().unwrap().is_ok());
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_ends_the_wait_and_takes_no_permit() {
    let limit = RateLimit::of_models().requests(1, MINUTE).wait(MINUTE * 5);
    let agent = Arc::new(agent_of(fixed(), limit));
    agent.call("go").await.unwrap();
    let interrupt = Interrupt::new();
    let waits = tokio::spawn({
        let options = on_thread(1).interrupt(interrupt.clone());
        let agent = agent.clone();
        async move { agent.call_with(options, "go").await.unwrap() }
    });
    tokio::task::yield_now().await;
    interrupt.interrupt();
    assert_eq!(waits.await.unwrap().reason, Some(GenerateReason::Interrupted));
    advance(MINUTE).await;
    assert!(agent.call("go").now_or_never().unwrap().is_ok());
}

#[test]
fn a_limit_outside_of_a_runtime_does_not_wait() {
    let limit = RateLimit::of_models().requests(1, MINUTE).wait(MINUTE * 5);
    let agent = agent_of(fixed(), limit);
    block_on(agent.call("go")).unwrap();
    assert_eq!(limited(block_on(agent.call("go"))).unit, RateUnit::Requests);
}

#[test]
fn a_limit_that_cannot_be_meant_is_not_built() {
    let error = |builder: RateLimitBuilder| builder.build().unwrap_err();
    assert_eq!(error(RateLimit::of_models()), RateLimitError::NoQuota);
    let quotas = [(0, SECOND), (1, Duration::ZERO), (1, Duration::MAX)];
    for (count, period) in quotas {
        let limit = RateLimit::of_models().requests(count, period);
        assert_eq!(error(limit), RateLimitError::InvalidQuota);
    }
    let limit = RateLimit::of_tools().requests(1, SECOND).tokens(1, SECOND);
    assert_eq!(error(limit), RateLimitError::TokensOfTools);
}

#[tokio::test(start_paused = true)]
async fn tasks_that_are_dropped_in_line_leave_their_turn_to_the_next() {
    let limit = RateLimit::of_models().requests(1, SECOND).wait(MINUTE * 5);
    let agent = Arc::new(agent_of(fixed(), limit));
    let (pass, mut passing) = tokio::sync::mpsc::unbounded_channel();
    let start = Instant::now();
    let tasks: Vec<_> = (0..64)
        .map(|number| {
            let (agent, pass) = (agent.clone(), pass.clone());
            tokio::spawn(async move {
                agent.call_with(on_thread(number), "go").await.unwrap();
                pass.send((number, start.elapsed().as_secs())).unwrap();
            })
        })
        .collect();
    let mut passed = vec![passing.recv().await.unwrap(), passing.recv().await.unwrap()];
    // The first two have passed; of the others, each third stays.
    tasks
        .iter()
        .skip(2)
        .enumerate()
        .filter(|(at, _)| at % 3 > 0)
        .for_each(|(_, task)| task.abort());
    for task in tasks {
        let _ = task.await;
    }
    let left = (2..64).step_by(3).zip(2_u64..);
    let expected: Vec<_> = [(0, 0), (1, 1)].into_iter().chain(left).collect();
    passed.extend(std::iter::from_fn(|| passing.try_recv().ok()));
    assert_eq!(passed, expected);
}

#[tokio::test(start_paused = true)]
async fn parallel_tool_calls_wait_for_one_quota() {
    let calls = ["1", "2", "3"].map(|id| call(id, "search"));
    let script = Script::new().calls(calls).says("done");
    let limit = RateLimit::of_tools().requests(1, SECOND).wait(MINUTE).build().unwrap();
    let builder = crate::task::builder(&script, &Arc::default()).hook(limit);
    let agent = builder.parallel_tools(true).build().unwrap();
    let start = Instant::now();
    agent.call("go").await.unwrap();
    let results = hooks_fixtures::scripted_agents::results(&agent);
    assert!(results.iter().all(|(_, output)| output == "ok") && results.len() == 3);
    assert_eq!(start.elapsed().as_secs(), 2);
}
