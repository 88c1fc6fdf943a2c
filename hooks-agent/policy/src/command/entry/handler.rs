//! The handler of an entry: a program, a server, a tool or a question.

use std::fmt;

use serde_json::{Map, Value};

/// What is run at the event.
#[derive(Clone)]
pub(crate) enum Handler {
    /// A program with its arguments.
    Exec(Vec<String>),
    /// A line of this shell.
    Shell(&'static str, String),
    /// A server, by its URL.
    Http(String),
    /// A tool of a server.
    McpTool(McpTool),
    /// A question to a model.
    Prompt(String),
}

/// A tool of a server, and what it is called with.
#[derive(Clone)]
pub(crate) struct McpTool {
    pub(crate) server: String,
    pub(crate) tool: String,
    /// Arguments, whose texts may name fields of the event.
    pub(crate) input: Map<String, Value>,
}

impl Handler {
    /// Returns whether it is a program.
    pub(crate) fn is_program(&self) -> bool {
        matches!(self, Self::Exec(_) | Self::Shell(..))
    }

    /// Returns what runs, for people who decide whether it may.
    pub(crate) fn words(&self) -> Vec<String> {
        match self {
            Self::Exec(args) => args.clone(),
            Self::Shell(shell, line) => vec![(*shell).to_owned(), "-c".to_owned(), line.clone()],
            Self::Http(url) => vec!["POST".to_owned(), url.clone()],
            Self::McpTool(McpTool { server, tool, input }) => {
                let input = Value::Object(input.clone()).to_string();
                vec!["mcp_tool".to_owned(), server.clone(), tool.clone(), input]
            }
            Self::Prompt(prompt) => vec!["prompt".to_owned(), prompt.clone()],
        }
    }
}

/// Shows the host of a URL and the name of a tool alone: the rest may hold a key.
impl fmt::Debug for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exec(args) => f.debug_tuple("Exec").field(args).finish(),
            Self::Shell(shell, line) => f.debug_tuple("Shell").field(shell).field(line).finish(),
            Self::Http(url) => f.debug_tuple("Http").field(&host_of(url)).finish(),
            Self::McpTool(McpTool { server, tool, .. }) => {
                f.debug_tuple("McpTool").field(server).field(tool).finish()
            }
            Self::Prompt(prompt) => f.debug_tuple("Prompt").field(prompt).finish(),
        }
    }
}

/// Returns the host of a URL, without a name and a password in front of it.
pub(super) fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let place = authority.rsplit('@').next().unwrap_or_default();
    match place.rfind(']') {
        Some(end) => &place[..=end],
        None => place.split(':').next().unwrap_or_default(),
    }
}
