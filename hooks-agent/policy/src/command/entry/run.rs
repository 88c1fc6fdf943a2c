//! The handler of a checked entry.

use std::ffi::OsString;
use std::path::Path;

use crate::command::entry::command_entry::CommandEntry;
use crate::command::entry::handler::{Handler, McpTool};
use crate::command::entry::resources::Resources;
use crate::command::http::{Parts, Request};
use crate::command::mcp::ToolCall;
use crate::command::process::Launch;
use crate::command::prompt::Prompt;

/// What can run.
#[derive(Clone)]
pub(crate) enum Run {
    Program(Launch),
    Http(Box<Request>),
    McpTool(ToolCall),
    Prompt(Prompt),
}

/// A field, and what is wrong with it.
type Wrong = (&'static str, String);

impl Run {
    /// Checks what the entry runs, and what only another handler has.
    pub(super) fn of(
        entry: &CommandEntry,
        dir: &Path,
        resources: &Resources,
    ) -> Result<Self, Vec<Wrong>> {
        let run = match &entry.handler {
            Handler::Exec(_) | Handler::Shell(..) => {
                launch_of(entry, dir).map(Self::Program).map_err(|wrong| vec![wrong])
            }
            Handler::Http(url) => {
                let parts = Parts {
                    url,
                    headers: &entry.headers,
                    signing_key: entry.signing_key.as_deref(),
                    hosts: &resources.hosts,
                    variable: &|name| variable_of(entry, name),
                };
                Request::new(&parts).map(|request| Self::Http(Box::new(request)))
            }
            Handler::McpTool(McpTool { server, tool, input }) => {
                ToolCall::new(&resources.servers, server, tool, input).map(Self::McpTool)
            }
            Handler::Prompt(text) => Prompt::new(text, resources.model.as_ref()).map(Self::Prompt),
        };
        let misplaced: Vec<_> = misplaced(entry).collect();
        match run {
            Ok(run) if misplaced.is_empty() => Ok(run),
            run => Err(run.err().into_iter().flatten().chain(misplaced).collect()),
        }
    }
}

/// Returns the fields that are set and have no meaning for the handler.
fn misplaced(entry: &CommandEntry) -> impl Iterator<Item = Wrong> {
    let is_http = matches!(entry.handler, Handler::Http(_));
    let has_variables = is_http || entry.handler.is_program();
    let of_http = "expected none: only requests to servers have them";
    let of_variables = "expected none: only programs and headers of requests read variables";
    let fields = [
        ("headers", !is_http && !entry.headers.is_empty(), of_http),
        ("signing_key", !is_http && entry.signing_key.is_some(), of_http),
        ("env", !has_variables && !entry.env.is_empty(), of_variables),
        ("pass_env", !has_variables && !entry.pass_env.is_empty(), of_variables),
    ];
    fields
        .into_iter()
        .filter(|(_, is_misplaced, _)| *is_misplaced)
        .map(|(field, _, expected)| (field, expected.to_owned()))
}

/// Returns the value of a variable of a header: of the entry, or of this program if it is passed on.
fn variable_of(entry: &CommandEntry, name: &str) -> Result<String, String> {
    if let Some((_, value)) = entry.env.iter().rev().find(|(it, _)| it == name) {
        return Ok(value.clone());
    }
    if !entry.pass_env.iter().any(|passed| passed == name) {
        return Err(format!(
            "expected `{name}` among the variables that are passed on: `pass_env(\"{name}\")`, or \
             `\"allowedEnvVars\": [\"{name}\"]` in a file"
        ));
    }
    let value = std::env::var(name).ok().filter(|value| !value.is_empty());
    value.ok_or_else(|| format!("expected the variable `{name}` to be set"))
}

/// Returns the program and its arguments, or the field and what is wrong with it.
fn launch_of(entry: &CommandEntry, dir: &Path) -> Result<Launch, Wrong> {
    let (program, args) = program_of(entry, dir)?;
    let (env, pass_env) = (entry.env.clone(), entry.pass_env.clone());
    Ok(Launch { program, args, env, pass_env, dir: dir.to_owned() })
}

fn program_of(entry: &CommandEntry, dir: &Path) -> Result<(OsString, Vec<String>), Wrong> {
    let expected =
        || ("exec", "expected a program, as in `[\"guards/check\", \"--strict\"]`".to_owned());
    match &entry.handler {
        Handler::Exec(args) if args.iter().any(|arg| arg.contains('\0')) => {
            Err(("exec", "expected arguments without NUL".to_owned()))
        }
        Handler::Exec(args) => match args.split_first() {
            // The program would be looked up in a directory that depends on the system.
            Some((program, args)) if program.contains('/') => {
                Ok((dir.join(program).into(), args.to_vec()))
            }
            Some((program, args)) if !program.trim().is_empty() => {
                Ok((program.into(), args.to_vec()))
            }
            _ => Err(expected()),
        },
        Handler::Shell(_, line) if line.trim().is_empty() || line.contains('\0') => Err((
            "command",
            "expected a line of shell without NUL, as in `guards/check`".to_owned(),
        )),
        Handler::Shell(shell, line) => Ok(((*shell).into(), vec!["-c".to_owned(), line.clone()])),
        Handler::Http(_) | Handler::McpTool(_) | Handler::Prompt(_) => Err(expected()),
    }
}
