//! `hooks-agent guard`: the hook of a coding agent.

use std::env;
use std::error::Error;
use std::fmt;
use std::io::{self, BufReader, IsTerminal, Read, Write};
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use hooks_agent_core::event::EventKind;
use hooks_agent_policy::command::{CommandEvent, Input, Output};
use hooks_agent_policy::policy::Merged;
use hooks_core::BoxError;
use serde::Deserializer;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::json;

use crate::answer::named;
use crate::cli::failed;
use crate::cli::policies::PolicyArgs;
use crate::dialect::not_served;
use crate::guard::{Guard, undecided};
use crate::threads::{GuestThreads, GuestThreadsError};

/// The most bytes of an event.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// The exit code by which a coding agent blocks its event.
const BLOCKED: u8 = 2;

/// Hooks that a guard cannot hold: they count in their process, or need what a coding agent does not report.
const NOT_HELD: [&str; 6] =
    ["budget", "mcp_pins", "model_call_limit", "provenance", "quotas", "rate_limit"];

/// Decides about one event of a coding agent: reads it as JSON, runs the hooks of the policy, and
/// answers as the hook of the agent.
///
/// What cannot be decided is blocked, with exit code 2; a result of a tool is withheld, and at the end of a
/// turn the run ends. So are the events of agents that the program does not serve.
#[derive(Args)]
pub(super) struct GuardArgs {
    #[command(flatten)]
    policies: PolicyArgs,
    /// The SQLite file in which hooks keep values of threads. Without it, `HOOKS_AGENT_STATE`, else
    /// `hooks-agent/threads.db` where programs of the user keep their state.
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// The name of the agent, which policies match.
    #[arg(long, value_name = "NAME", default_value = Guard::DEFAULT_AGENT)]
    agent: String,
}

pub(super) fn run(args: &GuardArgs) -> ExitCode {
    // The text of a panic may quote what was to be guarded.
    panic::set_hook(Box::new(|info| {
        if let Some(place) = info.location() {
            eprintln!("panicked at {place}");
        }
    }));
    let input = match read(io::stdin().lock()) {
        Ok(input) => input,
        Err(Unread { event, error }) => return blocked(event.as_deref(), failed(&*error, BLOCKED)),
    };
    let name = input.hook_event_name.as_str();
    if let Some(reason) = not_served(&input) {
        return refused(name, &reason);
    }
    if name.parse::<CommandEvent>().is_err() {
        eprintln!("nothing is decided at `{name}`, so it passes");
        return ExitCode::SUCCESS;
    }
    match catch_unwind(AssertUnwindSafe(|| decide(args, &input))) {
        Ok(Ok(output)) => answer(&output),
        Ok(Err(error)) => blocked(Some(name), failed(&*error, BLOCKED)),
        Err(_) => {
            eprintln!("the guard panicked");
            blocked(Some(name), ExitCode::from(BLOCKED))
        }
    }
}

/// Blocks the event of a guard whose arguments are wrong.
pub(super) fn unparsed() -> ExitCode {
    // A person who tries the program has no event.
    let event = if io::stdin().is_terminal() { None } else { event_of(io::stdin().lock()) };
    blocked(event.as_deref(), ExitCode::from(BLOCKED))
}

/// Blocks an event by the exit code. A tool has run before its result is decided about: an exit code does not
/// keep the result from the model, so it is withheld. At the end of a turn an exit code sends the model on,
/// again and again, so the run ends.
fn blocked(event: Option<&str>, code: ExitCode) -> ExitCode {
    let Some(name) = event else { return code };
    let (kind, what) = match name.parse() {
        Ok(kind @ (CommandEvent::PostToolUse | CommandEvent::Own(EventKind::PostActing))) => {
            (kind, "the result")
        }
        Ok(kind @ (CommandEvent::Stop | CommandEvent::SubagentStop)) => {
            (kind, "the end of the turn")
        }
        _ => return code,
    };
    let undecided = undecided(kind, &format!("the guard could not check {what}"));
    answer(&named(undecided, &Input::new(name)))
}

/// Refuses an event of another contract in every form that agents read: the exit code with the reason on
/// standard error, and fields of JSON.
fn refused(event: &str, reason: &str) -> ExitCode {
    eprintln!("{reason}");
    let refused = json!({
        "continue": false,
        "stopReason": reason,
        "decision": "block",
        "reason": reason,
        "permission": "deny",
        "permissionDecision": "deny",
        "permissionDecisionReason": reason,
        "hookSpecificOutput": {
            "hookEventName": event,
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        },
    });
    println!("{refused}");
    ExitCode::from(BLOCKED)
}

fn answer(output: &Output) -> ExitCode {
    if *output == Output::default() {
        return ExitCode::SUCCESS;
    }
    let mut out = io::stdout().lock();
    let written = serde_json::to_writer(&mut out, output).map_err(io::Error::from);
    match written.and_then(|()| writeln!(out)).and_then(|()| out.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&error, BLOCKED),
    }
}

fn decide(args: &GuardArgs, input: &Input) -> Result<Output, BoxError> {
    if args.policies.is_empty() {
        return Err("no policy file: write `hooks-agent guard --policy policy.toml`".into());
    }
    let policy = args.policies.builder().open()?;
    // A sub-agent has the limits of its caller too.
    for name in [Some(args.agent.as_str()), input.agent_type.as_deref()].into_iter().flatten() {
        refuse_limits_not_held(&policy.merged(), name)?;
    }
    let path = state_file(args)?;
    let guard = Guard::new(policy.clone()).agent(args.agent.as_str());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let decided: Result<_, GuestThreadsError> = runtime.block_on(async {
        let mut threads = GuestThreads::open(&path).await?;
        threads.update(&input.session_id, async |thread| guard.decide(input, thread).await).await
    });
    runtime.block_on(policy.shadow_caught_up());
    for (name, counts) in policy.shadow_counts() {
        if counts.divergences() > 0 {
            eprintln!("in shadow: {name}: {counts}");
        }
    }
    decided.map_err(|error| {
        let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
        format!("{}: {error}{cause}", path.display()).into()
    })
}

/// An event that cannot be read.
struct Unread {
    /// Its name, if that can be read.
    event: Option<String>,
    error: BoxError,
}

fn read(mut from: impl Read) -> Result<Input, Unread> {
    let mut text = Vec::new();
    if let Err(error) = from.by_ref().take(MOST_BYTES + 1).read_to_end(&mut text) {
        return Err(Unread { event: event_of(&*text), error: error.into() });
    }
    if text.len() as u64 > MOST_BYTES {
        let error = format!("the event has more than {MOST_BYTES} bytes").into();
        return Err(Unread { event: event_of(text.chain(from)), error });
    }
    let input = Input::parse(&text).map_err(|error| {
        let error = format!("the event on standard input cannot be read, {error}").into();
        Unread { event: event_of(&*text), error }
    })?;
    for (name, value) in
        [("hook_event_name", &input.hook_event_name), ("session_id", &input.session_id)]
    {
        if value.is_empty() {
            let error = format!("the event has no `{name}`").into();
            return Err(Unread { event: Some(input.hook_event_name.clone()), error });
        }
    }
    Ok(input)
}

/// Returns the name of an event of which the rest cannot be read: nested too deeply, too long, or no JSON
/// behind the name. Keeps nothing of the rest in memory.
fn event_of(from: impl Read) -> Option<String> {
    let mut name = None;
    let mut json = serde_json::Deserializer::from_reader(BufReader::new(from));
    // What is behind the name need not be read.
    let _ = json.deserialize_map(Name(&mut name));
    name
}

/// Takes the name of an event out of its fields.
struct Name<'a>(&'a mut Option<String>);

impl<'de> Visitor<'de> for Name<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut fields: M) -> Result<(), M::Error> {
        while let Some(field) = fields.next_key::<String>()? {
            if field != "hook_event_name" {
                fields.next_value::<IgnoredAny>()?;
                continue;
            }
            *self.0 = Some(fields.next_value()?);
            break;
        }
        Ok(())
    }
}

/// Refuses a policy whose limits would not hold, rather than let them seem to.
fn refuse_limits_not_held(merged: &Merged, agent: &str) -> Result<(), BoxError> {
    let hooks = merged.hooks().iter();
    let mut not_held = hooks
        .filter(|hook| {
            hook.is_enabled() && NOT_HELD.contains(&hook.uses()) && hook.applies_to(agent)
        })
        .map(|hook| format!("`{}`", hook.name()));
    match not_held.next() {
        None => Ok(()),
        Some(first) => {
            let names = not_held.fold(first, |names, name| format!("{names}, {name}"));
            let reason = format!(
                "a guard cannot hold {names}: it counts no model calls, no time and no quotas, keeps nothing of \
                 what the agent read, and cannot ask servers what their tools are; keep them from `{agent}` by `agents`"
            );
            Err(reason.into())
        }
    }
}

fn state_file(args: &GuardArgs) -> Result<PathBuf, BoxError> {
    let of_program = || env::var_os("HOOKS_AGENT_STATE").map(PathBuf::from);
    let named = args.state.clone().or_else(of_program);
    let of_user = || {
        let state = env::var_os("XDG_STATE_HOME").map(PathBuf::from);
        let home = || env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/state"));
        Some(state.or_else(home)?.join("hooks-agent/threads.db"))
    };
    named.or_else(of_user).ok_or_else(|| {
        "no file for the values of threads: write `--state threads.db`, or set `HOME`".into()
    })
}
