//! Clocks that panic or jump, and thread values that somebody else wrote.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hooks_agent::builtin::guard::{Requires, RuleOfTwo, Rules, Then, ToolRule};
use hooks_agent::builtin::limit::{Budget, Exit, ModelCallLimit, RateLimit, ToolCallLimit};
use hooks_agent::builtin::observe::Timing;
use hooks_agent::builtin::recover::{CircuitBreaker, CircuitState};
use hooks_agent::message::Usage;
use hooks_agent::prelude::*;
use hooks_agent::testing::Script;
use serde_json::json;

use crate::agents::{MINUTE, busy};
use crate::faults::{Bench, bench, bench_of};

#[tokio::test(start_paused = true)]
async fn a_clock_that_panics_stands_still() {
    let rate = RateLimit::of_models().requests(1, MINUTE).clock(|| panic!("oh")).build().unwrap();
    let bench_of_rate = bench(rate);
    bench_of_rate.go().await.unwrap_err();
    assert_eq!(bench_of_rate.script.requests().len(), 1);
    let budget = Budget::builder().day_tokens(1_000).clock(|| panic!("oh")).build().unwrap();
    bench(budget).assert_unaffected().await;
    let breaker = CircuitBreaker::for_model("script").failures(1).clock(|| panic!("oh"));
    let script = Script::new().fails(busy()).says("done");
    let bench_of_breaker = bench_of(script, |it| it.hook(breaker.clone()));
    bench_of_breaker.go().await.unwrap_err();
    assert_eq!(breaker.state(), CircuitState::Open);
    bench_of_breaker.go().await.unwrap_err();
    assert_eq!(bench_of_breaker.script.requests().len(), 1);
    let timing = Timing::new().clock(|| panic!("oh"));
    bench(timing).assert_unaffected().await;
}

/// A clock that jumps back and forth.
#[derive(Clone, Default)]
struct Jumping(Arc<AtomicU64>);

impl Jumping {
    fn seconds(&self) -> u64 {
        const TIMES: [u64; 8] = [90_000_000, 3, 90_000_001, 0, 1 << 40, 7, 1 << 30, 90_000_002];
        let read = self.0.fetch_add(1, Ordering::Relaxed);
        TIMES[usize::try_from(read).unwrap() % TIMES.len()]
    }

    fn clock(&self) -> impl Fn() -> Duration + Send + Sync + 'static {
        let this = self.clone();
        move || Duration::from_secs(this.seconds())
    }

    fn system(&self) -> impl Fn() -> SystemTime + Send + Sync + 'static {
        let this = self.clone();
        move || UNIX_EPOCH + Duration::from_secs(this.seconds() % (1 << 33))
    }
}

#[tokio::test(start_paused = true)]
async fn clocks_that_jump_give_no_more_than_their_latest_time() {
    let time = Jumping::default();
    let timing = Timing::new().clock(time.clock());
    let budget = Budget::builder().day_tokens(1_000_000).clock(time.system()).build().unwrap();
    let breaker = CircuitBreaker::for_model("script").failures(100).clock(time.clock());
    let rate = RateLimit::of_models().requests(3, Duration::from_hours(24 * 300));
    let rate = rate.clock(time.clock()).build().unwrap();
    let costing = |text: &str| ScriptedAnswer::from(text).costing(Usage::new(9, 1));
    let answers = (0..9).fold(Script::new(), |script, _| script.turn(costing("done")));
    let bench = bench_of(answers, |builder| {
        builder.hook(timing).hook(budget.clone()).hook(breaker).hook(rate)
    });
    let mut answered = 0;
    for _ in 0..9 {
        answered += usize::from(bench.go().await.is_ok());
    }
    // The latest time of the clock is one jump, after which the quota is whole once.
    assert!((3..=6).contains(&answered), "{answered}");
    assert!(budget.spent_today("").tokens <= 60);
}

/// Returns an agent on whose thread somebody wrote something else under this name.
fn spoilt(name: &str, hook: impl AgentHook) -> Bench {
    let bench = bench(hook);
    let values = json!({ name: ["not", "a", "count"] });
    bench.agent.memory().set_values(values.as_object().unwrap().clone());
    bench
}

#[tokio::test(start_paused = true)]
async fn a_thread_value_of_another_type_refuses() {
    let limit = ModelCallLimit::builder().run(9).build().unwrap();
    spoilt("ModelCallLimit", limit).assert_refused("ModelCallLimit").await;
    let budget = Budget::builder().run_tokens(999).build().unwrap();
    spoilt("Budget", budget).assert_refused("Budget").await;
    for exit in [Exit::Continue, Exit::End, Exit::Error] {
        for name in ["ToolCallLimit", "ToolCallLimit/batch"] {
            let limit = ToolCallLimit::all().run(9).exit(exit).build().unwrap();
            let bench = spoilt(name, limit);
            bench.go().await.unwrap_err();
            assert_eq!(bench.look.inputs().len(), 0, "{exit} {name}");
        }
    }
    let rule = RuleOfTwo::new().untrusted_input(["look"]);
    spoilt("rule_of_two", rule).assert_tool_refused("the labels of the thread are not known").await;
    let rule = ToolRule::new("order", Then::Deny).requires(Requires::new("other"));
    let rules = Rules::builder().rule(rule).build().unwrap();
    spoilt("rules", rules).assert_tool_refused("what ran in the thread is not known").await;
}
