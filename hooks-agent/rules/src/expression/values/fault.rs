//! Faults of expressions, and the steps that bound their work.

use std::borrow::Cow;
use std::cell::Cell;

/// Why an expression has no value. It has no values of the tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It takes more steps than a rule may take. No `&&` and no loop goes on after this.
    Spent,
    Failed(Cow<'static, str>),
}

impl Fault {
    pub(crate) fn new(message: impl Into<Cow<'static, str>>) -> Self {
        Self::Failed(message.into())
    }

    pub(crate) fn message(&self) -> &str {
        match self {
            Self::Spent => "its condition takes more steps than a rule may take",
            Self::Failed(message) => message,
        }
    }
}

/// The steps that are left: one for each operation, and more for what reads or copies long values.
#[derive(Debug)]
pub(crate) struct Steps(Cell<u32>);

impl Steps {
    /// What one expression may take: a few milliseconds, as the bench of the rules prints.
    pub(crate) const MOST: u32 = 100_000;

    pub(crate) fn new() -> Self {
        Self(Cell::new(Self::MOST))
    }

    pub(crate) fn take(&self, steps: usize) -> Result<(), Fault> {
        let left = u32::try_from(steps).ok().and_then(|steps| self.0.get().checked_sub(steps));
        self.0.set(left.unwrap_or_default());
        left.map(drop).ok_or(Fault::Spent)
    }

    /// Takes the steps of reading so many bytes.
    pub(crate) fn read(&self, bytes: usize) -> Result<(), Fault> {
        self.take(bytes >> 10)
    }

    /// Takes the steps of parsing so many bytes, or of searching them for a simple pattern.
    pub(crate) fn parse(&self, bytes: usize) -> Result<(), Fault> {
        self.take(20 + (bytes >> 3))
    }

    /// Takes the steps of copying so many bytes, which bounds the memory too.
    pub(crate) fn copy(&self, bytes: usize) -> Result<(), Fault> {
        self.take(bytes >> 6)
    }
}
