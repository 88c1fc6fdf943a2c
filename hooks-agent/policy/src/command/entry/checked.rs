//! The check of an entry.

use std::path::Path;
use std::time::Duration;

use crate::command::contract::CommandEvent;
use crate::command::entry::command_entry::{CommandEntry, OnFailure};
use crate::command::entry::digest::{hash_of, identity_of};
use crate::command::entry::layer::Layer;
use crate::command::entry::line;
use crate::command::entry::resources::Resources;
use crate::command::entry::run::Run;
use crate::command::entry::selection::{Condition, Matcher};
use crate::command::error::{CommandPlace, CommandProblem};

/// A command that can run.
#[derive(Clone)]
pub(crate) struct Checked {
    pub(crate) name: String,
    pub(crate) event: CommandEvent,
    pub(crate) matcher: Matcher,
    pub(crate) condition: Option<Condition>,
    pub(crate) run: Run,
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
    resources: &Resources,
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
    let run = Run::of(entry, dir, resources);
    let run = run.map_err(|wrong| wrong.into_iter().for_each(|(field, it)| problem(field, it)));
    let run = run.ok()?;
    if let Run::Program(launch) = &run {
        let of_line = line::warnings(&entry.handler, launch).into_iter();
        warnings.extend(of_line.map(|warning| format!("{}: {warning}", place("command"))));
    }
    Some(Checked {
        name: entry.name(),
        event: event?,
        matcher: matcher?,
        condition: condition?,
        run,
        timeout: entry.timeout,
        on_failure: entry.on_failure,
        is_sequential: entry.is_sequential,
        layer: entry.layer,
        identity: identity_of(entry),
        hash: hash_of(entry),
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

impl Checked {
    /// Returns the names of the tools that the matcher and the condition name.
    pub(crate) fn tools(&self) -> impl Iterator<Item = &str> {
        let of_matcher = self.matcher.names().iter().map(String::as_str);
        let of_condition = self.condition.iter().filter_map(Condition::name);
        of_matcher.chain(of_condition).filter(|_| self.event.is_of_a_tool())
    }
}
