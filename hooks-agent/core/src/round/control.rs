//! Control of a call after a step: jumps, stops and questions.

use std::fmt;
use std::str::FromStr;

use crate::message::{Messages, PendingCall, PendingReason, Question, ToolUse};

/// The target of a jump. As text it is `model`, `tool` or `end`; it is parsed whatever the case.
///
/// ```
/// use hooks_agent::round::JumpTo;
///
/// assert_eq!("END".parse(), Ok(JumpTo::End));
/// assert_eq!(JumpTo::Tools.to_string(), "tool");
/// let unknown = "agent".parse::<JumpTo>().unwrap_err().to_string();
/// assert_eq!(unknown, "Unknown JumpTo value: agent. Valid values are: tool, model, end");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum JumpTo {
    /// The next call of the model.
    Model,
    /// The tool calls.
    Tools,
    /// The end of the call.
    End,
}

/// The error of a text that is no target of a jump.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Unknown JumpTo value: {value}. Valid values are: tool, model, end")]
#[non_exhaustive]
pub struct ParseJumpToError {
    /// The text.
    pub value: String,
}

impl FromStr for JumpTo {
    type Err = ParseJumpToError;

    fn from_str(value: &str) -> Result<Self, ParseJumpToError> {
        let all = [Self::Model, Self::Tools, Self::End];
        let named = all.into_iter().find(|to| to.name().eq_ignore_ascii_case(value));
        named.ok_or_else(|| ParseJumpToError { value: value.to_owned() })
    }
}

impl JumpTo {
    const fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Tools => "tool",
            Self::End => "end",
        }
    }
}

impl fmt::Display for JumpTo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A jump, and the messages that it appends to memory.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Jump {
    pub(crate) to: JumpTo,
    pub(crate) messages: Messages,
}

/// The decision of the hooks of one step about how the call continues. A later jump replaces an
/// earlier one, and a stop overrides every jump. A decision applies to its step only.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Control {
    pub(crate) stop: bool,
    pub(crate) jump: Option<Box<Jump>>,
    pub(crate) question: Option<Box<Ask>>,
}

/// Why tool calls wait for a result.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ask {
    /// What people are asked about the tool calls of an answer, by id, with the name of the hook.
    pub(crate) people: Vec<(String, Question, Option<String>)>,
    /// Whether the outcome of an earlier run of the tool is not known.
    pub(crate) is_unknown: bool,
    /// What a person is asked about this tool call.
    pub(crate) question: Option<Box<Question>>,
    /// Why it asks for permission, if it does; else a hook stopped the call.
    pub(crate) permission: Option<String>,
    /// The name of the hook.
    pub(crate) asked_by: Option<String>,
    /// What waits in the sub-agent that the tool call runs.
    pub(crate) below: Vec<PendingCall>,
}

impl Control {
    /// Stops the call and returns to the caller.
    pub fn stop(&mut self) {
        self.stop = true;
    }

    /// Returns whether the call stops.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stop
    }

    /// Jumps to this target, after appending `messages` to memory.
    pub fn jump(&mut self, to: JumpTo, messages: impl Into<Messages>) {
        self.jump = Some(Box::new(Jump { to, messages: messages.into() }));
    }

    /// Returns whether a tool call asks for permission.
    #[must_use]
    pub fn asks_permission(&self) -> bool {
        let question = self.question.as_ref();
        question.is_some_and(|asked| {
            asked.permission.is_some()
                || asked.is_unknown
                || !asked.below.is_empty()
                || !asked.people.is_empty()
        })
    }

    /// Returns whether no hook decided anything.
    pub(crate) fn is_free(&self) -> bool {
        !self.stop && self.jump.is_none() && self.question.is_none()
    }

    /// Asks for permission.
    pub(crate) fn ask(&mut self, question: Ask) {
        self.question = Some(Box::new(question));
    }

    /// Asks people about tool calls of an answer. The first question about a tool call stays.
    pub(crate) fn ask_people(&mut self, asked: Vec<(String, Question)>, by: Option<&str>) {
        let people = &mut self.question.get_or_insert_default().people;
        for (id, question) in asked {
            if people.iter().all(|(known, ..)| *known != id) {
                people.push((id, question, by.map(str::to_owned)));
            }
        }
    }

    /// Returns what waits at this tool call.
    pub(crate) fn pending(&self, call: &ToolUse) -> Vec<PendingCall> {
        match self.question.as_deref() {
            Some(question) if !question.below.is_empty() => question.below.clone(),
            question => {
                let permission = question.and_then(|question| question.permission.clone());
                let stopped =
                    if self.stop { PendingReason::Stopped } else { PendingReason::NotRun };
                let why = match permission {
                    _ if question.is_some_and(|ask| ask.is_unknown) => {
                        PendingReason::UnknownOutcome
                    }
                    Some(text) => PendingReason::Permission(text),
                    None => stopped,
                };
                let asked_by = question.and_then(|ask| ask.asked_by.clone());
                let question = question.and_then(|ask| ask.question.clone());
                vec![PendingCall { asked_by, question, ..PendingCall::new(call.clone(), why) }]
            }
        }
    }

    /// Returns the messages that the jump appends to memory.
    #[must_use]
    pub fn jump_messages(&self) -> Option<&Messages> {
        self.jump.as_ref().map(|jump| &jump.messages)
    }

    /// Returns the target of the jump, if there is one.
    #[must_use]
    pub fn jumps_to(&self) -> Option<JumpTo> {
        self.jump.as_ref().map(|jump| jump.to)
    }
}
