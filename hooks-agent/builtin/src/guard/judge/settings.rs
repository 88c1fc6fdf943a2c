//! The settings of a judge.

use std::time::Duration;

use hooks_agent_core::hook::HookModel;
use hooks_agent_core::message::ToolUse;

use crate::guard::judge::tools::Tools;

/// The longest verdict, in bytes.
const LONGEST_VERDICT: usize = 16 << 10;

#[derive(Clone)]
pub(super) struct Settings {
    pub(super) model: HookModel,
    pub(super) rubric: String,
    pub(super) threshold: f64,
    pub(super) send_back: u32,
    pub(super) timeout: Duration,
    pub(super) input: bool,
    pub(super) tools: Tools,
    answers: bool,
}

impl Settings {
    /// Judges answers.
    pub(super) fn new(model: HookModel, rubric: String) -> Self {
        let timeout = Duration::from_secs(30);
        Self {
            model: model.max_bytes(LONGEST_VERDICT).timeout(timeout).count_usage(true),
            rubric,
            threshold: 0.5,
            send_back: 0,
            timeout,
            input: false,
            tools: Tools::None,
            answers: false,
        }
    }

    /// Judges answers, beside what else is chosen.
    pub(super) fn choose_answers(&mut self) {
        self.answers = true;
    }

    /// Returns whether answers are judged: they are if nothing is chosen.
    pub(super) fn judges_answers(&self) -> bool {
        self.answers || !self.input && !self.judges_tools()
    }

    pub(super) fn judges_tools(&self) -> bool {
        !matches!(self.tools, Tools::None)
    }

    /// Returns whether a tool call is judged. One whose arguments are no JSON does not run.
    pub(super) fn judges_call(&self, call: &ToolUse) -> bool {
        call.invalid_input.is_none() && self.tools.is_match(&call.name)
    }
}
