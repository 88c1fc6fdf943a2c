//! Questions to people about tool calls.

use std::fmt;
use std::time::Duration;

use crate::identity::Approvers;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a person is asked about a tool call, as
/// [`PostReasoning::ask`](crate::event::PostReasoning::ask) asks it.
///
/// ```
/// use std::time::Duration;
///
/// use hooks_agent::message::{DecisionKind, Question};
///
/// let question = Question::new("This pays an invoice. Do you approve?")
///     .allow([DecisionKind::Approve, DecisionKind::Reject])
///     .expires_after(Duration::from_secs(3600));
/// # let _ = question;
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Question {
    /// The text that the person reads.
    pub description: String,
    /// The decisions that are allowed. Default: all.
    pub allowed: Vec<DecisionKind>,
    /// How long the question waits; then the tool call is refused. Default: for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_after: Option<Duration>,
    /// Who may answer; `None` lets everybody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approvers: Option<Approvers>,
    /// Who may let an answer reach beyond the thread, or to other arguments; `None` lets nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remembered_by: Option<Approvers>,
    /// What it asks about, whatever the arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// The words in which the model reads the decision.
    #[serde(default)]
    pub wording: Wording,
    /// The JSON schema of the arguments of the tool. The agent sets it.
    #[serde(default)]
    pub schema: Value,
    /// Whether the tool call waits until it is decided, whatever hooks do meanwhile.
    #[serde(default)]
    pub(crate) is_held: bool,
    /// The arguments that the description is about, if they are known.
    #[serde(skip)]
    pub(crate) about: Option<Value>,
}

impl Question {
    /// Creates a question that allows every decision and does not expire.
    #[must_use]
    pub fn new(description: impl Into<String>) -> Self {
        Self {
            description: description.into(),
            allowed: DecisionKind::ALL.to_vec(),
            expires_after: None,
            approvers: None,
            remembered_by: None,
            topic: None,
            wording: Wording::default(),
            schema: Value::Null,
            is_held: false,
            about: None,
        }
    }

    /// Sets the decisions that are allowed.
    #[must_use]
    pub fn allow(mut self, kinds: impl IntoIterator<Item = DecisionKind>) -> Self {
        self.allowed = kinds.into_iter().collect();
        self
    }

    /// Sets how long the question waits. A question that expires is refused.
    #[must_use]
    pub fn expires_after(mut self, time: Duration) -> Self {
        self.expires_after = Some(time);
        self
    }

    /// Sets who may answer. A decision of somebody else, or of nobody whom the program has authenticated, is
    /// [refused](crate::store::DecisionError::NotApprover), and so is a call that
    /// [confirms](crate::call::CallOptions::confirm) the tool call, or answers it, for another
    /// [user](crate::call::CallOptions::user).
    #[must_use]
    pub fn approvers(mut self, approvers: Approvers) -> Self {
        self.approvers = Some(approvers);
        self
    }

    /// Lets these users, of whom roles are required, [remember](crate::store::Verdict::remember) an answer for a
    /// user, for everybody, or for other arguments. Without it, an answer is remembered for exactly the arguments
    /// that were shown and on the same thread, if at all.
    #[must_use]
    pub fn remembered_by(mut self, who: Approvers) -> Self {
        self.remembered_by = Some(who);
        self
    }

    /// Sets what the question is about, whatever the arguments: a remembered answer answers later questions of the
    /// hook about the same. Default: the [description](Self::description), which then must be the same.
    #[must_use]
    pub fn topic(mut self, topic: impl Into<String>) -> Self {
        self.topic = Some(topic.into());
        self
    }

    /// Returns one question of two about one tool call: it allows what both allow, and expires when the first of
    /// them does.
    pub(crate) fn and(self, other: &Self) -> Self {
        let mut allowed = self.allowed;
        allowed.retain(|kind| other.allowed.contains(kind));
        if allowed.is_empty() {
            // Whatever else they allow, none is asked in vain.
            allowed.push(DecisionKind::Reject);
        }
        let expires_after = [self.expires_after, other.expires_after].into_iter().flatten().min();
        Self { allowed, expires_after, ..self }
    }

    /// Returns whether the tool call waits until it is decided, whatever hooks do meanwhile: people are asked
    /// before anything of the answer runs.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.is_held
    }

    /// Sets the words in which the model reads the decision.
    #[must_use]
    pub fn wording(mut self, wording: Wording) -> Self {
        self.wording = wording;
        self
    }
}

/// A kind of decision about a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DecisionKind {
    /// The tool runs with the arguments of the model.
    Approve,
    /// The tool runs with other arguments.
    Edit,
    /// The tool does not run, and the model reads why.
    Reject,
    /// The tool does not run, and the model reads an answer in its place.
    Respond,
}

impl DecisionKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Approve, Self::Edit, Self::Reject, Self::Respond];
}

impl fmt::Display for DecisionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Approve => "approve",
            Self::Edit => "edit",
            Self::Reject => "reject",
            Self::Respond => "respond",
        })
    }
}

/// The words in which the model reads a rejection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Wording {
    /// Those of `LangChain`.
    #[default]
    LangChain,
    /// Those of Spring AI Alibaba.
    Spring,
}
