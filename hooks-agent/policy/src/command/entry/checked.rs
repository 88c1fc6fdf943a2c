//! The check of an entry.

use std::ffi::OsString;
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::command::contract::CommandEvent;
use crate::command::entry::command_entry::{CommandEntry, Handler, OnFailure};
use crate::command::entry::condition::Condition;
use crate::command::entry::layer::Layer;
use crate::command::entry::line;
use crate::command::entry::matcher::Matcher;
use crate::command::error::{CommandPlace, CommandProblem};
use crate::command::process::Launch;

/// A command that can run.
#[derive(Clone)]
pub(crate) struct Checked {
    pub(crate) name: String,
    pub(crate) event: CommandEvent,
    pub(crate) matcher: Matcher,
    pub(crate) condition: Option<Condition>,
    pub(crate) launch: Launch,
    pub(crate) timeout: Duration,
    pub(crate) on_failure: OnFailure,
    pub(crate) is_sequential: bool,
    pub(crate) layer: Layer,
    /// What it runs: two commands of one event with the same one are run once.
    pub(crate) identity: String,
    /// The whole entry.
    pub(crate) hash: String,
}

/// Checks an entry and adds its problems, and warnings about what it runs. `place` is where a field of it
/// is.
pub(crate) fn check(
    entry: &CommandEntry,
    dir: &Path,
    place: &dyn Fn(&'static str) -> CommandPlace,
    problems: &mut Vec<CommandProblem>,
    warnings: &mut Vec<String>,
) -> Option<Checked> {
    let mut problem = |field, message: String| {
        problems.push(CommandProblem::new(place(field), field, message));
    };
    let event = entry.event.parse::<CommandEvent>();
    let event = event.map_err(|error| problem("event", error.to_string())).ok();
    let matcher = Matcher::new(entry.matcher.as_deref());
    let matcher = matcher.map_err(|message| problem("matcher", message)).ok();
    let condition = entry.condition.as_deref().map(Condition::new).transpose();
    let condition = condition.map_err(|message| problem("if", message)).ok();
    if let (Some(event), Some(matcher)) = (event, &matcher) {
        let values = event.subjects();
        if !values.is_empty() && !values.iter().any(|value| matcher.matches(Some(value))) {
            let values: Vec<_> = values.iter().map(|value| format!("`{value}`")).collect();
            let message = format!(
                "expected {}, what `{event}` is about: it would never run",
                values.join(" or ")
            );
            problem("matcher", message);
        }
    }
    if let (Some(matcher), Some(Some(condition))) = (&matcher, &condition)
        && let Some(message) = condition.is_never(matcher)
    {
        problem("if", message);
    }
    if entry.condition.is_some() && event.is_some_and(|event| !event.is_of_a_tool()) {
        problem("if", "expected none: only events of tools have conditions".to_owned());
    }
    if entry.timeout.is_zero() {
        problem("timeout", "expected a time limit above zero".to_owned());
    }
    check_env(entry, &mut problem);
    let command = command_of(entry, dir).map_err(|(field, message)| problem(field, message)).ok();
    let (program, args) = command?;
    let (env, pass_env) = (entry.env.clone(), entry.pass_env.clone());
    let launch = Launch { program, args, env, pass_env, dir: dir.to_owned() };
    let of_line = line::warnings(&entry.handler, &launch).into_iter();
    warnings.extend(of_line.map(|warning| format!("{}: {warning}", place("command"))));
    Some(Checked {
        name: entry.name(),
        event: event?,
        matcher: matcher?,
        condition: condition?,
        launch,
        timeout: entry.timeout,
        on_failure: entry.on_failure,
        is_sequential: entry.is_sequential,
        layer: entry.layer,
        identity: digest(&WhatRuns::of(entry)),
        hash: digest(&WhatIsTrusted::of(entry)),
    })
}

fn check_env(entry: &CommandEntry, problem: &mut dyn FnMut(&'static str, String)) {
    let is_name = |name: &str| !name.is_empty() && !name.contains(['=', '\0']);
    let expected = |name: &str| format!("expected the name of a variable, found {name:?}");
    for (name, value) in &entry.env {
        if !is_name(name) {
            problem("env", expected(name));
        } else if value.contains('\0') {
            problem("env", format!("expected a value without NUL for `{name}`"));
        }
    }
    for name in entry.pass_env.iter().filter(|name| !is_name(name)) {
        problem("pass_env", expected(name));
    }
}

/// Returns the program and its arguments, or the field and what is wrong with it.
fn command_of(
    entry: &CommandEntry,
    dir: &Path,
) -> Result<(OsString, Vec<String>), (&'static str, String)> {
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
            _ => Err((
                "exec",
                "expected a program, as in `[\"guards/check\", \"--strict\"]`".to_owned(),
            )),
        },
        Handler::Shell(_, line) if line.trim().is_empty() || line.contains('\0') => Err((
            "command",
            "expected a line of shell without NUL, as in `guards/check`".to_owned(),
        )),
        Handler::Shell(shell, line) => Ok(((*shell).into(), vec!["-c".to_owned(), line.clone()])),
    }
}

/// A variable, without its value if that is secret: digests are printed.
#[derive(Serialize)]
enum Variable<'a> {
    Known(&'a str, &'a str),
    Secret(&'a str, &'a str),
}

#[derive(Serialize)]
struct WhatRuns<'a> {
    exec: Option<&'a [String]>,
    command: Option<(&'a str, &'a str)>,
    env: Vec<Variable<'a>>,
    pass_env: &'a [String],
    condition: Option<&'a str>,
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

impl Checked {
    /// Returns the names of the tools that the matcher and the condition name.
    pub(crate) fn tools(&self) -> impl Iterator<Item = &str> {
        let of_matcher = self.matcher.names().iter().map(String::as_str);
        let of_condition = self.condition.iter().filter_map(Condition::name);
        of_matcher.chain(of_condition).filter(|_| self.event.is_of_a_tool())
    }
}

impl<'a> WhatRuns<'a> {
    fn of(entry: &'a CommandEntry) -> Self {
        let (exec, command) = match &entry.handler {
            Handler::Exec(args) => (Some(args.as_slice()), None),
            Handler::Shell(shell, line) => (None, Some((*shell, line.as_str()))),
        };
        let sources = &entry.secret_sources;
        let env = entry.env.iter().map(|(name, value)| {
            let source = sources.iter().find(|(secret, _)| secret == name);
            match source {
                Some((_, source)) => Variable::Secret(name, source),
                None => Variable::Known(name, value),
            }
        });
        let (env, pass_env) = (env.collect(), entry.pass_env.as_slice());
        Self { exec, command, env, pass_env, condition: entry.condition.as_deref() }
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
