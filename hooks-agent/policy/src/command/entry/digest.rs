//! Digests of entries.

use std::fmt::Write;

use serde::Serialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::command::entry::command_entry::{CommandEntry, OnFailure};
use crate::command::entry::handler::{Handler, McpTool};

/// Returns the digest of what an entry runs.
pub(super) fn identity_of(entry: &CommandEntry) -> String {
    digest(&WhatRuns::of(entry))
}

/// Returns the digest of a whole entry.
pub(super) fn hash_of(entry: &CommandEntry) -> String {
    digest(&WhatIsTrusted::of(entry))
}

/// A variable, without its value if that is secret: digests are printed.
#[derive(Serialize)]
enum Variable<'a> {
    Known(&'a str, &'a str),
    Secret(&'a str, &'a str),
}

/// What runs. Fields of later types of handlers are left out where they are none, so that the digests of
/// programs stay as they were trusted.
#[derive(Default, Serialize)]
struct WhatRuns<'a> {
    exec: Option<&'a [String]>,
    command: Option<(&'a str, &'a str)>,
    env: Vec<Variable<'a>>,
    pass_env: &'a [String],
    condition: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    http: Option<Http<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mcp_tool: Option<(&'a str, &'a str, &'a Map<String, Value>)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<&'a str>,
}

/// A request, with headers as they are written: the names of variables, and not their values.
#[derive(Serialize)]
struct Http<'a> {
    url: &'a str,
    headers: &'a [(String, String)],
    is_signed: bool,
}

#[derive(Serialize)]
struct WhatIsTrusted<'a> {
    event: &'a str,
    matcher: &'a str,
    runs: WhatRuns<'a>,
    timeout_ms: u128,
    blocks_on_failure: bool,
    sequence: bool,
}

impl<'a> WhatRuns<'a> {
    fn of(entry: &'a CommandEntry) -> Self {
        let sources = &entry.secret_sources;
        let env = entry.env.iter().map(|(name, value)| {
            let source = sources.iter().find(|(secret, _)| secret == name);
            match source {
                Some((_, source)) => Variable::Secret(name, source),
                None => Variable::Known(name, value),
            }
        });
        let mut runs = Self {
            env: env.collect(),
            pass_env: &entry.pass_env,
            condition: entry.condition.as_deref(),
            ..Self::default()
        };
        match &entry.handler {
            Handler::Exec(args) => runs.exec = Some(args),
            Handler::Shell(shell, line) => runs.command = Some((shell, line)),
            Handler::Http(url) => {
                let is_signed = entry.signing_key.is_some();
                runs.http = Some(Http { url, headers: &entry.headers, is_signed });
            }
            Handler::McpTool(McpTool { server, tool, input }) => {
                runs.mcp_tool = Some((server, tool, input));
            }
            Handler::Prompt(prompt) => runs.prompt = Some(prompt),
        }
        runs
    }
}

impl<'a> WhatIsTrusted<'a> {
    fn of(entry: &'a CommandEntry) -> Self {
        Self {
            event: &entry.event,
            matcher: entry.matcher.as_deref().filter(|it| *it != "*").unwrap_or_default(),
            runs: WhatRuns::of(entry),
            timeout_ms: entry.timeout.as_millis(),
            blocks_on_failure: entry.on_failure == OnFailure::Block,
            sequence: entry.is_sequential,
        }
    }
}

/// Returns the SHA-256 of the value as JSON, whose fields have one order.
fn digest(value: &impl Serialize) -> String {
    let json = serde_json::to_vec(value).unwrap_or_default();
    let mut hash = String::with_capacity(64);
    for byte in Sha256::digest(&json) {
        // Writing to a text does not fail.
        let _ = write!(hash, "{byte:02x}");
    }
    hash
}
