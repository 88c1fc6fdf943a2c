//! Deciders, closures, writers and recorders that panic or fail.

use std::future::pending;
use std::io;
use std::panic::AssertUnwindSafe;

use futures::{FutureExt, StreamExt};
use hooks_agent::builtin::control::{AgentCommand, MessagesHook};
use hooks_agent::builtin::guard::pii::{PiiCallback, PiiMatch};
use hooks_agent::builtin::guard::{
    Decision, InjectPrompt, PiiDetection, Spotlight, ToolApproval, ToolParams,
};
use hooks_agent::builtin::limit::{Budget, RateLimit};
use hooks_agent::builtin::observe::{JsonlTrace, Logging, Monitoring, Timing};
use hooks_agent::builtin::recover::{
    CircuitBreaker, CircuitState, ModelFallback, ModelRetry, OnFailure, ToolRetry,
};
use hooks_agent::hook::Rewrite;
use hooks_agent::model::{Finding, ModelError, Rewriter};
use hooks_agent::prelude::*;
use hooks_agent::react::ReActAgentBuilder;
use hooks_agent::testing::{Calls, Script, check_history};
use serde_json::json;

use crate::agents::{MINUTE, at_once, busy, call, note, results};

/// An agent that calls `look`, which answers, and then says `done`.
pub(crate) struct Bench {
    pub(crate) agent: ReActAgent,
    pub(crate) script: Script,
    pub(crate) look: Calls,
}

pub(crate) fn bench(hook: impl AgentHook) -> Bench {
    bench_of(Script::new().calls([call("1", "look")]).says("done"), |builder| builder.hook(hook))
}

pub(crate) fn bench_of(
    script: Script,
    more: impl FnOnce(ReActAgentBuilder) -> ReActAgentBuilder,
) -> Bench {
    let look = Calls::new("look").answers("seen");
    let builder = ReActAgent::builder("bot").model(script.clone()).tool(look.clone());
    Bench { agent: more(builder).build().unwrap(), script, look }
}

impl Bench {
    /// Calls the agent. A panic that leaves the call fails the test.
    pub(crate) async fn go(&self) -> Result<Msg, AgentError> {
        let ended = AssertUnwindSafe(self.agent.call("go")).catch_unwind().await;
        check_history(self.agent.memory());
        ended.unwrap_or_else(|_| panic!("the panic of a closure left the call"))
    }

    /// Asserts that the call works as without the hook.
    pub(crate) async fn assert_unaffected(&self) -> Msg {
        let reply = self.go().await.unwrap();
        assert_eq!(reply.text(), "done");
        assert_eq!(self.look.inputs().len(), 1);
        assert_eq!(results(&self.agent)[0].output, "seen");
        reply
    }

    /// Asserts that the tool did not run, and that the model reads the reason.
    pub(crate) async fn assert_tool_refused(&self, why: &str) {
        assert_eq!(self.go().await.unwrap().text(), "done");
        assert_eq!(self.look.inputs().len(), 0);
        let result = &results(&self.agent)[0];
        assert!(result.is_error && result.output.as_str().contains(why), "{result:?}");
    }

    /// Asserts that the call failed for this reason before the model was asked.
    pub(crate) async fn assert_refused(&self, why: &str) {
        let error = self.go().await.unwrap_err();
        let text = format!("{error} {error:?}");
        assert!(text.contains(why), "{text}");
        assert_eq!(self.script.requests().len(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_decider_that_panics_errs_or_never_answers_denies() {
    let panics = ToolApproval::new(["look"], |_| -> std::future::Ready<Decision> { panic!("oh") });
    bench(panics).assert_tool_refused("the decider panicked").await;
    let panics = ToolApproval::new(["look"], async |_| -> Decision { panic!("oh") });
    bench(panics.one_at_a_time()).assert_tool_refused("the decider panicked").await;
    let errs = async |_| Err::<Decision, _>(io::Error::other("oh"));
    bench(ToolApproval::new(["look"], errs)).assert_tool_refused("the decider failed").await;
    let never = async |_| pending::<Decision>().await;
    let late = ToolApproval::new(["look"], never).timeout(MINUTE).one_at_a_time();
    bench(late).assert_tool_refused("did not decide in time").await;
    let unsure = ToolApproval::when(|_| panic!("oh"), async |_| Decision::deny("no"));
    bench(unsure).assert_tool_refused("no").await;
}

#[tokio::test(start_paused = true)]
async fn a_guard_whose_closure_panics_refuses() {
    bench(InjectPrompt::from_fn(|_| panic!("oh"))).assert_refused("the prompt panicked").await;
    let params =
        ToolParams::new().from_context("key", |_: &CallContext| -> Option<String> { panic!("oh") });
    bench(params).assert_tool_refused("its closure panicked").await;
    let reply = bench(Spotlight::by(|_| panic!("oh")));
    assert_eq!(reply.go().await.unwrap().text(), "done");
    assert!(results(&reply.agent)[0].output.as_str().contains("seen"));
    assert_ne!(results(&reply.agent)[0].output, "seen", "it is marked");
}

fn oh(_: &str, _: usize) -> Option<Finding> {
    panic!("oh")
}

fn detector() -> PiiDetection {
    PiiDetection::custom("name", PiiCallback::new(|_| -> Vec<PiiMatch> { panic!("oh") }))
}

#[tokio::test(start_paused = true)]
async fn a_detector_that_panics_blocks_the_text() {
    let rewrite = || Rewrite::from(Rewriter::within(9, oh));
    let per_call = || Rewrite::per_call(|_| panic!("oh"));
    // The input.
    bench(rewrite().input(true)).assert_refused("the rewriter panicked").await;
    bench(per_call().input(true)).assert_refused("returns the rewriter panicked").await;
    bench(detector()).assert_refused("the detector of personal data panicked").await;
    // The output.
    for hook in [rewrite(), per_call()] {
        let bench = bench_of(Script::new().says("a secret"), |builder| builder.hook(hook));
        let error = bench.go().await.unwrap_err();
        assert!(matches!(error, AgentError::Model(ModelError::Blocked { .. })), "{error:?}");
        assert!(!format!("{error:?} {:?}", bench.agent.memory().messages()).contains("secret"));
    }
    // The results of tools.
    for hook in [rewrite(), per_call()] {
        let bench = bench(hook.output(false).tool_results(true));
        // The model does not receive what no hook has checked.
        assert!(format!("{:?}", bench.go().await.unwrap_err()).contains("panicked"));
        assert_eq!(bench.script.requests().len(), 1);
        let result = &results(&bench.agent)[0];
        assert!(result.is_error && !result.output.as_str().contains("seen"), "{result:?}");
    }
    // The arguments of tool calls.
    for hook in [rewrite(), per_call()] {
        let tool_use = ToolUse::new("1", "look", json!({ "for": "a secret" }));
        let script = Script::new().calls([tool_use]).says("done");
        let bench = bench_of(script, |it| it.hook(hook.output(false).tool_arguments(true)));
        bench.go().await.unwrap_err();
        assert_eq!(bench.look.inputs().len(), 0);
        assert!(!format!("{:?}", bench.agent.memory().messages()).contains("secret"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_detector_that_panics_shows_nothing_in_a_stream() {
    let rewrite = Rewrite::from(Rewriter::within(3, |text, _| {
        assert!(!text.contains("secret"), "oh");
        None
    }));
    let bench = bench_of(Script::new().says("first words and a secret"), |it| it.hook(rewrite));
    let mut stream = bench.agent.stream("go");
    let mut shown = String::new();
    while let Some(event) = stream.next().await {
        note(&mut shown, &event);
    }
    assert!(shown.contains("Blocked") && !shown.contains("secret"), "{shown}");
}

#[tokio::test(start_paused = true)]
async fn a_limit_whose_closure_panics_refuses() {
    let rate = RateLimit::of_models().requests(9, MINUTE).by(|_| panic!("oh"));
    bench(rate.build().unwrap()).assert_refused("whose quota a call uses panicked").await;
    let rate = RateLimit::of_tools().requests(9, MINUTE).by(|_| panic!("oh")).build().unwrap();
    bench(rate).assert_tool_refused("whose quota a call uses panicked").await;
    let budget = Budget::builder().day_tokens(9).day_of(|_| panic!("oh"));
    bench(budget.build().unwrap()).assert_refused("whose day a call spends panicked").await;
}

struct Broken {
    panics: bool,
}

impl io::Write for Broken {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        assert!(!self.panics, "oh");
        Err(io::Error::other("the disk is full"))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A recorder of metrics that panics.
struct Recorder;

impl metrics::Recorder for Recorder {
    fn describe_counter(
        &self,
        _: metrics::KeyName,
        _: Option<metrics::Unit>,
        _: metrics::SharedString,
    ) {
        panic!("oh")
    }

    fn describe_gauge(
        &self,
        _: metrics::KeyName,
        _: Option<metrics::Unit>,
        _: metrics::SharedString,
    ) {
        panic!("oh")
    }

    fn describe_histogram(
        &self,
        _: metrics::KeyName,
        _: Option<metrics::Unit>,
        _: metrics::SharedString,
    ) {
        panic!("oh")
    }

    fn register_counter(&self, _: &metrics::Key, _: &metrics::Metadata<'_>) -> metrics::Counter {
        panic!("oh")
    }

    fn register_gauge(&self, _: &metrics::Key, _: &metrics::Metadata<'_>) -> metrics::Gauge {
        panic!("oh")
    }

    fn register_histogram(
        &self,
        _: &metrics::Key,
        _: &metrics::Metadata<'_>,
    ) -> metrics::Histogram {
        panic!("oh")
    }
}

#[tokio::test(start_paused = true)]
async fn an_observer_whose_closure_panics_does_not_affect_the_call() {
    let timing = Timing::new().on_settled(|_| panic!("oh"));
    let reply = bench(timing).assert_unaffected().await;
    assert!(Timing::of(&reply).is_some());
    for panics in [false, true] {
        let log = Logging::to_writer(Broken { panics }).content(true);
        bench(log.clone()).assert_unaffected().await;
        assert!(log.failures() > 0);
        let trace = JsonlTrace::to_writer(Broken { panics }).fail_fast(false).open().unwrap();
        bench(trace).assert_unaffected().await;
    }
    let trace = JsonlTrace::to_writer(io::empty()).redact(|_, _| panic!("oh")).fail_fast(false);
    bench(trace.open().unwrap()).assert_unaffected().await;
    let monitoring = Monitoring::new().recorder(Recorder);
    bench(monitoring.clone()).assert_unaffected().await;
    let snapshot = monitoring.snapshot();
    assert_eq!((snapshot.calls, snapshot.in_flight), (1, 0));
    assert!(monitoring.failures() > 0);
    let budget = Budget::builder().run_tokens(1_000).warn_at(0.0).on_warning(|_| panic!("oh"));
    bench(budget.build().unwrap()).assert_unaffected().await;
}

#[tokio::test(start_paused = true)]
async fn a_closure_of_messages_that_panics_fails_the_call() {
    type Set = fn(MessagesHook) -> MessagesHook;
    fn oh(_: &Messages, _: &CallContext) -> HookResult<AgentCommand> {
        panic!("oh")
    }
    let sets: [Set; 4] = [
        |hook| hook.pre_call(oh),
        |hook| hook.pre_reasoning(oh),
        |hook| hook.post_reasoning(oh),
        |hook| hook.post_call(oh),
    ];
    for set in sets {
        let error = bench(set(MessagesHook::new())).go().await.unwrap_err();
        assert!(format!("{error:?}").contains("the closure of the messages panicked"), "{error:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_closure_that_chooses_errors_and_panics_repeats_nothing() {
    let fails = || Script::new().fails(busy()).says("done");
    let retry = ModelRetry::with(at_once(3)).unwrap().retry_on(|_| panic!("oh"));
    let retried = bench_of(fails(), |it| it.hook(retry));
    retried.go().await.unwrap_err();
    assert_eq!(retried.script.requests().len(), 1);
    let fallback = ModelFallback::new(Script::new().says("no")).fall_back_on(|_| panic!("oh"));
    bench_of(fails(), |it| it.hook(fallback)).go().await.unwrap_err();
    let breaker = CircuitBreaker::for_model("script").failures(1);
    let breaker = breaker.count_model_errors(|_| panic!("oh")).on_change(|_| panic!("oh"));
    bench_of(fails(), |it| it.hook(breaker.clone())).go().await.unwrap_err();
    assert_eq!(breaker.state(), CircuitState::Open);
    let tool = Calls::new("open").fails("locked").answers("seen");
    let script = || Script::new().calls([call("1", "open")]).says("done");
    let retry = ToolRetry::with(at_once(3)).unwrap().tools(["open"]).retry_on(|_| panic!("oh"));
    let retried = bench_of(script(), |it| it.tool(tool.clone()).hook(retry));
    retried.go().await.unwrap();
    assert_eq!((tool.inputs().len(), results(&retried.agent)[0].is_error), (1, true));
    let tool = Calls::new("open").fails("locked");
    let retry = ToolRetry::with(at_once(1)).unwrap().tools(["open"]);
    let retry = retry.on_failure(OnFailure::text(|_| panic!("oh")));
    let retried = bench_of(script(), |it| it.tool(tool).hook(retry));
    retried.go().await.unwrap();
    let text = "Tool `open` failed after 1 attempt: locked";
    assert_eq!(results(&retried.agent)[0].output, text);
}
