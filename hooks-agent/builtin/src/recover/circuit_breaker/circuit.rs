//! The state of a circuit, which the clones of a breaker share.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The state of a [`CircuitBreaker`](crate::recover::CircuitBreaker).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CircuitState {
    /// Calls pass.
    Closed,
    /// Calls are refused.
    Open,
    /// The next call is a probe, or a probe runs and other calls are refused.
    HalfOpen,
}

/// A change of a [`CircuitBreaker`](crate::recover::CircuitBreaker).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CircuitChange {
    /// The name of the model or of the tool.
    pub name: Arc<str>,
    /// The state before.
    pub from: CircuitState,
    /// The state after.
    pub to: CircuitState,
}

/// The error of a call that a [`CircuitBreaker`](crate::recover::CircuitBreaker) refuses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the circuit of `{name}` is open after repeated failures{}", when_text(*retry_after))]
#[non_exhaustive]
pub struct CircuitOpen {
    /// The name of the model or of the tool.
    pub name: Arc<str>,
    /// The time until the next probe; `None` while a probe runs.
    pub retry_after: Option<Duration>,
}

/// Rounds up: an earlier call would be refused.
fn when_text(retry_after: Option<Duration>) -> String {
    match retry_after.map(|wait| wait.as_millis().div_ceil(1000)) {
        Some(seconds) => format!(", retry after {seconds} s"),
        None => ", a probe runs".to_owned(),
    }
}

type OnChange = dyn Fn(&CircuitChange) + Send + Sync;

/// The settings of a circuit.
#[derive(Clone)]
pub(super) struct Settings {
    pub(super) name: Arc<str>,
    pub(super) failures: usize,
    pub(super) window: Duration,
    pub(super) open_for: Duration,
    pub(super) clock: Arc<dyn Fn() -> Duration + Send + Sync>,
    pub(super) on_change: Option<Arc<OnChange>>,
}

/// A circuit. A clone shares the state.
#[derive(Clone)]
pub(super) struct Circuit {
    pub(super) settings: Settings,
    state: Arc<Mutex<State>>,
}

struct State {
    phase: Phase,
    /// How many times the state changed: an attempt from before a change decides nothing.
    changes: u64,
    /// The latest time that was read, so that a clock that goes back stands still.
    now: Duration,
}

enum Phase {
    /// The times of the failures in the window.
    Closed(VecDeque<Duration>),
    Open {
        until: Duration,
    },
    HalfOpen {
        is_probing: bool,
    },
}

/// A call that a circuit lets pass. Dropped without an outcome, it counts as nothing, and a probe
/// makes way for the next one.
pub(super) struct Attempt {
    circuit: Circuit,
    changes: u64,
    is_probe: bool,
}

impl Circuit {
    pub(super) fn new(settings: Settings) -> Self {
        let phase = Phase::Closed(VecDeque::new());
        let state = State { phase, changes: 0, now: Duration::ZERO };
        Self { settings, state: Arc::new(Mutex::new(state)) }
    }

    /// Returns the state at this moment.
    pub(super) fn state(&self) -> CircuitState {
        let (state, now) = self.lock_now();
        match &state.phase {
            Phase::Open { until } if now >= *until => CircuitState::HalfOpen,
            phase => phase.state(),
        }
    }

    /// Lets a call pass, or returns the error that refuses it.
    pub(super) fn admit(&self) -> Result<Attempt, CircuitOpen> {
        let (mut state, now) = self.lock_now();
        let name = || self.settings.name.clone();
        let (is_probe, change) = match &mut state.phase {
            Phase::Closed(_) => (false, None),
            Phase::Open { until } if now < *until => {
                let retry_after = Some(until.saturating_sub(now));
                return Err(CircuitOpen { name: name(), retry_after });
            }
            Phase::Open { .. } => {
                (true, Some(self.change(&mut state, Phase::HalfOpen { is_probing: true })))
            }
            Phase::HalfOpen { is_probing: true } => {
                return Err(CircuitOpen { name: name(), retry_after: None });
            }
            Phase::HalfOpen { is_probing } => {
                *is_probing = true;
                (true, None)
            }
        };
        let attempt = Attempt { circuit: self.clone(), changes: state.changes, is_probe };
        drop(state);
        self.report(change);
        Ok(attempt)
    }

    fn change(&self, state: &mut State, to: Phase) -> CircuitChange {
        let from = std::mem::replace(&mut state.phase, to);
        state.changes += 1;
        let (from, to) = (from.state(), state.phase.state());
        CircuitChange { name: self.settings.name.clone(), from, to }
    }

    /// Calls the closure of the program, outside of the lock.
    fn report(&self, change: Option<CircuitChange>) {
        let Some(change) = change else { return };
        let CircuitChange { name, from, to } = &change;
        tracing::info!(target: "hooks_agent::builtin::recover", %name, ?from, ?to, "a circuit changed");
        if let Some(on_change) = &self.settings.on_change
            && catch_unwind(AssertUnwindSafe(|| on_change(&change))).is_err()
        {
            tracing::error!(target: "hooks_agent::builtin::recover", %name, "the closure of `on_change` panicked");
        }
    }

    fn lock_now(&self) -> (MutexGuard<'_, State>, Duration) {
        // While the clock panics, time stands still, as while it goes back.
        let now = catch_unwind(AssertUnwindSafe(|| (self.settings.clock)())).unwrap_or_default();
        let mut state = self.lock();
        state.now = state.now.max(now);
        let now = state.now;
        (state, now)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Attempt {
    /// Counts a success.
    pub(super) fn succeed(self) {
        let mut state = self.circuit.lock();
        let closes = self.is_probe && state.changes == self.changes;
        let change =
            closes.then(|| self.circuit.change(&mut state, Phase::Closed(VecDeque::new())));
        drop(state);
        self.circuit.report(change);
    }

    /// Counts a failure.
    pub(super) fn fail(self) {
        let Settings { failures, window, open_for, .. } = &self.circuit.settings;
        let (mut state, now) = self.circuit.lock_now();
        if state.changes != self.changes {
            return;
        }
        let opens = match &mut state.phase {
            Phase::Closed(times) => {
                times.push_back(now);
                while times.front().is_some_and(|time| now.saturating_sub(*time) > *window) {
                    times.pop_front();
                }
                times.len() >= *failures
            }
            Phase::Open { .. } | Phase::HalfOpen { .. } => self.is_probe,
        };
        let until = now.saturating_add(*open_for);
        let change = opens.then(|| self.circuit.change(&mut state, Phase::Open { until }));
        drop(state);
        self.circuit.report(change);
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        let mut state = self.circuit.lock();
        if self.is_probe && state.changes == self.changes {
            state.phase = Phase::HalfOpen { is_probing: false };
        }
    }
}

impl Phase {
    fn state(&self) -> CircuitState {
        match self {
            Self::Closed(_) => CircuitState::Closed,
            Self::Open { .. } => CircuitState::Open,
            Self::HalfOpen { .. } => CircuitState::HalfOpen,
        }
    }
}
