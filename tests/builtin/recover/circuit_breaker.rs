//! `CircuitBreaker`.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use futures::FutureExt;
use hooks_agent_builtin::recover::{
    CircuitBreaker, CircuitChange, CircuitOpen, CircuitState, ModelRetry, ToolRetry,
};
use hooks_agent_core::message::GenerateReason;
use hooks_agent_core::model::{ChatStream, ModelError};
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_core::testing::{Calls, Script, check_history};
use hooks_fixtures::Records;
use hooks_fixtures::scripted_agents::results;
use serde_json::json;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::around::Count;

/// A clock that a test sets, in seconds.
#[derive(Clone, Default)]
struct Clock(Arc<AtomicU64>);

impl Clock {
    fn set(&self, seconds: u64) {
        self.0.store(seconds, Ordering::Relaxed);
    }

    /// 3 failures in 60 s, open for 30 s.
    fn breaker(&self) -> CircuitBreaker {
        self.of(CircuitBreaker::for_model("script"))
    }

    fn of(&self, breaker: CircuitBreaker) -> CircuitBreaker {
        let clock = self.0.clone();
        breaker.failures(3).clock(move || Duration::from_secs(clock.load(Ordering::Relaxed)))
    }
}

fn busy() -> ModelError {
    ModelError::status("script", 503)
}

/// A model that fails while the switch is on, and how often it was asked.
#[derive(Clone, Default)]
struct Switch {
    fails: Arc<AtomicBool>,
    asked: Arc<AtomicUsize>,
}

impl Switch {
    fn failing() -> Self {
        Self { fails: Arc::new(true.into()), ..Self::default() }
    }

    fn heal(&self) {
        self.fails.store(false, Ordering::Relaxed);
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }

    fn agent(&self, breaker: &CircuitBreaker) -> ReActAgent {
        let Self { fails, asked } = self.clone();
        let model = ScriptedModel::new("script", move |_| -> ScriptedAnswer {
            asked.fetch_add(1, Ordering::Relaxed);
            if fails.load(Ordering::Relaxed) { busy().into() } else { "hi".into() }
        });
        ReActAgent::builder("bot").model(model).hook(breaker.clone()).build().unwrap()
    }
}

async fn fail(agent: &ReActAgent, times: usize) {
    for _ in 0..times {
        agent.call("go").await.unwrap_err();
    }
}

fn open_of(error: &AgentError) -> Option<&CircuitOpen> {
    match error {
        AgentError::Model(ModelError::Other { source, .. }) => source.downcast_ref(),
        _ => None,
    }
}

#[tokio::test]
async fn failures_in_the_window_open_the_circuit() {
    let (clock, switch) = (Clock::default(), Switch::failing());
    let breaker = clock.breaker();
    let agent = switch.agent(&breaker);
    fail(&agent, 2).await;
    assert_eq!(breaker.state(), CircuitState::Closed);
    clock.set(60);
    fail(&agent, 1).await;
    assert_eq!(breaker.state(), CircuitState::Open);

    clock.set(65);
    let error = agent.call("go").await.unwrap_err();
    let open = open_of(&error).unwrap();
    assert_eq!((&*open.name, open.retry_after), ("script", Some(Duration::from_secs(25))));
    let text = "the circuit of `script` is open after repeated failures, retry after 25 s";
    assert_eq!(open.to_string(), text);
    assert_eq!(switch.asked(), 3);
}

#[tokio::test]
async fn older_failures_do_not_count() {
    let (clock, switch) = (Clock::default(), Switch::failing());
    let breaker = clock.breaker();
    let agent = switch.agent(&breaker);
    for time in [0, 31, 62, 93, 124] {
        clock.set(time);
        fail(&agent, 1).await;
    }
    assert_eq!((breaker.state(), switch.asked()), (CircuitState::Closed, 5));
}

#[tokio::test]
async fn the_program_sets_the_window() {
    for (window, state) in [(9, CircuitState::Closed), (10, CircuitState::Open)] {
        let (clock, switch) = (Clock::default(), Switch::failing());
        let breaker = clock.breaker().window(Duration::from_secs(window));
        let agent = switch.agent(&breaker);
        for time in [0, 5, 10] {
            assert_eq!(breaker.state(), CircuitState::Closed);
            clock.set(time);
            fail(&agent, 1).await;
        }
        assert_eq!(breaker.state(), state, "{window}");
    }
}

#[tokio::test]
async fn failures_before_the_circuit_closed_do_not_count() {
    let (clock, switch) = (Clock::default(), Switch::failing());
    let breaker = clock.breaker();
    let agent = switch.agent(&breaker);
    fail(&agent, 3).await;
    clock.set(30);
    Switch::default().agent(&breaker).call("go").await.unwrap();
    fail(&agent, 2).await;
    assert_eq!(breaker.state(), CircuitState::Closed);
    fail(&agent, 1).await;
    assert_eq!(breaker.state(), CircuitState::Open);
}

#[tokio::test]
async fn other_errors_are_no_failures_unless_chosen() {
    let refused = || ModelError::status("script", 401);
    for (breaker, error, state) in [
        (CircuitBreaker::for_model("m"), refused(), CircuitState::Closed),
        (
            CircuitBreaker::for_model("m").count_model_errors(|_| true),
            refused(),
            CircuitState::Open,
        ),
        (
            CircuitBreaker::for_model("m").count_model_errors(|_| false),
            busy(),
            CircuitState::Closed,
        ),
        (
            CircuitBreaker::for_model("m").count_model_errors(|_| panic!("a bug")),
            refused(),
            CircuitState::Open,
        ),
    ] {
        let breaker = breaker.failures(0);
        let script = Script::new().fails(error);
        let agent = ReActAgent::builder("bot").model(script).hook(breaker.clone()).build().unwrap();
        fail(&agent, 1).await;
        assert_eq!(breaker.state(), state);
    }
}

#[tokio::test]
async fn a_probe_that_succeeds_closes_and_one_that_fails_opens() {
    use CircuitState::{Closed, HalfOpen, Open};
    let (clock, switch) = (Clock::default(), Switch::failing());
    let changes: Arc<Records<CircuitChange>> = Arc::default();
    let seen = changes.clone();
    let breaker = clock.breaker().on_change(move |change| seen.push(change.clone()));
    let agent = switch.agent(&breaker);
    fail(&agent, 3).await;
    clock.set(30);
    assert_eq!(breaker.state(), CircuitState::HalfOpen);
    fail(&agent, 1).await;
    assert_eq!((breaker.state(), switch.asked()), (CircuitState::Open, 4));
    clock.set(59);
    fail(&agent, 1).await;
    assert_eq!(switch.asked(), 4);
    clock.set(60);
    switch.heal();
    agent.call("go").await.unwrap();
    assert_eq!(breaker.state(), CircuitState::Closed);

    let changes: Vec<_> = changes.take().iter().map(|change| (change.from, change.to)).collect();
    let half = (Open, HalfOpen);
    assert_eq!(changes, [(Closed, Open), half, (HalfOpen, Open), half, (HalfOpen, Closed)]);
    // The failures from before are forgotten.
    switch.fails.store(true, Ordering::Relaxed);
    fail(&agent, 2).await;
    assert_eq!(breaker.state(), Closed);
}

/// A model that waits for a signal, then answers; and how often it was asked.
#[derive(Clone, Default)]
struct Slow {
    signal: Arc<Notify>,
    asked: Arc<AtomicUsize>,
    panics: bool,
    fails: bool,
}

impl ChatModel for Slow {
    fn name(&self) -> &'static str {
        "slow"
    }

    fn stream(&self, request: ChatRequest) -> ChatStream {
        let Self { signal, asked, panics, fails } = self.clone();
        asked.fetch_add(1, Ordering::Relaxed);
        let answer = async move {
            signal.notified().await;
            assert!(!panics, "a bug of the model");
            let answer =
                move |_: &_| if fails { busy().into() } else { ScriptedAnswer::from("hi") };
            ScriptedModel::new("slow", answer).stream(request)
        };
        Box::pin(answer.flatten_stream())
    }
}

/// Opens the circuit at 0 s.
async fn open(breaker: &CircuitBreaker) {
    fail(&Switch::failing().agent(breaker), 3).await;
    assert_eq!(breaker.state(), CircuitState::Open);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_64_tasks_exactly_one_is_the_probe() {
    for _ in 0..20 {
        let (clock, slow) = (Clock::default(), Slow::default());
        let breaker = clock.breaker();
        open(&breaker).await;
        clock.set(30);
        let builder = ReActAgent::builder("bot").model(slow.clone()).hook(breaker.clone());
        let agent = Arc::new(builder.build().unwrap());
        let refused = Arc::new(AtomicUsize::new(0));
        let tasks: Vec<_> = (0..64)
            .map(|task| {
                let (agent, refused, signal) =
                    (agent.clone(), refused.clone(), slow.signal.clone());
                tokio::spawn(async move {
                    let options = CallOptions::new().thread(task.to_string());
                    let ended = agent.call_with(options, "go").await;
                    if let Err(error) = &ended {
                        assert_eq!(open_of(error).unwrap().retry_after, None);
                        if refused.fetch_add(1, Ordering::Relaxed) == 62 {
                            signal.notify_one();
                        }
                    }
                    ended.is_ok()
                })
            })
            .collect();
        let ended = futures::future::join_all(tasks).await;
        assert_eq!(ended.into_iter().filter(|ended| *ended.as_ref().unwrap()).count(), 1);
        assert_eq!(slow.asked.load(Ordering::Relaxed), 1);
        assert_eq!(breaker.state(), CircuitState::Closed);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn failures_of_64_tasks_at_once_open_the_circuit_once() {
    let (clock, switch) = (Clock::default(), Switch::failing());
    let changes: Arc<Records<CircuitChange>> = Arc::default();
    let seen = changes.clone();
    let breaker = clock.breaker().on_change(move |change| seen.push(change.clone()));
    let agent = Arc::new(switch.agent(&breaker));
    let tasks = (0..64).map(|task| {
        let agent = agent.clone();
        tokio::spawn(async move {
            let options = CallOptions::new().thread(task.to_string());
            agent.call_with(options, "go").await.is_err()
        })
    });
    let ended = futures::future::join_all(tasks).await;
    assert!(ended.into_iter().all(|has_failed| has_failed.unwrap()));
    assert_eq!(changes.take().len(), 1);
    assert!(switch.asked() >= 3);
}

#[tokio::test]
async fn a_hook_inside_that_fails_counts_as_nothing() {
    let breaker = Clock::default().breaker().failures(1);
    let agent = ReActAgent::builder("bot")
        .model(Script::new().says("hi"))
        .hook(breaker.clone())
        .hook(Count::models().failing().with_priority(400))
        .build()
        .unwrap();
    fail(&agent, 2).await;
    assert_eq!(breaker.state(), CircuitState::Closed);
}

#[tokio::test]
async fn a_call_that_the_tool_does_not_take_counts_as_nothing() {
    let clock = Clock::default();
    let breaker = clock.of(CircuitBreaker::for_tool("search")).failures(1);
    let search = Calls::new("search").fails("down");
    let script = Script::new().calls([ToolUse::invalid("1", "search", "{oops")]).says("done");
    let script = script.calls([ToolUse::new("2", "search", json!({}))]).says("down");
    let builder = ReActAgent::builder("bot").model(script).tool(search.clone());
    let agent = builder.hook(breaker.clone()).build().unwrap();
    agent.call("go").await.unwrap();
    assert_eq!((breaker.state(), search.inputs().len()), (CircuitState::Closed, 0));
    agent.call("go").await.unwrap();
    assert_eq!((breaker.state(), search.inputs().len()), (CircuitState::Open, 1));
}

/// Answers in place of the model and of tools, while it is on.
#[derive(Clone, Default)]
struct Refuses(Arc<AtomicBool>);

#[agent_hook(priority = 400)]
impl Refuses {
    async fn model(
        &self,
        call: ModelCall<'_>,
        next: NextModel<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        if self.0.load(Ordering::Relaxed) {
            return Ok(ModelAnswer::in_place("limit", "no", GenerateReason::LimitReached));
        }
        next.run(call.into_request()).await
    }

    async fn tool(&self, call: ToolCall<'_>, next: NextTool<'_>) -> Result<ToolResult, ToolError> {
        if self.0.load(Ordering::Relaxed) {
            return Ok(ToolResult::error(call.tool_use(), "no"));
        }
        next.run(call.into_tool_use()).await
    }
}

#[tokio::test]
async fn an_answer_of_a_hook_inside_does_not_close_the_circuit_of_a_model() {
    let (clock, refuses) = (Clock::default(), Refuses::default());
    let breaker = clock.breaker();
    open(&breaker).await;
    clock.set(30);
    refuses.0.store(true, Ordering::Relaxed);
    let script = Script::new().says("hi");
    let builder = ReActAgent::builder("bot").model(script.clone()).hook(breaker.clone());
    let agent = builder.hook(refuses.clone()).build().unwrap();
    assert_eq!(agent.call("go").await.unwrap().text(), "no");
    assert_eq!((breaker.state(), script.requests().len()), (CircuitState::HalfOpen, 0));
    // The next call is the probe.
    refuses.0.store(false, Ordering::Relaxed);
    assert_eq!(agent.call("go").await.unwrap().text(), "hi");
    assert_eq!(breaker.state(), CircuitState::Closed);
}

#[tokio::test]
async fn a_refusal_of_a_hook_inside_does_not_close_the_circuit_of_a_tool() {
    let (clock, refuses) = (Clock::default(), Refuses::default());
    let breaker = clock.of(CircuitBreaker::for_tool("search")).failures(1);
    let search = Calls::new("search").fails("down").answers("42");
    let call = |id: &str| [ToolUse::new(id, "search", json!({}))];
    let agent_of = |refuses: Option<Refuses>| {
        let script = Script::new().calls(call("1")).says("done");
        let builder = ReActAgent::builder("bot").model(script).tool(search.clone());
        let builder = builder.hook(breaker.clone());
        refuses.into_iter().fold(builder, ReActAgentBuilder::hook).build().unwrap()
    };
    agent_of(None).call("go").await.unwrap();
    assert_eq!(breaker.state(), CircuitState::Open);
    clock.set(30);
    refuses.0.store(true, Ordering::Relaxed);
    agent_of(Some(refuses)).call("go").await.unwrap();
    assert_eq!((breaker.state(), search.inputs().len()), (CircuitState::HalfOpen, 1));
    agent_of(None).call("go").await.unwrap();
    assert_eq!((breaker.state(), search.inputs().len()), (CircuitState::Closed, 2));
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_is_dropped_makes_way_for_the_next_one() {
    let (clock, slow) = (Clock::default(), Slow::default());
    let breaker = clock.breaker();
    open(&breaker).await;
    clock.set(30);
    let agent =
        ReActAgent::builder("bot").model(slow.clone()).hook(breaker.clone()).build().unwrap();
    assert!(timeout(Duration::from_secs(1), agent.call("go")).await.is_err());
    assert_eq!(breaker.state(), CircuitState::HalfOpen);
    slow.signal.notify_one();
    agent.call("go").await.unwrap();
    assert_eq!(breaker.state(), CircuitState::Closed);
}

#[tokio::test]
async fn a_probe_that_panics_makes_way_for_the_next_one() {
    let (clock, slow) = (Clock::default(), Slow { panics: true, ..Slow::default() });
    let breaker = clock.breaker();
    open(&breaker).await;
    clock.set(30);
    let agent =
        ReActAgent::builder("bot").model(slow.clone()).hook(breaker.clone()).build().unwrap();
    slow.signal.notify_one();
    assert!(AssertUnwindSafe(agent.call("go")).catch_unwind().await.is_err());
    assert_eq!(breaker.state(), CircuitState::HalfOpen);
    Switch::default().agent(&breaker).call("go").await.unwrap();
    assert_eq!(breaker.state(), CircuitState::Closed);
}

#[tokio::test]
async fn a_call_from_before_a_change_decides_nothing() {
    let (clock, slow) = (Clock::default(), Slow::default());
    let breaker = clock.breaker();
    let late =
        ReActAgent::builder("bot").model(slow.clone()).hook(breaker.clone()).build().unwrap();
    let (reply, ()) = tokio::join!(late.call("go"), async {
        open(&breaker).await;
        slow.signal.notify_one();
    });
    reply.unwrap();
    assert_eq!(breaker.state(), CircuitState::Open);
}

#[tokio::test]
async fn a_failure_from_before_a_change_decides_nothing() {
    // The first call began before the circuit opened and closed again.
    let (clock, slow) = (Clock::default(), Slow { fails: true, ..Slow::default() });
    let (breaker, switch) = (clock.breaker(), Switch::failing());
    let late =
        ReActAgent::builder("bot").model(slow.clone()).hook(breaker.clone()).build().unwrap();
    let (ended, ()) = tokio::join!(late.call("go"), async {
        open(&breaker).await;
        clock.set(30);
        Switch::default().agent(&breaker).call("go").await.unwrap();
        fail(&switch.agent(&breaker), 2).await;
        slow.signal.notify_one();
    });
    ended.unwrap_err();
    assert_eq!(breaker.state(), CircuitState::Closed);
}

#[tokio::test]
async fn agents_share_a_circuit() {
    let (clock, switch) = (Clock::default(), Switch::failing());
    let breaker = clock.breaker();
    let (one, other) = (switch.agent(&breaker), switch.agent(&breaker));
    fail(&one, 2).await;
    fail(&other, 1).await;
    assert!(open_of(&one.call("go").await.unwrap_err()).is_some());
    assert_eq!(switch.asked(), 3);
}

#[tokio::test]
async fn a_stream_that_breaks_is_a_failure() {
    let breaker = CircuitBreaker::for_model("script").failures(2);
    let broken = ScriptedAnswer::Stream(vec![
        Ok(hooks_agent_core::model::ChatChunk::Text("Once".to_owned())),
        Err(busy()),
    ]);
    let script = Script::new().cut_after("Once").turn(broken).says("never");
    let agent =
        ReActAgent::builder("bot").model(script.clone()).hook(breaker.clone()).build().unwrap();
    fail(&agent, 3).await;
    assert_eq!((breaker.state(), script.requests().len()), (CircuitState::Open, 2));
}

#[tokio::test]
async fn a_clock_that_goes_back_stands_still() {
    let (clock, switch) = (Clock::default(), Switch::failing());
    let breaker = clock.breaker();
    let agent = switch.agent(&breaker);
    clock.set(1000);
    fail(&agent, 3).await;
    clock.set(0);
    let error = agent.call("go").await.unwrap_err();
    assert_eq!(open_of(&error).unwrap().retry_after, Some(Duration::from_secs(30)));
    clock.set(u64::MAX);
    switch.heal();
    agent.call("go").await.unwrap();
    assert_eq!(breaker.state(), CircuitState::Closed);
}

#[tokio::test]
async fn a_closure_that_panics_at_a_change_changes_nothing() {
    let switch = Switch::failing();
    let breaker = Clock::default().breaker().on_change(|_| panic!("a bug"));
    let agent = switch.agent(&breaker);
    fail(&agent, 4).await;
    assert_eq!((breaker.state(), switch.asked()), (CircuitState::Open, 3));
}

#[tokio::test(start_paused = true)]
async fn a_retry_outside_does_not_repeat_a_refused_call() {
    let switch = Switch::failing();
    let breaker = CircuitBreaker::for_model("script").failures(2);
    let agent = switch.agent(&breaker);
    agent.register_agent_hook(ModelRetry::new());
    let error = agent.call("go").await.unwrap_err();
    assert!(open_of(&error).is_some(), "{error:?}");
    assert_eq!(switch.asked(), 2);
}

#[tokio::test]
async fn the_model_reads_that_a_tool_is_out_of_service() {
    let clock = Clock::default();
    let breaker = clock.of(CircuitBreaker::for_tool("search")).failures(1);
    let (search, read) = (
        Calls::new("search").fails("down").answers("42"),
        Calls::new("read").answers("a").answers("b"),
    );
    let both = |id: &str| {
        [ToolUse::new(id, "search", json!({})), ToolUse::new(format!("{id}r"), "read", json!({}))]
    };
    let script =
        Script::new().calls(both("1")).calls(both("2")).says("no").calls([both("3")[0].clone()]);
    let agent = ReActAgent::builder("bot")
        .model(script.says("yes"))
        .tool(search.clone())
        .tool(read.clone())
        .hook(breaker.clone())
        .hook(ToolRetry::new().tools(["search"]).retry_on(|_| false))
        .build()
        .unwrap();
    agent.call("go").await.unwrap();
    let refused = "! the circuit of `search` is open after repeated failures, retry after 30 s";
    let texts = |agent: &ReActAgent| -> Vec<String> {
        results(agent).into_iter().map(|(_, text)| text).collect()
    };
    assert_eq!(texts(&agent), ["! down", "a", refused, "b"]);
    clock.set(30);
    agent.call("go").await.unwrap();
    assert_eq!(texts(&agent).last().unwrap(), "42");
    assert_eq!((breaker.state(), search.inputs().len()), (CircuitState::Closed, 2));
    check_history(agent.memory());
}

#[test]
fn breakers_of_an_agent_have_names_of_their_own() {
    let names = [CircuitBreaker::for_model("m").name(), CircuitBreaker::for_tool("m").name()];
    assert_eq!(names, ["CircuitBreaker[model:m]", "CircuitBreaker[tool:m]"]);
    let text = format!("{:?}", CircuitBreaker::for_tool("m"));
    assert!(text.contains("failures: 5"), "{text}");
}
