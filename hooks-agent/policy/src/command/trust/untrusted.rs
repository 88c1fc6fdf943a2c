//! A command that nobody trusted.

use std::fmt;

use crate::command::contract::CommandEvent;
use crate::command::entry::{CommandEntry, Layer};

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
        let mut command = entry.handler.words();
        if !entry.handler.is_program() {
            // A person reads which secrets are sent, and not their values.
            let headers = entry.headers.iter().map(|(name, _)| format!("header {name}"));
            let variables = entry.pass_env.iter().map(|name| format!("${name}"));
            command.extend(headers.chain(variables));
        }
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

    /// Returns the program and its arguments; `POST`, the URL, the names of headers and of the variables in them;
    /// `mcp_tool`, the server, the tool and its arguments; `prompt` and the prompt.
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
