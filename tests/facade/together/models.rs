//! Hooks around the model together: retries, limits, fallbacks, circuit breakers, rewriters.

use std::io;
use std::time::Duration;

use futures::StreamExt;
use hooks_agent::builtin::guard::pii::PiiStrategy;
use hooks_agent::builtin::guard::{PiiDetection, Vault, VaultKey};
use hooks_agent::builtin::limit::{
    Budget, BudgetExceeded, Exit, ModelCallLimit, ModelCallLimitExceeded, RateLimit, RateLimited,
};
use hooks_agent::builtin::observe::Monitoring;
use hooks_agent::builtin::recover::{
    CircuitBreaker, CircuitState, ModelFallback, ModelRetry, RetryPolicy,
};
use hooks_agent::message::{GenerateReason, Usage};
use hooks_agent::model::{ChatRequest, ChatStream, ModelError};
use hooks_agent::prelude::*;
use hooks_agent::react::ReActAgentBuilder;
use hooks_agent::testing::{Script, check_history};
use tokio::time::Instant;

use crate::agents::{
    ADDRESS, MINUTE, at_once, busy, cause, counts, guards, limits, observers, recovery,
};

/// What guards model calls, and how much it has counted.
struct Stack {
    agent: ReActAgent,
    script: Script,
    other: Script,
    breaker: CircuitBreaker,
    budget: Budget,
    monitoring: Monitoring,
}

impl Stack {
    /// A stack whose rate limit has this many requests, and that counts this many model calls.
    fn new(script: Script, other: Script, requests: u32) -> Self {
        Self::with(script, other, requests, |builder| {
            builder.hook(ModelRetry::with(at_once(3)).unwrap())
        })
    }

    fn with(
        script: Script,
        other: Script,
        requests: u32,
        more: impl FnOnce(ReActAgentBuilder) -> ReActAgentBuilder,
    ) -> Self {
        let breaker = CircuitBreaker::for_model("script").failures(4);
        let budget = Budget::builder().thread_tokens(1_000_000).build().unwrap();
        let monitoring = Monitoring::new();
        let rate = RateLimit::of_models().requests(requests, MINUTE).clock(|| Duration::ZERO);
        let builder = ReActAgent::builder("bot").model(script.clone());
        let builder = observers(builder, io::empty(), &monitoring)
            .hook(ModelCallLimit::builder().thread(1000).build().unwrap())
            .hook(budget.clone())
            .hook(rate.build().unwrap())
            .hook(ModelFallback::new(Named(other.clone())))
            .hook(breaker.clone())
            .hook(PiiDetection::email().everywhere().strategy(PiiStrategy::Block));
        let agent = more(builder).build().unwrap();
        Self { agent, script, other, breaker, budget, monitoring }
    }

    /// Asserts how many attempts the limits have counted.
    fn assert_attempts(&self, attempts: u64) {
        assert_eq!(counts(&self.agent, "default", "ModelCallLimit").0, attempts);
        check_history(self.agent.memory());
        assert_eq!(self.monitoring.snapshot().in_flight, 0);
    }

    fn tokens(&self) -> u64 {
        self.agent.memory().values()["Budget"]["thread"]["tokens"].as_u64().unwrap()
    }
}

/// A script with another name.
struct Named(Script);

impl ChatModel for Named {
    fn name(&self) -> &'static str {
        "other"
    }

    fn stream(&self, request: ChatRequest) -> ChatStream {
        self.0.stream(request)
    }
}

fn costing(text: &str) -> ScriptedAnswer {
    ScriptedAnswer::from(text).costing(Usage::new(70, 30))
}

#[tokio::test(start_paused = true)]
async fn each_attempt_counts_once_in_every_limit() {
    let script = Script::new().fails(busy()).fails(busy()).turn(costing("done"));
    let other = Script::new().fails(busy()).fails(busy());
    // The quota of the rate limit is three attempts.
    let stack = Stack::new(script.says("again"), other, 3);
    assert_eq!(stack.agent.call("go").await.unwrap().text(), "done");
    assert_eq!((stack.script.requests().len(), stack.other.requests().len()), (3, 2));
    stack.assert_attempts(3);
    // What a provider refuses costs nothing.
    assert_eq!(stack.tokens(), 100);
    assert_eq!(stack.breaker.state(), CircuitState::Closed);
    let snapshot = stack.monitoring.snapshot();
    assert_eq!((snapshot.model_calls, snapshot.total_tokens()), (1, 100));
    let error = stack.agent.call("go").await.unwrap_err();
    cause::<RateLimited>(&error);
    assert_eq!(stack.script.requests().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_limit_that_is_reached_inside_of_a_retry_is_not_retried() {
    for exit in [Exit::End, Exit::Error] {
        let script = Script::new().fails(busy()).fails(busy()).fails(busy());
        let limit = ModelCallLimit::builder().run(2).exit(exit).build().unwrap();
        let retry = ModelRetry::with(at_once(9)).unwrap().retry_on(|_| true);
        let builder = ReActAgent::builder("bot").model(script.clone()).hook(limit).hook(retry);
        let agent = builder.build().unwrap();
        let ended = agent.call("go").await;
        assert_eq!(script.requests().len(), 2);
        assert_eq!(counts(&agent, "default", "ModelCallLimit"), (2, 2));
        match ended {
            Ok(reply) => assert_eq!(reply.reason, Some(GenerateReason::LimitReached)),
            Err(error) => {
                assert_eq!(cause::<ModelCallLimitExceeded>(&error).run_count, 2);
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_budget_that_is_spent_inside_of_a_retry_is_not_retried() {
    let broken = ModelError::Cut { model: "script".to_owned() };
    let script = Script::new().fails(broken.clone()).fails(broken.clone()).fails(broken);
    let budget = Budget::builder().run_tokens(1).exit(Exit::Error).build().unwrap();
    let retry = ModelRetry::with(at_once(9)).unwrap().retry_on(|_| true);
    let builder = ReActAgent::builder("bot").model(script.clone()).hook(budget).hook(retry);
    let error = builder.build().unwrap().call("go").await.unwrap_err();
    assert!(cause::<BudgetExceeded>(&error).estimated);
    assert_eq!(script.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_refusal_of_a_rate_limit_is_not_retried() {
    let fails = || (0..9).fold(Script::new(), |script, _| script.fails(busy()));
    let stack = Stack::with(fails(), fails(), 1, |builder| {
        let policy = RetryPolicy::new().attempts(9).jitter(false);
        builder.hook(ModelRetry::with(policy).unwrap().retry_on(|_| true))
    });
    let start = Instant::now();
    cause::<RateLimited>(&stack.agent.call("go").await.unwrap_err());
    assert_eq!((stack.script.requests().len(), stack.other.requests().len()), (1, 1));
    // One delay of the retry, and no further one.
    assert_eq!(start.elapsed(), Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn an_open_circuit_leads_to_the_fallback_and_the_reply_names_it() {
    let fails = (0..4).fold(Script::new(), |script, _| script.fails(busy()));
    let answers = (0..6).fold(Script::new(), |script, _| script.turn(costing("here")));
    let stack = Stack::new(fails, answers, 6);
    for number in 1..=6 {
        let reply = stack.agent.call("go").await.unwrap();
        assert_eq!((reply.text().as_str(), &reply.metadata["model"]), ("here", &"other".into()));
        stack.assert_attempts(number);
    }
    assert_eq!(stack.breaker.state(), CircuitState::Open);
    assert_eq!((stack.script.requests().len(), stack.other.requests().len()), (4, 6));
    assert_eq!(stack.tokens(), 600);
    assert_eq!(stack.budget.spent_today("").tokens, 600);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_breaks_after_the_first_chunk_is_not_repeated() {
    for _ in 0..2 {
        let script = Script::new().cut_after("half an ").turn(costing("done"));
        let stack = Stack::new(script, Script::new(), 2);
        let mut shown = String::new();
        let mut stream = stack.agent.stream("go");
        let mut error = None;
        while let Some(event) = stream.next().await {
            match event {
                Ok(AgentEvent {
                    kind: AgentEventKind::ReasoningChunk(ContentBlock::Text { text }),
                    ..
                }) => shown.push_str(&text),
                Ok(_) => {}
                Err(failed) => error = Some(failed),
            }
        }
        drop(stream);
        assert!(matches!(error, Some(AgentError::Model(ModelError::Cut { .. }))), "{error:?}");
        assert!(matches!(shown.as_str(), "" | "half an "), "{shown}");
        assert_eq!((stack.script.requests().len(), stack.other.requests().len()), (1, 0));
        stack.assert_attempts(1);
        assert!(stack.tokens() > 0);
        assert_eq!(stack.agent.call("go").await.unwrap().text(), "done");
        stack.assert_attempts(2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_blocked_answer_is_not_retried_and_not_sent_to_the_fallback() {
    let leak = format!("Write to {ADDRESS}, now");
    for retries in [150, 260, 5] {
        let script = Script::new().turn(costing(&leak)).turn(costing("done"));
        let stack = Stack::with(script, Script::new(), 2, |builder| {
            let retry = ModelRetry::with(at_once(9)).unwrap().retry_on(|_| true);
            builder.hook(retry.with_priority(retries))
        });
        let error = stack.agent.call("go").await.unwrap_err();
        assert!(matches!(error, AgentError::Model(ModelError::Blocked { .. })), "{error:?}");
        assert!(!format!("{error:?}").contains(ADDRESS));
        assert_eq!((stack.script.requests().len(), stack.other.requests().len()), (1, 0));
        stack.assert_attempts(1);
        assert_eq!(stack.breaker.state(), CircuitState::Closed);
        let history = stack.agent.threads().memory("default").unwrap().messages();
        assert!(!format!("{history:?}").contains("ada@"));
        assert_eq!(stack.agent.call("go").await.unwrap().text(), "done");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_of_the_fallback_passes_the_guards() {
    let leak = format!("Write to {ADDRESS}, now");
    let stack = Stack::new(Script::new().fails(busy()), Script::new().turn(costing(&leak)), 9);
    let error = stack.agent.call("go").await.unwrap_err();
    assert!(matches!(error, AgentError::Model(ModelError::Blocked { .. })), "{error:?}");
    assert_eq!((stack.script.requests().len(), stack.other.requests().len()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_redacted_once_whoever_wrote_it() {
    let text = format!("Write to {ADDRESS}.");
    let (script, other) = (Script::new().fails(busy()), Script::new().turn(costing(&text)));
    let vault = Vault::stored(VaultKey::new("test", [7; 32]));
    let builder = ReActAgent::builder("bot").model(script);
    let builder = recovery(limits(guards(builder, &vault)), Named(other));
    let agent = observers(builder, io::empty(), &Monitoring::new()).build().unwrap();
    let reply = agent.call("go").await.unwrap();
    assert_eq!(reply.text(), "Write to [EMAIL_XZNDVXQW].");
    assert_eq!(vault.reveal_in(agent.id(), "default", &reply.text()), text);
    assert_eq!(reply.metadata["model"], "other");
}
