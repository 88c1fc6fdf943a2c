//! The trait `Redact`, which finds texts that must not be on a tape.

use std::ops::Range;

/// A text that must not be on a tape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Where it is, in bytes.
    pub range: Range<usize>,
    /// What it is, in lower case, such as `email`. The placeholder has it: `<email:1>`.
    pub kind: String,
}

impl Found {
    /// Creates a finding.
    #[must_use]
    pub fn new(range: Range<usize>, kind: impl Into<String>) -> Self {
        Self { range, kind: kind.into() }
    }
}

/// Finds texts that must not be on a tape, such as addresses and keys.
///
/// A closure from a text to a list of [`Found`] is one; [`Patterns`](crate::Patterns) are the
/// default. Each text is searched that a tape would have: prompts, arguments, outputs, errors, names of
/// threads, schemas of tools. The texts of a streamed answer are searched as one text.
///
/// What is found is replaced by its kind and a number that is the same for the same text in a thread. A
/// finder must find the same in the same text each time, or a replay does not match. If it panics, or
/// returns a range that is not in the text, nothing of the line is written, and
/// [`finish`](crate::Tape::finish) returns the error.
///
/// ```
/// use hooks_agent::prelude::*;
/// use hooks_agent::replay::{Found, Tape};
///
/// # futures::executor::block_on(async {
/// let folder = std::env::temp_dir().join(format!("tape-find-{}", std::process::id()));
/// std::fs::create_dir_all(&folder)?;
/// let path = folder.join("run.tape");
/// let names = |text: &str| {
///     let found = text.match_indices("Ada").map(|(at, it)| Found::new(at..at + it.len(), "name"));
///     found.collect::<Vec<_>>()
/// };
/// let tape = Tape::record(&path).redact(names).open()?;
/// let model = ScriptedModel::new("fixed", |_| "Hello.");
/// let agent = ReActAgent::builder("assistant").model(model).hook(tape.clone()).build()?;
/// agent.call("I am Ada.").await?;
/// tape.finish()?;
/// let written = std::fs::read_to_string(&path)?;
/// assert!(written.contains("I am <name:1>.") && !written.contains("Ada"));
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not find what to redact",
    note = "pass `Patterns::emails()`, `Patterns::secrets()`, or a closure `|text: &str| -> Vec<Found>`"
)]
pub trait Redact: Send + Sync + 'static {
    /// Returns the kinds that it finds, for the header of the tape. The default is `custom`.
    fn kinds(&self) -> Vec<String> {
        vec!["custom".to_owned()]
    }

    /// Returns the version of what it finds by, if that changes without the program, for the header of the tape.
    /// The default is none.
    fn version(&self) -> Option<u32> {
        None
    }

    /// Returns what is in the text and must not be on the tape, in any order.
    fn find(&self, text: &str) -> Vec<Found>;

    /// Returns the kind of a field of JSON whose text must not be on the tape, whatever it is, by the
    /// name of the field. The default is none.
    fn field(&self, _name: &str) -> Option<String> {
        None
    }
}

impl<F: Fn(&str) -> Vec<Found> + Send + Sync + 'static> Redact for F {
    fn find(&self, text: &str) -> Vec<Found> {
        self(text)
    }
}
