//! Keeps the tool calls that waited when a call began, and the decisions about them.

use crate::call::context::CallContext;
use crate::memory::{Answer, Confirmed};
use crate::message::{ApprovedBy, Asker, ToolResult, ToolUse};
use crate::round::ActingInput;
use crate::run_id::RunId;

/// What a call resumes, until the tool calls that waited have had their turn.
#[derive(Clone, Default)]
pub(crate) struct Resumed {
    /// The ids of the tool calls that waited.
    pub(crate) calls: Vec<String>,
    /// Those that may run, also of sub-agents.
    pub(crate) confirmed: Vec<Confirmed>,
    /// The results for tool calls of sub-agents.
    pub(crate) answers: Vec<Answer>,
}

impl CallContext {
    /// Sets what the call resumes.
    pub(crate) fn set_resumed(&self, resumed: Resumed) {
        let Resumed { calls, confirmed, answers } = &resumed;
        let is_resuming = !(calls.is_empty() && confirmed.is_empty() && answers.is_empty());
        let mark = &self.call.marks.is_resuming;
        if is_resuming || mark.is_set() {
            self.state().resumed = resumed;
            mark.set(is_resuming);
        }
    }

    /// Returns whether the tool call waited for a result when this call began, and has had no turn
    /// since.
    pub(crate) fn is_resumed(&self, tool_call_id: &str) -> bool {
        self.call.marks.is_resuming.is_set()
            && self.state().resumed.calls.iter().any(|id| id == tool_call_id)
    }

    /// Returns what was confirmed and answered of the sub-agent that a tool call runs, by the ids that
    /// the sub-agent knows: what is about the question that the sub-agent left to the call `asked`.
    pub(crate) fn decisions_below(
        &self,
        id: &str,
        asked: Option<RunId>,
    ) -> (Vec<Confirmed>, Vec<ToolResult>) {
        fn below<'a>(id: &str, path: &'a str) -> Option<&'a str> {
            path.strip_prefix(id)?.strip_prefix('/')
        }
        let state = self.state();
        let is_meant = |of: Option<RunId>| of.is_none() || of == asked;
        let confirmed = state.resumed.confirmed.iter().filter(|it| is_meant(it.asked));
        let confirmed = confirmed.filter_map(|it| {
            let id = below(id, &it.id)?.to_owned();
            Some(Confirmed { id, asked: None, ..it.clone() })
        });
        let answers = state.resumed.answers.iter().filter(|it| is_meant(it.asked));
        let answers = answers.filter_map(|Answer { result, .. }| {
            Some(ToolResult { id: below(id, &result.id)?.to_owned(), ..result.clone() })
        });
        (confirmed.collect(), answers.collect())
    }

    /// Returns whether what was decided allows this tool call, whoever asked: a person, or the caller by
    /// [`confirm`](crate::call::CallOptions::confirm). `None` if nothing was decided about a tool call of its id;
    /// `Some(false)` if it is another one now than the one that was shown, by its tool or its arguments. A hook
    /// that asks goes by what people answered to it:
    /// [`PreActing::is_answered`](crate::event::PreActing::is_answered) and
    /// [`own_decision`](crate::event::PreActing::own_decision).
    #[must_use]
    pub fn decision_allows(&self, call: &ToolUse) -> Option<bool> {
        self.confirmed(&call.id).map(|confirmed| confirmed.allows(call))
    }

    /// Returns whether people let a tool call run when this hook asked for this reason, and the same users could
    /// answer.
    pub(crate) fn is_answered(&self, input: &ActingInput, asker: &Asker) -> bool {
        self.any_confirmed(input, |it| it.has_begun() || it.answers(asker))
    }

    /// Returns whether people let a tool call run when this hook asked for this reason, whoever could answer.
    pub(crate) fn is_answered_to(
        &self,
        input: &ActingInput,
        hook: Option<&str>,
        reason: &str,
    ) -> bool {
        self.any_confirmed(input, |it| it.has_begun() || it.answers_to(hook, reason))
    }

    /// Returns whether people let a tool call run when this hook around it asked for this reason.
    pub(crate) fn is_answered_around(
        &self,
        id: &str,
        call: &ToolUse,
        hook: Option<&str>,
        reason: &str,
    ) -> bool {
        self.call.marks.is_resuming.is_set() && {
            let state = self.state();
            let mut confirmed = state.resumed.confirmed.iter().filter(|it| it.id == id);
            confirmed.any(|it| it.answers_to(hook, reason) && it.allows(call))
        }
    }

    fn any_confirmed(&self, input: &ActingInput, answers: impl Fn(&Confirmed) -> bool) -> bool {
        self.call.marks.is_resuming.is_set() && {
            let state = self.state();
            let mut confirmed = state.resumed.confirmed.iter().filter(|it| it.id == input.id());
            confirmed.any(|it| answers(it) && (it.allows(&input.call) || input.is_begun_by(it)))
        }
    }

    /// Returns whether what people decided where this hook asked allows a tool call; `None` if nothing
    /// was.
    pub(crate) fn decided_for(&self, input: &ActingInput, hook: Option<&str>) -> Option<bool> {
        if !self.call.marks.is_resuming.is_set() {
            return None;
        }
        let state = self.state();
        let confirmed = state.resumed.confirmed.iter().filter(|it| it.id == input.id());
        let own = confirmed.filter(|it| it.answers_hook(hook));
        let allows = |it: &Confirmed| it.allows(&input.call) || input.is_begun_by(it);
        own.map(allows).reduce(|some, other| some || other)
    }

    /// Returns those who asked about a tool call when people let it run as it is.
    pub(crate) fn answered_askers(&self, id: &str, call: &ToolUse) -> Vec<Asker> {
        if !self.call.marks.is_resuming.is_set() {
            return Vec::new();
        }
        let state = self.state();
        let confirmed = state.resumed.confirmed.iter().filter(|it| it.id == id && it.allows(call));
        confirmed.flat_map(|it| it.askers.iter().flatten()).cloned().collect()
    }

    /// Returns what was decided about a tool call that may run.
    pub(crate) fn confirmed(&self, tool_call_id: &str) -> Option<Confirmed> {
        if !self.call.marks.is_resuming.is_set() {
            return None;
        }
        let state = self.state();
        state.resumed.confirmed.iter().find(|confirmed| confirmed.id == tool_call_id).cloned()
    }

    /// Returns who let a tool call run that had waited for people, while it has its turn.
    #[must_use]
    pub fn approved_by(&self, tool_call_id: &str) -> Option<ApprovedBy> {
        self.confirmed(tool_call_id)?.approved
    }
}
