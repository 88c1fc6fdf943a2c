//! A tape, shared by its clones.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::json;

use crate::drift::{Drift, Found};
use crate::error::TapeError;
use crate::format::line_of;
use crate::player::Player;
use crate::recorder::Recorder;
use crate::redact::Redactor;
use crate::runs::Runs;
use crate::settle;

/// A hook that records what the model and the tools of an agent answer, and replays it.
///
/// Add it to the outermost agent; sub-agents [inherit](hooks_agent_core::hook::AgentHook::inherit) it. It is the
/// innermost hook: it has requests as the model gets them, and answers before other hooks change them.
/// [The guide] says what is on a tape and what is not.
///
/// A recording does not disturb calls: if a line cannot be written, they go on, a warning is logged, and
/// [`finish`](Tape::finish) returns the error. Dropping the last clone finishes a recording too, unless
/// the thread panics; then the earlier tape stays.
///
/// ```
/// use hooks_agent::prelude::*;
/// use hooks_agent::replay::Tape;
///
/// # futures::executor::block_on(async {
/// let folder = std::env::temp_dir().join(format!("tape-doc-{}", std::process::id()));
/// let path = folder.join("greeting.tape");
/// let model = || ScriptedModel::new("fixed", |_| "Hello.");
///
/// let tape = Tape::record(&path).open()?;
/// let agent = ReActAgent::builder("assistant").model(model()).hook(tape.clone()).build()?;
/// agent.call("Hi").await?;
/// tape.finish()?;
///
/// let tape = Tape::replay(&path).open()?;
/// let shorten = on(|event: &mut PostCall<'_>| event.set_final_message(Msg::assistant("a", "Hi.")));
/// let builder = ReActAgent::builder("assistant").model(model()).hook(tape.clone());
/// builder.hook(shorten).build()?.call("Hi").await?;
/// let drift = tape.finish()?;
/// assert!(drift.to_string().contains("-Hello.\n+Hi."));
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
///
/// [The guide]: https://docs.rs/hooks-agent/latest/hooks_agent/guide/replay/index.html
#[derive(Clone)]
pub struct Tape(pub(super) Arc<Shared>);

/// How a tape was opened.
#[derive(Clone, Debug, Default)]
pub(super) struct Settings {
    pub(super) is_strict: bool,
    pub(super) is_timed: bool,
    pub(super) live_tools: Vec<String>,
    pub(super) miss: Miss,
}

/// What happens in a replay at a call that is not on the tape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Miss {
    /// It fails.
    #[default]
    Fail,
    /// The model is asked, or the tool runs. Before that, the entry of the same step may be used.
    Live { by_step: bool },
    /// A call of the model fails; the model reads that there is no result of a tool.
    LenientTools,
}

pub(super) struct Shared {
    pub(super) settings: Settings,
    pub(super) redactor: Arc<Redactor>,
    pub(super) player: Option<Player>,
    pub(super) recorder: Option<Arc<Recorder>>,
    state: Mutex<State>,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) runs: Runs,
    /// What differs in the calls that ended.
    pub(super) found: Vec<Found>,
    /// How recorded calls ended now.
    pub(super) outcomes: HashMap<usize, &'static str>,
    pub(super) failure: Option<TapeError>,
}

impl Tape {
    pub(super) fn of(shared: Shared) -> Self {
        Self(Arc::new(shared))
    }

    /// Returns whether calls are recorded.
    #[must_use]
    pub fn is_recording(&self) -> bool {
        self.0.recorder.is_some()
    }

    /// Returns what differs from the tape so far, in the calls that ended. Of a recording, nothing does.
    #[must_use]
    pub fn drift(&self) -> Drift {
        let Some(player) = &self.0.player else { return Drift::default() };
        let mut found = self.0.state().found.clone();
        if !self.is_recording() {
            found.extend(settle::never_begun(player));
        }
        Drift::of(found)
    }

    /// Finishes the tape: writes what is left of a recording and puts it in its place, and returns what
    /// differs in a replay. Calls should have ended; those that have not are on the tape as unfinished.
    ///
    /// # Errors
    /// The first [`TapeError`] of the recording: the earlier tape is then as it was.
    /// [`TapeError::Unused`] if a strict replay left entries.
    pub fn finish(&self) -> Result<Drift, TapeError> {
        self.0.finish()?;
        if let Some(player) = &self.0.player
            && self.0.settings.is_strict
            && let unused = player.unused()
            && let Some(first) = unused.first()
        {
            let path = player.recording().path().to_owned();
            let line = player.entry(*first).place.line;
            return Err(TapeError::Unused { path, count: unused.len(), line });
        }
        Ok(self.drift())
    }
}

impl Shared {
    pub(super) fn new(
        settings: Settings,
        redactor: Arc<Redactor>,
        player: Option<Player>,
        recorder: Option<Arc<Recorder>>,
        named: usize,
    ) -> Self {
        let runs = Runs::after(named);
        let state = Mutex::new(State { runs, ..State::default() });
        Self { settings, redactor, player, recorder, state }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps an error for the end. Returns it if it must fail the call: a recording goes on.
    pub(super) fn failed(&self, error: TapeError) -> Option<TapeError> {
        match &self.recorder {
            Some(recorder) if self.player.is_none() => {
                recorder.writer.fail(error);
                None
            }
            _ => {
                self.state().failure.get_or_insert_with(|| error.clone());
                Some(error)
            }
        }
    }

    fn finish(&self) -> Result<(), TapeError> {
        if let Some(recorder) = &self.recorder
            && !recorder.writer.is_finished()
        {
            for run in self.state().runs.end_all() {
                if self.writes(&run.at) && run.has_line {
                    let end = json!({ "outcome": "unfinished", "run": run.at.run, "t": "end" });
                    recorder.write(&run.at, Ok(line_of(&end)));
                }
            }
        }
        if let Some(recorder) = &self.recorder {
            recorder.writer.finish("")?;
        }
        self.state().failure.clone().map_or(Ok(()), Err)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let Some(recorder) = &self.recorder else { return };
        if std::thread::panicking() {
            recorder.writer.discard();
        } else if !recorder.writer.is_finished()
            && let Err(error) = self.finish()
        {
            tracing::warn!(
                target: "hooks_agent::replay",
                error = &error as &dyn std::error::Error, "a tape was not written"
            );
        }
    }
}

impl fmt::Debug for Tape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tape")
            .field("is_recording", &self.is_recording())
            .field("settings", &self.0.settings)
            .finish_non_exhaustive()
    }
}
