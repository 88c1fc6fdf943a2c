//! `hooks-agent guard`: the hook of a coding agent.

use std::env;
use std::error::Error;
use std::io::{self, IsTerminal, Read, Write};
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use hooks_agent_policy::policy::Merged;
use hooks_core::BoxError;

use crate::cli::deadline::Deadline;
use crate::cli::failed;
use crate::cli::policies::PolicyArgs;
use crate::dialect::{Answer, Dialect, Received, Unread};
use crate::guard::Guard;
use crate::threads::{GuestThreads, GuestThreadsError};

/// The most bytes of an event.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// The exit code by which most coding agents block their event.
const BLOCKED: u8 = 2;

/// Hooks that a guard cannot hold: they count in their process, or need what a coding agent does not report.
const NOT_HELD: [&str; 6] =
    ["budget", "mcp_pins", "model_call_limit", "provenance", "quotas", "rate_limit"];

/// Decides about one event of a coding agent: reads it as JSON, runs the hooks of the policy, and
/// answers in the form of that agent.
///
/// What cannot be decided is blocked: a tool call is denied, a result is withheld, and at the end of a turn the
/// run ends. `hooks-agent check --agent NAME` says what an agent cannot be told.
#[derive(Args)]
pub(super) struct GuardArgs {
    #[command(flatten)]
    policies: PolicyArgs,
    /// The SQLite file in which hooks keep values of threads. Without it, `HOOKS_AGENT_STATE`, else
    /// `hooks-agent/threads.db` where programs of the user keep their state.
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// The agent whose events these are, such as `claude` or `codex`. Without it, the program tells by the event.
    #[arg(long, value_name = "AGENT")]
    agent: Option<Dialect>,
    /// The event that is decided about. Another one is refused.
    #[arg(long, value_name = "EVENT")]
    event: Option<String>,
    /// The name of the agent, which policies match.
    #[arg(long, value_name = "NAME", default_value = Guard::DEFAULT_AGENT)]
    name: String,
    /// How many seconds the guard takes at most; then the event is blocked. Less than the time limit of the agent.
    #[arg(long, value_name = "SECONDS", default_value_t = 20)]
    deadline: u64,
}

pub(super) fn run(args: &GuardArgs) -> ExitCode {
    // The text of a panic may quote what was to be guarded.
    panic::set_hook(Box::new(|info| {
        if let Some(place) = info.location() {
            eprintln!("panicked at {place}");
        }
    }));
    let event = args.event.as_deref();
    let late = Unread::named(io::empty(), args.agent, event, "the guard took too long").answer();
    let deadline = Deadline::start(args.deadline, late);
    let received = read(io::stdin().lock(), args.agent, event);
    let received = match received {
        Ok(received) => received,
        Err(unread) => {
            let answer = unread.answer();
            if answer.error.is_none() {
                eprintln!("{unread}");
            }
            return deadline.end(&answer);
        }
    };
    if let Some(answer) = received.without_hooks() {
        return deadline.end(&answer);
    }
    deadline.set(received.unchecked());
    let unchecked = received.unchecked();
    let answer = match catch_unwind(AssertUnwindSafe(|| decide(args, received))) {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => {
            failed(&*error, BLOCKED);
            unchecked
        }
        Err(_) => {
            eprintln!("the guard panicked");
            unchecked
        }
    };
    deadline.end(&answer)
}

/// Blocks the event of a guard whose arguments are wrong.
pub(super) fn unparsed() -> ExitCode {
    // A person who tries the program has no event.
    if io::stdin().is_terminal() {
        return ExitCode::from(BLOCKED);
    }
    let args: Vec<_> = env::args().collect();
    let of = |name: &str| {
        let place = args.iter().position(|arg| arg == name)?;
        args.get(place + 1).cloned()
    };
    let agent = of("--agent").and_then(|name| name.parse().ok());
    let reason = "the arguments of the guard are wrong";
    let unread = Unread::named(io::stdin().lock(), agent, of("--event").as_deref(), reason);
    print(&unread.answer())
}

/// Prints an answer, and returns the exit code. An answer that nobody can read blocks.
pub(super) fn print(answer: &Answer) -> ExitCode {
    if let Some(error) = &answer.error {
        // Nothing can be done about an output that is closed.
        let _ = writeln!(io::stderr(), "{error}");
    }
    let Some(json) = &answer.json else { return ExitCode::from(answer.code) };
    let mut out = io::stdout().lock();
    match writeln!(out, "{json}").and_then(|()| out.flush()) {
        Ok(()) => ExitCode::from(answer.code),
        Err(error) => failed(&error, BLOCKED),
    }
}

fn decide(args: &GuardArgs, mut received: Received) -> Result<Answer, BoxError> {
    if args.policies.is_empty() {
        return Err("no policy file: write `hooks-agent guard --policy policy.toml`".into());
    }
    let policy = args.policies.builder().open()?;
    // A sub-agent has the limits of its caller too.
    let sub_agent = received.input().agent_type.as_deref();
    for name in [Some(args.name.as_str()), sub_agent].into_iter().flatten() {
        refuse_limits_not_held(&policy.merged(), name)?;
    }
    let path = state_file(args)?;
    let guard = Guard::new(policy.clone()).agent(args.name.as_str());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let decided: Result<_, GuestThreadsError> = runtime.block_on(async {
        let mut threads = GuestThreads::open(&path).await?;
        if let Some(parent) = received.parent_session().map(str::to_owned) {
            let session = received.input().session_id.clone();
            received.count_with(threads.outermost(&session, &parent).await?);
        }
        let thread = received.input().session_id.clone();
        threads.update(&thread, async |thread| received.answer(&guard, thread).await).await
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

fn read(
    mut from: impl Read,
    agent: Option<Dialect>,
    event: Option<&str>,
) -> Result<Received, Unread> {
    let mut text = Vec::new();
    if let Err(error) = from.by_ref().take(MOST_BYTES + 1).read_to_end(&mut text) {
        return Err(Unread::named(&*text, agent, event, error.to_string()));
    }
    if text.len() as u64 > MOST_BYTES {
        let error = format!("the event has more than {MOST_BYTES} bytes");
        return Err(Unread::named(text.chain(from), agent, event, error));
    }
    Received::read(&text, agent, event)
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
