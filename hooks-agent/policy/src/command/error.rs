//! Why command hooks do not open.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::command::trust::UntrustedCommand;

/// The problems of all entries and settings, in their order.
///
/// ```
/// use hooks_agent::command::{CommandEntry, CommandHooks, CommandPlace};
///
/// let open = CommandHooks::builder(std::env::temp_dir())
///     .entry(CommandEntry::exec("PreToolUse", ["check"]).matcher("write("))
///     .entry(CommandEntry::shell("PreTool", "exit 2"))
///     .open();
/// let error = open.unwrap_err();
/// assert_eq!(error.problems().len(), 2);
/// let problem = &error.problems()[0];
/// assert_eq!((problem.place(), problem.field()), (&CommandPlace::Entry(0), "matcher"));
/// assert!(problem.message().contains("at character 6"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct CommandHooksError {
    problems: Vec<CommandProblem>,
}

/// A problem of command hooks, with its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: `{field}`: {message}")]
pub struct CommandProblem {
    place: CommandPlace,
    field: &'static str,
    message: String,
    untrusted: Option<UntrustedCommand>,
}

/// Where a problem is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CommandPlace {
    /// The entry of this index, from 0, among those that were
    /// [added](crate::command::CommandHooksBuilder::entry).
    Entry(usize),
    /// A place in a file of settings.
    Settings {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column, from 1, in characters.
        column: usize,
    },
    /// The builder itself.
    Builder,
}

impl CommandHooksError {
    pub(crate) fn new(problems: Vec<CommandProblem>) -> Self {
        Self { problems }
    }

    /// Returns the problems.
    #[must_use]
    pub fn problems(&self) -> &[CommandProblem] {
        &self.problems
    }

    /// Returns the commands that are not trusted, to show them to a person and to
    /// [trust](crate::command::Trust::add) them.
    pub fn untrusted(&self) -> impl Iterator<Item = &UntrustedCommand> {
        self.problems.iter().filter_map(|problem| problem.untrusted.as_ref())
    }
}

impl CommandProblem {
    /// The field of a command that nobody trusted.
    pub(crate) const TRUST: &'static str = "trust";

    pub(crate) fn new(
        place: CommandPlace,
        field: &'static str,
        message: impl Into<String>,
    ) -> Self {
        Self { place, field, message: message.into(), untrusted: None }
    }

    pub(crate) fn untrusted(place: CommandPlace, command: UntrustedCommand) -> Self {
        let hash = command.hash();
        let message = format!(
            "expected a trusted command, this one is new or changed: {command}; read it, and if it may \
             run, call `Trust::add(\"{hash}\")`, or run `hooks-agent trust {hash} --file trust.json` and \
             give that file by `--trust trust.json`"
        );
        Self { untrusted: Some(command), ..Self::new(place, Self::TRUST, message) }
    }

    /// Returns the place.
    #[must_use]
    pub fn place(&self) -> &CommandPlace {
        &self.place
    }

    /// Returns the key, as a file has it: `event`, `matcher`, `exec`, `command`, `if`, `timeout`,
    /// `env`, `pass_env`, `url`, `headers`, `signing_key`, `server`, `tool`, `input`, `prompt`, or `trust`, `settings`,
    /// `project_dir`, `allow_hosts` of the builder.
    #[must_use]
    pub fn field(&self) -> &'static str {
        self.field
    }

    /// Returns what is wrong and what was expected.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl CommandPlace {
    /// Returns by what problems are in order: those of files come last, as they stand in them.
    pub(crate) fn order(&self) -> Option<(&Path, usize, usize)> {
        match self {
            Self::Settings { path, line, column } => Some((path, *line, *column)),
            _ => None,
        }
    }
}

impl fmt::Display for CommandPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entry(index) => write!(f, "entry {index}"),
            Self::Settings { path, line, column } => {
                write!(f, "{}:{line}:{column}", path.display())
            }
            Self::Builder => f.write_str("command hooks"),
        }
    }
}

impl fmt::Display for CommandHooksError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.problems.len();
        write!(f, "command hooks have {count} problem{}", if count == 1 { "" } else { "s" })?;
        self.problems.iter().try_for_each(|problem| write!(f, "\n  {problem}"))
    }
}

impl std::error::Error for CommandHooksError {}

/// The same text, so that a `main` that returns the error prints it.
impl fmt::Debug for CommandHooksError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
