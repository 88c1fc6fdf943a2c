//! The gate of a tool: the questions to people about its calls.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use crate::people::human_in_the_loop::text::text;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::message::{Approvers, DecisionKind, Question, ToolUse, Wording};

/// What people are asked about the calls of a tool: which calls, in which text, what they may decide,
/// and for how long.
///
/// ```
/// use std::time::Duration;
///
/// use hooks_agent::builtin::people::{Gate, HumanInTheLoop};
/// use hooks_agent::message::DecisionKind::{Approve, Reject};
///
/// let large = Gate::new()
///     .allow([Approve, Reject])?
///     .when(|call, _| call.input["euros"].as_u64().is_none_or(|euros| euros > 100))
///     .describe_with(|call| format!("Pay {} euros?", call.input["euros"]))
///     .expires_after(Duration::from_secs(24 * 3600));
/// let people = HumanInTheLoop::new().ask_with("pay", large);
/// # let _ = people;
/// # Ok::<(), hooks_agent::builtin::people::GateError>(())
/// ```
#[derive(Clone)]
#[must_use = "`HumanInTheLoop` asks by it"]
pub struct Gate {
    allowed: Vec<DecisionKind>,
    about: About,
    when: Option<Arc<When>>,
    expires_after: Option<Duration>,
    approvers: Option<Approvers>,
    remembered_by: Option<Approvers>,
}

/// Why a gate cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GateError {
    /// Nobody could decide.
    #[error("a gate allows at least one decision: approve, edit, reject or respond")]
    NoDecision,
}

#[derive(Clone)]
enum About {
    Nothing,
    Text(Arc<str>),
    Call(Arc<Describe>),
}

type Describe = dyn Fn(&ToolUse) -> String + Send + Sync;
type When = dyn Fn(&ToolUse, &CallContext) -> bool + Send + Sync;

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}

impl Gate {
    /// Creates a gate that asks about every call, allows every decision, and waits for ever.
    pub fn new() -> Self {
        let allowed = DecisionKind::ALL.to_vec();
        Self {
            allowed,
            about: About::Nothing,
            when: None,
            expires_after: None,
            approvers: None,
            remembered_by: None,
        }
    }

    /// Sets the decisions that are allowed, in the order in which they are shown.
    ///
    /// # Errors
    /// [`GateError::NoDecision`] if there is none.
    pub fn allow(
        mut self,
        kinds: impl IntoIterator<Item = DecisionKind>,
    ) -> Result<Self, GateError> {
        self.allowed.clear();
        for kind in kinds {
            if !self.allowed.contains(&kind) {
                self.allowed.push(kind);
            }
        }
        if self.allowed.is_empty() { Err(GateError::NoDecision) } else { Ok(self) }
    }

    /// Sets the text that people read. In [`Wording::Spring`], it is a line of the default text.
    pub fn describe(mut self, text: impl Into<Arc<str>>) -> Self {
        self.about = About::Text(text.into());
        self
    }

    /// Sets the text that people read by a closure of the tool call. If it panics, they read the
    /// default text.
    pub fn describe_with(
        mut self,
        text: impl Fn(&ToolUse) -> String + Send + Sync + 'static,
    ) -> Self {
        self.about = About::Call(Arc::new(text));
        self
    }

    /// Asks about calls alone for which the closure returns true or panics. It sees a call as the model
    /// wrote it, and again right before the tool starts: a call that needs a person by then, and about
    /// which nobody was asked, does not run.
    pub fn when(
        mut self,
        asks: impl Fn(&ToolUse, &CallContext) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.when = Some(Arc::new(asks));
        self
    }

    /// Refuses a call that nobody decides in this time: the model reads "no decision in time".
    pub fn expires_after(mut self, time: Duration) -> Self {
        self.expires_after = Some(time);
        self
    }

    /// Lets these users alone decide, by the roles that the program has found for them:
    ///
    /// ```
    /// use hooks_agent::builtin::people::{Gate, HumanInTheLoop};
    /// use hooks_agent::message::Approvers;
    ///
    /// let managers = Gate::new().approvers(Approvers::roles(["manager"]).not_self());
    /// let people = HumanInTheLoop::new().ask_with("pay", managers);
    /// # let _ = people;
    /// ```
    pub fn approvers(mut self, approvers: Approvers) -> Self {
        self.approvers = Some(approvers);
        self
    }

    /// Lets users with one of these roles [remember](hooks_agent_core::store::Verdict::remember) an approval for a
    /// user, for everybody or for other arguments. Without it, it is remembered for the same arguments on the same
    /// thread at most.
    pub fn remembered_by(mut self, who: Approvers) -> Self {
        self.remembered_by = Some(who);
        self
    }

    /// Returns whether some users alone decide, or remember what they decide.
    pub(super) fn has_approvers(&self) -> bool {
        self.approvers.is_some() || self.remembered_by.is_some()
    }

    /// Returns whether a person is to be asked about the call.
    pub(super) fn asks(&self, call: &ToolUse, cx: &CallContext) -> bool {
        let Some(when) = &self.when else { return true };
        catch_unwind(AssertUnwindSafe(|| when(call, cx))).unwrap_or(true)
    }

    /// Returns what a person is asked about the call.
    pub(super) fn question(&self, call: &ToolUse, wording: Wording, prefix: &str) -> Question {
        let described = match &self.about {
            About::Nothing => None,
            About::Text(about) => Some(text(wording, prefix, Some(about), call)),
            About::Call(about) => catch_unwind(AssertUnwindSafe(|| about(call))).ok(),
        };
        let described = described.unwrap_or_else(|| text(wording, prefix, None, call));
        let question =
            Question::new(described).allow(self.allowed.iter().copied()).wording(wording);
        let question = match self.expires_after {
            Some(time) => question.expires_after(time),
            None => question,
        };
        let question = match &self.approvers {
            Some(approvers) => question.approvers(approvers.clone()),
            None => question,
        };
        match &self.remembered_by {
            // The text has the arguments.
            Some(who) => {
                let question = question.remembered_by(who.clone());
                match &self.about {
                    About::Nothing => question.topic(format!("`{}`", call.name)),
                    About::Text(about) => question.topic(format!("`{}`: {about}", call.name)),
                    // What it writes is not known: another text is another question.
                    About::Call(_) => question,
                }
            }
            None => question,
        }
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate")
            .field("allowed", &self.allowed)
            .field("has_predicate", &self.when.is_some())
            .field("expires_after", &self.expires_after)
            .field("approvers", &self.approvers)
            .field("remembered_by", &self.remembered_by)
            .finish_non_exhaustive()
    }
}
