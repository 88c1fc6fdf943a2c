//! Plays a call of the model or of a tool: answers it, records it, or lets it run.

use std::sync::PoisonError;

use hooks_agent_core::call::CallContext;
use hooks_agent_core::hook::ToolCall;
use hooks_agent_core::message::{ToolResult, ToolUse};
use hooks_agent_core::model::ChatRequest;
use hooks_agent_core::tool::ToolError;
use serde_json::{Value, json};

use crate::drift::{Difference, DriftKind, Verdict, differences, is_cosmetic, is_reordered};
use crate::error::TapeError;
use crate::format::{Key, ToolLine};
use crate::player::{Player, RecordedModel, ToolAnswer, Wanted};
use crate::recorder::{ModelTake, ToolTake};
use crate::recording::{Entry, Step};
use crate::request::Request;
use crate::runs::At;
use crate::settle::changed;
use crate::tape::{Miss, Shared};

/// What answers a call of the model.
pub(super) enum Asked {
    Tape(Box<RecordedModel>),
    Recorded(Box<ModelTake>),
    Live,
}

/// What answers a call of a tool.
pub(super) enum Called {
    Tape(Played),
    Recorded(Box<ToolTake>),
    /// The tool runs, and its entry is not used.
    Skipped(Played),
    Live,
}

/// A call of a tool that the tape may have.
pub(super) struct Played {
    at: At,
    n: u32,
}

impl Shared {
    /// Decides what answers a call of the model.
    pub(super) fn ask(
        &self,
        cx: &CallContext,
        model: &str,
        request: &ChatRequest,
    ) -> Result<Asked, TapeError> {
        self.write_call(cx, None)?;
        let (at, (round, attempt)) = self.on_run(cx, |run| (run.at.clone(), run.count_model()))?;
        let request = {
            let mut texts = at.texts.lock().unwrap_or_else(PoisonError::into_inner);
            texts.request(&self.redactor, &at.scope, model, request)?
        };
        if let Some(player) = &self.player {
            let step = Step::Model { round, attempt };
            let value = || request.value();
            let wanted = Wanted { step, key: request.key, value: &value };
            if let Some(entry) = self.take(player, &at, &wanted) {
                return self.play_model(player, &at, entry, &request);
            }
            if !matches!(self.settings.miss, Miss::Live { .. }) {
                self.note_missing(&at, &wanted, DriftKind::RequestChanged)?;
                return Err(player.no_entry(&at, &wanted));
            }
        }
        let Some(recorder) = &self.recorder else { return Ok(Asked::Live) };
        self.on_run(cx, |run| run.has_line = true)?;
        let take = ModelTake::start(recorder.clone(), at, (round, attempt), request);
        Ok(Asked::Recorded(Box::new(take)))
    }

    fn play_model(
        &self,
        player: &Player,
        at: &At,
        entry: usize,
        request: &Request,
    ) -> Result<Asked, TapeError> {
        let Entry { place, step, .. } = player.entry(entry);
        let (recording, line) = (player.recording(), place.line);
        let unusable = |reason| TapeError::line(recording.path(), line, reason);
        let (recorded, line) = recording.request(*place)?;
        let model = line.model.as_deref();
        if recorded != request.parts || model != Some(&request.model) {
            self.compare_requests(at, step, place.line, &recorded.value(model)?, &request.value()?);
        }
        let model = RecordedModel::of(&line, self.settings.is_timed);
        Ok(Asked::Tape(Box::new(model.map_err(unusable)?)))
    }

    fn compare_requests(&self, at: &At, step: &Step, line: usize, recorded: &Value, now: &Value) {
        if recorded != now && !is_reordered(recorded, now) {
            let is_cosmetic = is_cosmetic(recorded, now);
            let found = differences(recorded, now);
            self.note(at, step, line, DriftKind::RequestChanged, found, is_cosmetic);
        }
    }

    /// Decides what answers a call of a tool.
    pub(super) fn call_tool(&self, call: &ToolCall<'_>) -> Result<Called, TapeError> {
        let cx = call.context();
        self.write_call(cx, None)?;
        let (at, n) = self.on_run(cx, |run| (run.at.clone(), run.count_tool()))?;
        if let Some(player) = &self.player {
            // The agent reports a tool that it does not have.
            if call.tool_spec().is_none() {
                return Ok(Called::Live);
            }
            let name = &call.tool_use().name;
            let played = Played { at: at.clone(), n };
            if call.runs_agent() || self.settings.live_tools.contains(name) {
                return Ok(Called::Skipped(played));
            }
            let Miss::Live { by_step } = self.settings.miss else {
                return Ok(Called::Tape(played));
            };
            let (input, step) = self.wanted(&at, n, call.tool_use())?;
            let value = || Ok(input.clone());
            let wanted = Wanted { step, key: Key::of_tool(name, &input), value: &value };
            if player.has(&at, &wanted, by_step) {
                return Ok(Called::Tape(played));
            }
        }
        let Some(recorder) = &self.recorder else { return Ok(Called::Live) };
        self.on_run(cx, |run| run.has_line = true)?;
        let call = call.tool_use().clone();
        let take = ToolTake::start(recorder.clone(), at, n, call);
        Ok(Called::Recorded(Box::new(take)))
    }

    /// Returns what the tape has for a call of a tool that would run now.
    pub(super) fn play_tool(
        &self,
        Played { at, n }: &Played,
        call: &ToolUse,
    ) -> Result<ToolAnswer, TapeError> {
        let player = self.player.as_ref().expect("a tape plays");
        let (input, step) = self.wanted(at, *n, call)?;
        let value = || Ok(input.clone());
        let wanted = Wanted { key: Key::of_tool(&call.name, &input), value: &value, step };
        let Some(entry) = self.take(player, at, &wanted) else {
            self.note_missing(at, &wanted, DriftKind::ToolExtra)?;
            return match self.settings.miss {
                Miss::LenientTools => Ok(ToolAnswer::unknown(call)),
                Miss::Fail | Miss::Live { .. } => Err(player.no_entry(at, &wanted)),
            };
        };
        let Entry { place, step, .. } = player.entry(entry);
        let mut line: ToolLine<Value> = player.recording().line(*place)?;
        let now = json!({ "id": step_id(&wanted.step), "input": input });
        let recorded = json!({ "id": line.id, "input": line.input.take() });
        if recorded != now {
            let is_cosmetic = is_cosmetic(&recorded["input"], &now["input"]);
            let found = differences(&recorded, &now);
            self.note(at, step, place.line, DriftKind::ToolInputChanged, found, is_cosmetic);
        }
        if let Some(run) = self.state().runs.get(at.id) {
            run.tool_order.push((*n, entry));
        }
        let answer = ToolAnswer::of(line, self.settings.is_timed);
        answer.map_err(|reason| TapeError::line(player.recording().path(), place.line, reason))
    }

    /// Uses up the entry of a tool that ran.
    pub(super) fn skip(
        &self,
        Played { at, n }: &Played,
        call: &ToolUse,
        ended: &Result<ToolResult, ToolError>,
    ) -> Result<(), TapeError> {
        use ToolError::{Failed, Panicked, TimedOut, Waiting};
        let reached = Failed("".into());
        let ended = ended.as_ref().err().unwrap_or(&reached);
        let has_run =
            matches!(ended, Failed(_) | Panicked { .. } | TimedOut { .. } | Waiting { .. });
        if let Some(player) = self.player.as_ref().filter(|_| has_run) {
            let (input, step) = self.wanted(at, *n, call)?;
            let value = || Ok(input.clone());
            let wanted = Wanted { key: Key::of_tool(&call.name, &input), value: &value, step };
            if let Some(entry) = player.take(at, &wanted, true)
                && let Some(run) = self.state().runs.get(at.id)
            {
                run.tool_order.push((*n, entry));
            }
        }
        Ok(())
    }

    fn wanted(&self, at: &At, n: u32, call: &ToolUse) -> Result<(Value, Step), TapeError> {
        let input = self.redactor.value(&at.scope, call.input.clone())?;
        let id = self.redactor.text(&at.scope, &call.id)?;
        Ok((input, Step::Tool { n, id, name: call.name.clone() }))
    }

    fn take(&self, player: &Player, at: &At, wanted: &Wanted<'_>) -> Option<usize> {
        match self.settings.miss {
            Miss::LenientTools => player.take_last(at, wanted),
            Miss::Fail | Miss::Live { .. } => player.take(at, wanted, self.is_by_step()),
        }
    }

    /// Returns whether an entry of the same step answers a call of another key.
    fn is_by_step(&self) -> bool {
        !self.settings.is_strict && self.settings.miss != Miss::Live { by_step: false }
    }

    /// Notes differences of an entry, each once in a call.
    fn note(
        &self,
        at: &At,
        step: &Step,
        line: usize,
        kind: DriftKind,
        differences: Vec<Difference>,
        is_cosmetic: bool,
    ) {
        let mut state = self.state();
        let Some(run) = state.runs.get(at.id) else { return };
        for difference in differences {
            let Difference { path, recorded, now } = &difference;
            if !run.reported.insert(format!("{kind} {path} {recorded:?} {now:?}")) {
                continue;
            }
            let mut found = changed(at, Some(step), line, kind, difference);
            if is_cosmetic {
                found.entry.verdict = Verdict::Cosmetic;
            }
            run.found.push(found);
        }
    }

    /// Notes a call that is not on the tape.
    fn note_missing(&self, at: &At, wanted: &Wanted<'_>, kind: DriftKind) -> Result<(), TapeError> {
        let now = Some((wanted.value)()?);
        let difference = Difference { path: String::new(), recorded: None, now };
        let mut found = changed(at, Some(&wanted.step), usize::MAX, kind, difference);
        found.entry.verdict = Verdict::Broken;
        if let Some(run) = self.state().runs.get(at.id) {
            run.found.push(found);
        }
        Ok(())
    }
}

fn step_id(step: &Step) -> Option<&str> {
    match step {
        Step::Tool { id, .. } => Some(id),
        Step::Model { .. } => None,
    }
}
