//! Control of a call after a step: jumps, stops and questions.

use std::fmt;
use std::str::FromStr;

use crate::message::{Asker, Messages, PendingCall, PendingReason, Question, ToolUse};

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
    /// What people are asked about the tool calls of an answer.
    pub(crate) people: Vec<AskedPeople>,
    /// What a person is asked about this tool call, because the outcome of an earlier run of the tool
    /// is not known.
    pub(crate) unknown: Option<Box<Question>>,
    /// What a person is asked about this tool call, beside the reasons.
    pub(crate) question: Option<Box<Question>>,
    /// Who asks for permission.
    pub(crate) askers: Vec<Asker>,
    /// The hooks that stopped the call.
    pub(crate) stops: Vec<Asker>,
    /// What waits in the sub-agent that the tool call runs.
    pub(crate) below: Vec<PendingCall>,
}

/// What people are asked about a tool call of an answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AskedPeople {
    /// The id of the tool call.
    pub(crate) id: String,
    pub(crate) question: Question,
    /// The name of the hook.
    pub(crate) hook: Option<String>,
    /// Whether it is asked only where another hook asks.
    pub(crate) joins: bool,
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
            !asked.askers.is_empty()
                || asked.unknown.is_some()
                || !asked.below.is_empty()
                || asked.people.iter().any(|asked| !asked.joins)
        })
    }

    /// Returns whether no hook decided anything.
    pub(crate) fn is_free(&self) -> bool {
        !self.stop && self.jump.is_none() && self.question.is_none()
    }

    /// Asks for permission.
    pub(crate) fn ask(&mut self, asker: Asker) {
        Asker::add_all(&mut self.question.get_or_insert_default().askers, [asker]);
    }

    /// Asks by a question, which allows what all allow that ask so.
    pub(crate) fn ask_question(&mut self, question: Option<Box<Question>>) {
        let Some(question) = question else { return };
        let asked = self.question.get_or_insert_default();
        asked.question = Some(match asked.question.take() {
            Some(one) => Box::new(one.and(&question)),
            None => question,
        });
    }

    /// Stops the call by a hook.
    pub(crate) fn stop_by(&mut self, hook: Option<String>) {
        self.stop = true;
        let asker = Asker { hook, ..Asker::unnamed("") };
        Asker::add_all(&mut self.question.get_or_insert_default().stops, [asker]);
    }

    /// Asks what became of an earlier run of the tool.
    pub(crate) fn ask_unknown(&mut self, question: Question) {
        self.question.get_or_insert_default().unknown = Some(Box::new(question));
    }

    /// Waits for what waits in the sub-agent that the tool call runs.
    pub(crate) fn wait_below(&mut self, pending: Vec<PendingCall>) {
        self.question.get_or_insert_default().below = pending;
    }

    /// Asks people about tool calls of an answer.
    pub(crate) fn ask_people(&mut self, asked: Vec<AskedPeople>) {
        self.question.get_or_insert_default().people.extend(asked);
    }

    /// Returns what waits at this tool call. Those who were `answered` before are listed behind those
    /// who ask now.
    pub(crate) fn pending(&self, call: &ToolUse, answered: Vec<Asker>) -> Vec<PendingCall> {
        let none = Ask::default();
        let Ask { unknown, question, askers, stops, below, .. } =
            self.question.as_deref().unwrap_or(&none);
        if !below.is_empty() {
            return below.clone();
        }
        let why = match () {
            () if unknown.is_some() => PendingReason::UnknownOutcome,
            () if !askers.is_empty() => PendingReason::Permission(Asker::reasons(askers)),
            () if self.stop => PendingReason::Stopped,
            () => PendingReason::NotRun,
        };
        let mut all = askers.clone();
        Asker::add_all(&mut all, stops.iter().filter(|asker| asker.hook.is_some()).cloned());
        let answered = answered.into_iter().map(|asker| Asker { is_answered: true, ..asker });
        Asker::add_all(&mut all, answered);
        let pending = PendingCall::new(call.clone(), why).with_askers(all);
        let asked = question.clone().filter(|_| !askers.is_empty()).map(|mut question| {
            question.description = Asker::reasons(askers);
            question
        });
        vec![PendingCall { question: unknown.clone().or(asked), ..pending }]
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
