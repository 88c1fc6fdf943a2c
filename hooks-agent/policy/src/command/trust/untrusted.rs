//! A command that nobody trusted.

use std::fmt;

use crate::command::contract::CommandEvent;
use crate::command::entry::{CommandEntry, Handler, Layer};

/// A command of a project that nobody trusted, or that changed since.
///
/// Show it to a person: its [`Display`](fmt::Display) is the event, the matcher, the command with
/// control characters escaped, and the hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UntrustedCommand {
    hash: String,
    event: CommandEvent,
    matcher: Option<String>,
    command: Vec<String>,
    layer: Layer,
}

impl UntrustedCommand {
    pub(crate) fn new(entry: &CommandEntry, event: CommandEvent, hash: &str) -> Self {
        let command = match &entry.handler {
            Handler::Exec(args) => args.clone(),
            Handler::Shell(shell, line) => vec![(*shell).into(), "-c".into(), line.clone()],
        };
        let (matcher, layer) = (entry.matcher.clone(), entry.layer);
        Self { hash: hash.to_owned(), event, matcher, command, layer }
    }

    /// Returns the SHA-256 of the normalised entry, in hexadecimal: its event, matcher and command,
    /// with all settings but the name. The content of files that the command runs is not part of
    /// it.
    #[must_use]
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Returns the event.
    #[must_use]
    pub fn event(&self) -> CommandEvent {
        self.event
    }

    /// Returns the matcher, if the entry has one.
    #[must_use]
    pub fn matcher(&self) -> Option<&str> {
        self.matcher.as_deref()
    }

    /// Returns the program and its arguments.
    #[must_use]
    pub fn command(&self) -> &[String] {
        &self.command
    }

    /// Returns where the entry comes from.
    #[must_use]
    pub fn layer(&self) -> Layer {
        self.layer
    }
}

impl fmt::Display for UntrustedCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let matcher = self.matcher.as_deref().unwrap_or("*");
        write!(f, "{} {matcher:?} {:?} sha256:{}", self.event, self.command, self.hash)
    }
}
