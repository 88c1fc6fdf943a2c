//! Results of probes: the event, the flow and the failure of a hook.

use std::error::Error;
use std::fmt::{self, Debug};
use std::sync::Arc;
use std::time::Duration;

use crate::call::CallContext;
use crate::event::{Decided, Decision, EventKind, Flow, Substitute};
use crate::message::{Asker, Messages, Msg, Question, ToolResult};
use crate::round::{Control, JumpTo};
use crate::testing::diff::{diff_lines, diff_values};

/// What a [`Probe`](crate::testing::Probe) saw of a hook at one event.
///
/// The assertions return the value itself, so that they can be chained. One that fails panics with
/// the name of the hook, the event and what the hook did, and where values differ with their
/// difference: lines with `-` are expected, lines with `+` were found.
///
/// ```
/// use hooks_agent::prelude::*;
/// use hooks_agent::testing::{Probe, SeenFlow};
///
/// struct Hurry;
///
/// #[agent_hook]
/// impl Hurry {
///     fn end(&self, event: &mut PostCall<'_>) {
///         event.final_message_mut().push_text(" Goodbye.");
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let seen = Probe::new(Hurry).post_call(Msg::assistant("bot", "Done.")).await?;
/// seen.assert_continues();
/// assert!(seen.changed);
/// assert_eq!(seen.event.text(), "Done. Goodbye.");
/// assert_eq!(seen.flow, SeenFlow::Continue);
/// # Ok::<(), hooks_agent::testing::NotInterested>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
#[must_use = "a probe asserts nothing by itself"]
pub struct Seen<T> {
    /// The data of the event as the hook left it.
    pub event: T,
    /// How the hook directed the call; [`SeenFlow::Continue`] if the hook failed.
    pub flow: SeenFlow,
    /// Whether the hook changed the data of the event.
    pub changed: bool,
    /// The failure of the hook: its error, its panic, or a flow that the event does not accept.
    pub failure: Option<Failure>,
    /// The events of `tracing` while the hook ran, up to the level debug, as
    /// `WARN the message key=value`. Events of other tasks and threads are not among them.
    pub logs: Vec<String>,
    /// How long the hook took, by the clock of tokio: paused time counts as it is advanced.
    pub elapsed: Duration,
    pub(super) before: T,
    pub(super) hook: String,
    pub(super) kind: EventKind,
    pub(super) cx: CallContext,
}

/// How a hook directed a call: a [`Flow`] that can be compared.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SeenFlow {
    /// The call continues.
    Continue,
    /// The call stops and returns to the caller.
    Stopped,
    /// The tool call asks for permission, for this reason.
    Asked(String),
    /// The call jumps.
    Jumped {
        /// The target.
        to: JumpTo,
        /// The messages that are appended to memory.
        messages: Messages,
    },
    /// The hook answered with a message.
    Answered(Msg),
    /// The hook answered a tool call; a refusal is a result that is an error.
    AnsweredTool(ToolResult),
    /// The hook supplied a substitute after a failure.
    Recovered(Substitute),
}

/// The failure of a hook that a probe ran.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Failure {
    /// The name of the hook.
    pub hook: String,
    /// The event.
    pub event: EventKind,
    /// The error of the hook.
    pub source: Arc<dyn Error + Send + Sync>,
}

impl<T> Seen<T> {
    /// Returns the context of the call, for the values that the hook stored in it.
    #[must_use]
    pub fn context(&self) -> &CallContext {
        &self.cx
    }

    /// Asserts that the hook lets the call continue.
    ///
    /// # Panics
    /// Panics if it directs the call elsewhere, or failed.
    #[track_caller]
    pub fn assert_continues(&self) -> &Self {
        let is_met = self.failure.is_none() && self.flow == SeenFlow::Continue;
        self.expect(is_met, "to continue")
    }

    /// Asserts that the hook refuses the tool call with a reason that contains the text.
    ///
    /// # Panics
    /// Panics if it does not.
    #[track_caller]
    pub fn assert_refused(&self, text: &str) -> &Self {
        let is_met = matches!(&self.flow, SeenFlow::AnsweredTool(result)
            if result.is_error && result.output.as_str().contains(text));
        self.expect(is_met, format_args!("to refuse with a reason that contains {text:?}"))
    }

    /// Asserts that the hook stops the call.
    ///
    /// # Panics
    /// Panics if it does not.
    #[track_caller]
    pub fn assert_stopped(&self) -> &Self {
        self.expect(self.flow == SeenFlow::Stopped, "to stop the call")
    }

    /// Asserts that the hook asks for permission with a reason that contains the text.
    ///
    /// # Panics
    /// Panics if it does not.
    #[track_caller]
    pub fn assert_asked(&self, text: &str) -> &Self {
        let is_met = matches!(&self.flow, SeenFlow::Asked(why) if why.contains(text));
        self.expect(is_met, format_args!("to ask with a reason that contains {text:?}"))
    }

    /// Asserts that the hook answers with this text, by a message or by a result of the tool call
    /// that is no error.
    ///
    /// # Panics
    /// Panics if it does not.
    #[track_caller]
    pub fn assert_answered(&self, text: &str) -> &Self {
        let answer = match &self.flow {
            SeenFlow::Answered(msg) => Some(msg.text()),
            SeenFlow::AnsweredTool(result) if !result.is_error => Some(result.output.to_string()),
            _ => None,
        };
        let Some(answer) = answer else {
            return self.expect(false, format_args!("to answer {text:?}"));
        };
        let difference = || diff_lines(text, &answer);
        assert!(answer == text, "{} answered another text:\n{}", self.place(), difference());
        self
    }

    /// Asserts that the hook failed with an error whose text contains this text.
    ///
    /// # Panics
    /// Panics if it did not.
    #[track_caller]
    pub fn assert_failed(&self, text: &str) -> &Self {
        let source = self.failure.as_ref().map(|failure| failure.source.to_string());
        let is_met = source.is_some_and(|source| source.contains(text));
        self.expect(is_met, format_args!("to fail with an error that contains {text:?}"))
    }

    #[track_caller]
    fn expect(&self, is_met: bool, expected: impl fmt::Display) -> &Self {
        assert!(is_met, "{} was expected {expected}, but it {}", self.place(), self.did());
        self
    }

    fn place(&self) -> String {
        format!("hook `{}` at {}", self.hook, self.kind)
    }

    fn did(&self) -> String {
        match &self.failure {
            Some(failure) => format!("failed: {}", failure.source),
            None => self.flow.to_string(),
        }
    }
}

impl<T: Debug> Seen<T> {
    /// Asserts that the hook leaves the data of the event as they were.
    ///
    /// # Panics
    /// Panics with the difference if it does not.
    #[track_caller]
    pub fn assert_unchanged(&self) -> &Self {
        let difference = || diff_values(&self.before, &self.event);
        assert!(!self.changed, "{} changed the event:\n{}", self.place(), difference());
        self
    }
}

impl SeenFlow {
    pub(super) fn of(flow: &Flow) -> Self {
        let Flow::Then(Decision(decided)) = flow else { return Self::Continue };
        match &**decided {
            Decided::Stop(_) => Self::Stopped,
            Decided::Ask(asker, _) => Self::Asked(asker.reason.clone()),
            Decided::AskPeople(asked) => {
                Self::Asked(descriptions(asked.iter().map(|asked| &asked.question)))
            }
            Decided::Jump(jump) => Self::Jumped { to: jump.to, messages: jump.messages.clone() },
            Decided::Answer(msg) => Self::Answered(msg.clone()),
            Decided::AnswerTool(result, _) => Self::AnsweredTool(result.clone()),
            Decided::Recover(substitute) => Self::Recovered(substitute.clone()),
        }
    }

    /// Returns what the hooks of a step decided until now.
    pub(super) fn decided(control: &Control) -> Self {
        let permission = control.question.as_ref().and_then(|asked| {
            let people = || descriptions(asked.people.iter().map(|asked| &asked.question));
            let is_asked = !asked.askers.is_empty();
            let asks = is_asked.then(|| Asker::reasons(&asked.askers));
            asks.or_else(|| (!asked.people.is_empty()).then(people))
        });
        match (control.jumps_to(), control.jump_messages(), permission) {
            _ if control.is_stopped() => Self::Stopped,
            (.., Some(why)) => Self::Asked(why),
            (Some(to), messages, _) => {
                Self::Jumped { to, messages: messages.cloned().unwrap_or_default() }
            }
            _ => Self::Continue,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { hook, event, source } = self;
        write!(f, "hook `{hook}` failed at {event}: {source}")
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.source)
    }
}

/// Says what the hook did, such as `refused: not the root`.
impl fmt::Display for SeenFlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Continue => f.write_str("continued"),
            Self::Stopped => f.write_str("stopped the call"),
            Self::Asked(why) => write!(f, "asked: {why}"),
            Self::Jumped { to, .. } => write!(f, "jumped to {to:?}"),
            Self::Answered(msg) => write!(f, "answered: {}", msg.text()),
            Self::AnsweredTool(result) if result.is_error => {
                write!(f, "refused: {}", result.output)
            }
            Self::AnsweredTool(result) => write!(f, "answered: {}", result.output),
            Self::Recovered(Substitute::Message(msg)) => write!(f, "recovered: {}", msg.text()),
            Self::Recovered(Substitute::ToolResult(result)) => {
                write!(f, "recovered: {}", result.output)
            }
        }
    }
}

fn descriptions<'a>(questions: impl Iterator<Item = &'a Question>) -> String {
    let texts: Vec<_> = questions.map(|question| question.description.as_str()).collect();
    texts.join("\n")
}
