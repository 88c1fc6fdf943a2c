//! The hook that stops calling what fails.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::recover::circuit_breaker::circuit::{Circuit, CircuitChange, CircuitState, Settings};
use crate::recover::circuit_breaker::watched::Watched;
use hooks_agent_core::agent_hook;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::hook::{AgentHook, AroundMask, ModelCall, NextModel, NextTool, ToolCall};
use hooks_agent_core::message::ToolResult;
use hooks_agent_core::model::{ModelAnswer, ModelError};
use hooks_agent_core::tool::ToolError;

/// Refuses calls of a model or of a tool for a while after it failed several times.
///
/// It protects a service that is down from further calls, and the agent from waiting for it. It
/// repeats nothing and limits nothing while calls succeed.
///
/// The circuit is closed at first. It opens after [`failures`](Self::failures) failures within the
/// [`window`](Self::window): calls are refused at once. After [`open_for`](Self::open_for) it is
/// half open: one call is a probe, and others are refused until it ends. A success closes the
/// circuit, a failure opens it again. A probe that is dropped, panics, ends with an error that is no
/// failure, or is answered by a hook further in, in place of the model or with an error in place of
/// the tool, counts as nothing: the next call is the probe.
///
/// | setting | default |
/// |---|---|
/// | [`for_model`](Self::for_model), [`for_tool`](Self::for_tool) | |
/// | [`failures`](Self::failures) | 5 |
/// | [`window`](Self::window) | 60 s |
/// | [`open_for`](Self::open_for) | 30 s |
/// | [`count_model_errors`](Self::count_model_errors) | [`ModelError::is_transient`] |
/// | [`count_tool_errors`](Self::count_tool_errors) | all but those of arguments, permission and hooks |
/// | [`on_change`](Self::on_change) | nothing |
/// | [`clock`](Self::clock) | the monotonic clock of the system |
///
/// A call of a model succeeds with the end of its answer: a stream that breaks is a failure.
/// A clone shares the circuit, so agents that call one model or tool share a clone each.
///
/// # Order
/// The priority is [`PRIORITY`](Self::PRIORITY), innermost: it counts each attempt of a retry, and
/// refuses those too. The name is `CircuitBreaker[model:…]` or `CircuitBreaker[tool:…]`, so that an
/// agent has several. The hook is not inherited.
///
/// # Errors
/// A refused call of a model is a [`ModelError::Other`] whose `source` is a [`CircuitOpen`]. It is
/// not transient, so `ModelRetry` returns it; [`ModelFallback`](crate::recover::ModelFallback) asks
/// the next model. A refused tool call has an error as its result, with the same text, which the
/// model reads. `ToolRetry` does not repeat it, unless it repeats results.
///
/// [`CircuitOpen`]: crate::recover::CircuitOpen
///
/// ```
/// use hooks_agent::builtin::recover::{CircuitBreaker, CircuitOpen, CircuitState};
/// use hooks_agent::model::ModelError;
/// use hooks_agent::prelude::*;
///
/// # futures::executor::block_on(async {
/// let breaker = CircuitBreaker::for_model("large").failures(2);
/// let model = ScriptedModel::new("large", |_| ModelError::status("large", 503));
/// let agent = ReActAgent::builder("bot").model(model).hook(breaker.clone()).build()?;
/// for _ in 0..2 {
///     assert_eq!(breaker.state(), CircuitState::Closed);
///     assert!(agent.call("Are you there?").await.is_err());
/// }
/// assert_eq!(breaker.state(), CircuitState::Open);
/// let Err(AgentError::Model(ModelError::Other { source, .. })) = agent.call("Now?").await else {
///     unreachable!("the call is refused");
/// };
/// assert!(source.downcast_ref::<CircuitOpen>().unwrap().retry_after.is_some());
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
#[must_use]
pub struct CircuitBreaker {
    circuit: Circuit,
    guarded: Guarded,
}

/// What a breaker stops calling, and which of its errors are failures.
#[derive(Clone)]
enum Guarded {
    Model(Arc<dyn Fn(&ModelError) -> bool + Send + Sync>),
    Tool(Arc<dyn Fn(&ToolError) -> bool + Send + Sync>),
}

impl CircuitBreaker {
    /// The priority: inside of retries, limits and fallbacks.
    pub const PRIORITY: i32 = 300;

    /// Creates a breaker for the model of an agent. The name appears in errors and changes.
    pub fn for_model(name: impl Into<Arc<str>>) -> Self {
        Self::new(name.into(), Guarded::Model(Arc::new(ModelError::is_transient)))
    }

    /// Creates a breaker for the tool of this name. Other tools are not affected.
    pub fn for_tool(name: impl Into<Arc<str>>) -> Self {
        Self::new(name.into(), Guarded::Tool(Arc::new(has_failed)))
    }

    fn new(name: Arc<str>, guarded: Guarded) -> Self {
        let start = Instant::now();
        let settings = Settings {
            name,
            failures: 5,
            window: Duration::from_mins(1),
            open_for: Duration::from_secs(30),
            clock: Arc::new(move || start.elapsed()),
            on_change: None,
        };
        Self { circuit: Circuit::new(settings), guarded }
    }

    /// Sets how many failures open the circuit. 0 counts as 1.
    pub fn failures(mut self, failures: usize) -> Self {
        self.circuit.settings.failures = failures;
        self
    }

    /// Sets the duration in which these failures happen.
    pub fn window(mut self, window: Duration) -> Self {
        self.circuit.settings.window = window;
        self
    }

    /// Sets how long the circuit refuses calls before a probe.
    pub fn open_for(mut self, duration: Duration) -> Self {
        self.circuit.settings.open_for = duration;
        self
    }

    /// Sets the errors of a model that are failures. If the closure panics, the error is one. Does
    /// nothing for a tool.
    pub fn count_model_errors(
        mut self,
        counts: impl Fn(&ModelError) -> bool + Send + Sync + 'static,
    ) -> Self {
        if let Guarded::Model(of_model) = &mut self.guarded {
            *of_model = Arc::new(counts);
        }
        self
    }

    /// Sets the errors of a tool that are failures. If the closure panics, the error is one. Does
    /// nothing for a model.
    pub fn count_tool_errors(
        mut self,
        counts: impl Fn(&ToolError) -> bool + Send + Sync + 'static,
    ) -> Self {
        if let Guarded::Tool(of_tool) = &mut self.guarded {
            *of_tool = Arc::new(counts);
        }
        self
    }

    /// Sets a closure that receives each change, after it happened and outside of all locks. A
    /// panic is reported through `tracing`.
    pub fn on_change(mut self, on_change: impl Fn(&CircuitChange) + Send + Sync + 'static) -> Self {
        self.circuit.settings.on_change = Some(Arc::new(on_change));
        self
    }

    /// Sets the clock: the time since any fixed moment. A clock that goes back or panics stands
    /// still.
    pub fn clock(mut self, clock: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        self.circuit.settings.clock = Arc::new(clock);
        self
    }

    /// Returns the state at this moment.
    #[must_use]
    pub fn state(&self) -> CircuitState {
        self.circuit.state()
    }
}

#[agent_hook(
    name = self.name_of(),
    priority = Self::PRIORITY,
    around = self.around_of(),
    // An open circuit refuses.
    answers_around = AroundMask::NONE,
    tool_names = Self::named_tools
)]
impl CircuitBreaker {
    async fn around_model_call(
        &self,
        call: ModelCall<'_>,
        next: NextModel<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        let Guarded::Model(counts) = &self.guarded else {
            return next.run(call.into_request()).await;
        };
        // It says nothing of the model as it is now.
        if call.context().is_replaying() {
            return next.run(call.into_request()).await;
        }
        let name = &self.circuit.settings.name;
        let refused = |open| ModelError::other(&**name, open);
        let attempt = self.circuit.admit().map_err(refused)?;
        match next.run(call.into_request()).await {
            // A hook answered: it says nothing of the model.
            Ok(answer) if answer.reason().is_some() => Ok(answer),
            Ok(answer) => {
                let (counts, model) = (counts.clone(), answer.model().to_owned());
                let counts = move |error: Option<&ModelError>| match error {
                    Some(error) => is_failure(&*counts, error),
                    None => is_failure(&*counts, &ModelError::Cut { model: model.clone() }),
                };
                Ok(answer.map_stream(|stream| Box::pin(Watched::new(stream, attempt, counts))))
            }
            Err(AgentError::Model(error)) => {
                if is_failure(&**counts, &error) {
                    attempt.fail();
                }
                Err(error.into())
            }
            ended => ended,
        }
    }

    async fn around_tool_call(
        &self,
        call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        let name = &*self.circuit.settings.name;
        let counts = match &self.guarded {
            Guarded::Tool(counts)
                if call.tool_use().name == name && !call.context().is_replaying() =>
            {
                counts
            }
            _ => return next.run(call.into_tool_use()).await,
        };
        let attempt = match self.circuit.admit() {
            Ok(attempt) => attempt,
            Err(open) => return Ok(ToolResult::error(call.tool_use(), open.to_string())),
        };
        let ended = next.run(call.into_tool_use()).await;
        match &ended {
            Ok(result) if !result.is_error => attempt.succeed(),
            Err(error) if is_failure(&**counts, error) => attempt.fail(),
            // A tool that fails is an error: a result that is one is of a hook that refused the call.
            Ok(_) | Err(_) => {}
        }
        ended
    }

    fn name_of(&self) -> String {
        let kind = match self.guarded {
            Guarded::Model(_) => "model",
            Guarded::Tool(_) => "tool",
        };
        format!("CircuitBreaker[{kind}:{}]", self.circuit.settings.name)
    }

    fn named_tools(&self) -> Vec<String> {
        match self.guarded {
            Guarded::Tool(_) => vec![self.circuit.settings.name.to_string()],
            Guarded::Model(_) => Vec::new(),
        }
    }

    fn around_of(&self) -> AroundMask {
        match self.guarded {
            Guarded::Model(_) => AroundMask::MODEL_CALL,
            Guarded::Tool(_) => AroundMask::TOOL_CALL,
        }
    }
}

/// Returns whether the tool ran and failed by itself.
fn has_failed(error: &ToolError) -> bool {
    use ToolError::{Failed, Panicked, TimedOut};
    matches!(error, Failed(_) | Panicked { .. } | TimedOut { .. })
}

/// Asks a closure of the program whether an error is a failure. A panic answers yes.
fn is_failure<E>(counts: &dyn Fn(&E) -> bool, error: &E) -> bool {
    catch_unwind(AssertUnwindSafe(|| counts(error))).unwrap_or_else(|_| {
        tracing::error!(target: "hooks_agent::builtin::recover", "the closure that chooses the errors of a circuit breaker panicked");
        true
    })
}

impl fmt::Debug for CircuitBreaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CircuitBreaker")
            .field("name", &self.name())
            .field("failures", &self.circuit.settings.failures)
            .field("window", &self.circuit.settings.window)
            .field("open_for", &self.circuit.settings.open_for)
            .finish_non_exhaustive()
    }
}
