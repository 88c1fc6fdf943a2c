//! `hooks-agent guard`: the hook of a coding agent.

use std::env;
use std::error::Error;
use std::io::{self, IsTerminal, Read};
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use hooks_agent_policy::policy::Policy;
use hooks_agent_serve::NotHeld;
use hooks_core::BoxError;

use crate::deadline::Deadline;
use crate::policies::PolicyArgs;
use crate::print::{BLOCKED, failed, print};
use crate::state::state_file;
use hooks_agent_guest::Guard;
use hooks_agent_guest::{Answer, Dialect, Received, Unread};
use hooks_agent_guest::{GuestThread, GuestThreads, GuestThreadsError};

/// The most bytes of an event.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// Decides about one event of a coding agent: reads it as JSON, runs the hooks of the policy, and
/// answers in the form of that agent.
///
/// What cannot be decided is blocked: a tool call is denied, a result is withheld, and at the end of a turn the
/// run ends. `hooks-agent check --agent NAME` says what an agent cannot be told.
#[derive(Args)]
pub(crate) struct GuardArgs {
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

impl GuardArgs {
    /// Opens the policy, unless it has limits that would not hold.
    pub(crate) fn policy(&self) -> Result<Policy, BoxError> {
        if self.policies.is_empty() {
            return Err("no policy file: write `hooks-agent guard --policy policy.toml`".into());
        }
        let policy = self.policies.builder().open()?;
        NotHeld::BY_A_GUARD.check(&policy.merged(), &self.name)?;
        Ok(policy)
    }

    /// Returns how many seconds the guard takes at most.
    pub(crate) const fn deadline(&self) -> u64 {
        self.deadline
    }
}

pub(super) fn run(args: &GuardArgs) -> ExitCode {
    keep_panics_short();
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

/// Says where the program panics, and nothing else: the text of a panic may quote what was to be guarded.
pub(super) fn keep_panics_short() {
    panic::set_hook(Box::new(|info| {
        if let Some(place) = info.location() {
            eprintln!("panicked at {place}");
        }
    }));
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

fn decide(args: &GuardArgs, mut received: Received) -> Result<Answer, BoxError> {
    let policy = args.policy()?;
    // A sub-agent has the limits of its caller too.
    if let Some(sub_agent) = received.input().agent_type.as_deref() {
        NotHeld::BY_A_GUARD.check(&policy.merged(), sub_agent)?;
    }
    let path = state_file(args.state.as_deref())?;
    let guard = Guard::new(policy.clone()).agent(args.name.as_str());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let decided: Result<_, GuestThreadsError> = runtime.block_on(async {
        let mut threads = GuestThreads::open(&path).await?;
        if let Some(parent) = received.parent_session().map(str::to_owned) {
            let session = received.input().session_id.clone();
            received.count_with(threads.outermost(&session, &parent).await?);
        }
        let session = received.input().session_id.clone();
        let answer = async |thread: &mut GuestThread| {
            if let Some(answer) = received.refused_canary(thread) {
                return answer;
            }
            received.answer(&guard, thread).await
        };
        threads.update(&session, answer).await
    });
    runtime.block_on(print_shadow(&policy));
    decided.map_err(|error| {
        let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
        format!("{}: {error}{cause}", path.display()).into()
    })
}

/// Says what hooks in shadow would have done.
pub(super) async fn print_shadow(policy: &Policy) {
    policy.shadow_caught_up().await;
    for (name, counts) in policy.shadow_counts() {
        if counts.divergences() > 0 {
            eprintln!("in shadow: {name}: {counts}");
        }
    }
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
