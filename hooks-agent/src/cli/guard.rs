//! `agent-hooks guard`: the hook of a coding agent.

use std::env;
use std::error::Error;
use std::io::{self, Read, Write};
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use hooks_core::BoxError;

use crate::cli::failed;
use crate::cli::policies::PolicyArgs;
use crate::command::{CommandEvent, Input, Output};
use crate::guest::{Guard, GuestThreads, GuestThreadsError, withheld};
use crate::policy::Merged;

/// The most bytes of an event.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// The exit code by which a coding agent blocks its event.
const BLOCKED: u8 = 2;

/// Limits that a guard cannot hold: they count in their process, or what a coding agent does not report.
const NOT_HELD: [&str; 3] = ["budget", "model_call_limit", "rate_limit"];

/// Decides about one event of a coding agent: reads it as JSON, runs the hooks of the policy, and
/// answers as the hook of the agent.
///
/// What cannot be decided is blocked, with exit code 2; a result of a tool is withheld. An event that the
/// program does not know passes, with a warning on standard error.
#[derive(Args)]
pub(super) struct GuardArgs {
    #[command(flatten)]
    policies: PolicyArgs,
    /// The SQLite file in which hooks keep values of threads. Without it, `AGENT_HOOKS_STATE`, else
    /// `agent-hooks/threads.db` where programs of the user keep their state.
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
        Err(error) => return failed(&*error, BLOCKED),
    };
    let blocked = match catch_unwind(AssertUnwindSafe(|| decide(args, &input))) {
        Ok(Ok(output)) => return answer(&output),
        Ok(Err(error)) => failed(&*error, BLOCKED),
        Err(_) => {
            eprintln!("the guard panicked");
            ExitCode::from(BLOCKED)
        }
    };
    // The tool has run: an exit code does not keep its result from the model.
    match input.hook_event_name.parse() {
        Ok(CommandEvent::PostToolUse) => answer(&withheld("the guard could not check the result")),
        _ => blocked,
    }
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
        return Err("no policy file: write `agent-hooks guard --policy policy.toml`".into());
    }
    let policy = args.policies.builder().open()?;
    let name = input.agent_type.as_deref().unwrap_or(&args.agent);
    refuse_limits_not_held(&policy.merged(), name)?;
    let path = state_file(args)?;
    let guard = Guard::new(policy).agent(args.agent.as_str());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let decided: Result<_, GuestThreadsError> = runtime.block_on(async {
        let mut threads = GuestThreads::open(&path).await?;
        threads.update(&input.session_id, async |thread| guard.decide(input, thread).await).await
    });
    decided.map_err(|error| {
        let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
        format!("{}: {error}{cause}", path.display()).into()
    })
}

fn read(from: impl Read) -> Result<Input, BoxError> {
    let mut text = Vec::new();
    from.take(MOST_BYTES + 1).read_to_end(&mut text)?;
    if text.len() as u64 > MOST_BYTES {
        return Err(format!("the event has more than {MOST_BYTES} bytes").into());
    }
    let input: Input = serde_json::from_slice(&text).map_err(|error| {
        let (line, column) = (error.line(), error.column().max(1));
        format!(
            "standard input is no event, at line {line}, column {column}: expected a JSON object"
        )
    })?;
    for (name, value) in
        [("hook_event_name", &input.hook_event_name), ("session_id", &input.session_id)]
    {
        if value.is_empty() {
            return Err(format!("the event has no `{name}`").into());
        }
    }
    if let Err(unknown) = input.hook_event_name.parse::<CommandEvent>() {
        let name = &unknown.name;
        match unknown.near() {
            Some(near) => {
                return Err(format!("unknown event `{name}`, did you mean `{near}`?").into());
            }
            None => eprintln!("the event `{}` is not known, so it passes", name.escape_debug()),
        }
    }
    Ok(input)
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
                "a guard cannot hold the limits {names}: it counts no model calls and no time; \
                 keep them from `{agent}` by `agents`"
            );
            Err(reason.into())
        }
    }
}

fn state_file(args: &GuardArgs) -> Result<PathBuf, BoxError> {
    let of_program = || env::var_os("AGENT_HOOKS_STATE").map(PathBuf::from);
    let named = args.state.clone().or_else(of_program);
    let of_user = || {
        let state = env::var_os("XDG_STATE_HOME").map(PathBuf::from);
        let home = || env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/state"));
        Some(state.or_else(home)?.join("agent-hooks/threads.db"))
    };
    named.or_else(of_user).ok_or_else(|| {
        "no file for the values of threads: write `--state threads.db`, or set `HOME`".into()
    })
}
