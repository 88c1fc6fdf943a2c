//! The pieces of an answer, of no provider's form.

use serde_json::Value;

use crate::model::answer::frames::Frames;
use crate::model::guarded::Call;

/// A kind of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextKind {
    /// What the model says.
    Said,
    /// Its thoughts.
    Thought,
}

/// A piece of an answer, in order.
#[derive(Debug)]
pub(crate) enum Piece {
    Text(TextKind, String),
    /// The signature of the thoughts before.
    Signature(String),
    /// What comes after all text before it.
    Mark(Mark),
    /// What need not wait for the text before it.
    Pass(Value),
}

/// What stands between texts.
#[derive(Debug)]
pub(crate) enum Mark {
    /// An event of the provider.
    Event(Value),
    /// An event by which the text that follows is written.
    Slot(Value),
    /// What is decided about before anybody sees it.
    Held(Box<Held>),
    /// The last event.
    End(Value),
    /// The error of the provider, which ends the answer.
    Failed(Value),
}

/// A tool call or its result, which is decided about before anybody sees it.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) kind: HeldKind,
    pub(crate) call: Call,
    /// What the tool returned.
    pub(crate) result: Option<Value>,
    /// The events of the provider.
    pub(crate) events: Vec<Value>,
}

/// Who runs the tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeldKind {
    /// The agent will.
    Agent,
    /// The provider has.
    Provider,
    /// The provider has; this is the result of a call before.
    Result,
}

/// What becomes of what was held.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fate {
    Passes,
    /// This text stands in its place.
    Denied(String),
    /// The call has other arguments.
    Rewritten(Value),
    /// The result is another one.
    Replaced(Value),
    /// The call was denied before: nothing is left of its result.
    Dropped,
}

/// Reads the events of a provider.
pub(crate) trait ReadEvents: Send + 'static {
    /// Reads an event: its name, if it has one, and its data.
    fn read(&mut self, data: &str, pieces: &mut Vec<Piece>) -> Result<(), Malformed>;
}

/// An answer that is none of the provider's form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

/// Writes the events of a provider.
pub(crate) trait WriteEvents: Send {
    /// Writes a part of a text where the last mark says.
    fn text(&mut self, kind: TextKind, text: String, frames: &mut Frames);

    /// Writes the signature of thoughts.
    fn signature(&mut self, signature: String, frames: &mut Frames);

    /// Writes an event of the provider.
    fn event(&mut self, event: Value, frames: &mut Frames);

    /// Notes how the text that follows is written.
    fn slot(&mut self, event: Value);

    /// Writes what was held, or what became of it.
    fn held(&mut self, held: Held, fate: Fate, frames: &mut Frames);

    /// Writes the end of an answer.
    fn end(&mut self, event: Value, frames: &mut Frames);

    /// Writes that the answer has failed, in place of its end.
    fn failed(&mut self, reason: &str, frames: &mut Frames);
}
