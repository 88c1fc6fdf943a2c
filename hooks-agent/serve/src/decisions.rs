//! Decides about events, with one policy and the threads in memory.

use std::collections::BTreeSet;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use hooks_agent_guest::{Answer, Dialect, Guard, GuestThreadsError, LiveThreads, Received, Unread};
use hooks_agent_policy::policy::Policy;
use hooks_core::BoxError;
use tokio::time::timeout;

use crate::error::ServeError;
use crate::limits::NotHeld;

/// How long a decision takes at most, unless the program says it.
const DEADLINE: Duration = Duration::from_secs(20);

/// How many names of agents are remembered, and how long they are at most.
const MOST_NAMES: usize = 1_000;
const LONGEST_NAME: usize = 256;

/// Decides about events of coding agents: what `hooks-agent guard` does with one, without a process for each.
///
/// Threads are kept in memory and written together, many changes with one commit, to a file that no other process uses
/// meanwhile. A process that is killed loses what the last 20 milliseconds changed, unless answers
/// [wait](Self::wait_for_disk) for it.
///
/// ```
/// use hooks_agent::policy::Policy;
/// use hooks_agent::serve::Decisions;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = std::env::temp_dir().join(format!("hooks-agent-serve-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let file = folder.join("policy.toml");
/// std::fs::write(&file, "version = 1\n[limits]\ndeny_tools = [\"Bash\"]\n")?;
/// let policy = Policy::builder().project(file).open()?;
/// let decisions = Decisions::open(policy, folder.join("threads.db")).await?;
///
/// let event = br#"{"session_id": "s", "turn_id": "t", "hook_event_name": "PreToolUse", "tool_name": "Bash",
///     "tool_input": {"command": "ls"}}"#;
/// let answer = decisions.decide(event, Some("codex".parse()?), None).await;
/// assert_eq!(answer.json.unwrap()["hookSpecificOutput"]["permissionDecision"], "deny");
/// decisions.close().await?;
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use = "it decides when it is asked"]
pub struct Decisions(Arc<Shared>);

struct Shared {
    policy: Policy,
    name: Arc<str>,
    guard: Guard,
    threads: LiveThreads,
    deadline: Duration,
    waits_for_disk: bool,
    held: Mutex<Held>,
}

/// The agents for which the limits of a version of the policy hold.
#[derive(Default)]
struct Held {
    version: u64,
    names: BTreeSet<Arc<str>>,
}

impl Decisions {
    /// Opens the file of threads, for this process alone.
    ///
    /// # Errors
    /// [`ServeError::State`], or [`ServeError::Policy`] if the policy has limits that a guard cannot hold.
    pub async fn open(policy: Policy, state: impl AsRef<Path> + Send) -> Result<Self, ServeError> {
        let state = state.as_ref();
        let threads = LiveThreads::open(state).await;
        let threads =
            threads.map_err(|source| ServeError::State { path: state.to_owned(), source })?;
        let shared = Shared {
            guard: Guard::new(policy.clone()),
            name: Guard::DEFAULT_AGENT.into(),
            policy,
            threads,
            deadline: DEADLINE,
            waits_for_disk: false,
            held: Mutex::default(),
        };
        shared.refuse_limits_not_held(&shared.name).map_err(ServeError::Policy)?;
        Ok(Self(Arc::new(shared)))
    }

    /// Sets the name of the agent, which policies match.
    ///
    /// # Errors
    /// [`ServeError::Policy`] if the policy has limits for it that a guard cannot hold.
    ///
    /// # Panics
    /// If it was cloned before.
    pub fn agent(mut self, name: impl Into<Arc<str>>) -> Result<Self, ServeError> {
        let shared = self.shared();
        shared.name = name.into();
        shared.guard = Guard::new(shared.policy.clone()).agent(shared.name.clone());
        shared.refuse_limits_not_held(&shared.name).map_err(ServeError::Policy)?;
        Ok(self)
    }

    /// Sets how long a decision takes at most, 20 seconds unless it is set; then the event is blocked.
    ///
    /// # Panics
    /// If it was cloned before.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.shared().deadline = deadline;
        self
    }

    /// Has each answer wait until what it changed is on the disk.
    ///
    /// # Panics
    /// If it was cloned before.
    pub fn wait_for_disk(mut self, waits: bool) -> Self {
        self.shared().waits_for_disk = waits;
        self
    }

    fn shared(&mut self) -> &mut Shared {
        Arc::get_mut(&mut self.0).expect("settings are made before it is cloned")
    }

    /// Decides about an event, in the form of its agent. What cannot be decided is blocked, and the reason is a warning of
    /// `tracing`.
    ///
    /// # Cancellation
    /// If the future is dropped, nothing of the thread has changed.
    pub async fn decide(&self, event: &[u8], agent: Option<Dialect>, name: Option<&str>) -> Answer {
        match Received::read(event, agent, name) {
            Ok(received) => self.decided(received).await,
            Err(unread) => blocked(&unread),
        }
    }

    async fn decided(&self, received: Received) -> Answer {
        if let Some(answer) = received.without_hooks() {
            return answer;
        }
        let unchecked = received.unchecked();
        let decided = AssertUnwindSafe(self.with_thread(received)).catch_unwind();
        let why = match timeout(self.0.deadline, decided).await {
            Ok(Ok(Ok(answer))) => return answer,
            Ok(Ok(Err(error))) => {
                let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
                format!("{error}{cause}")
            }
            Ok(Err(_)) => "a hook panicked".to_owned(),
            Err(_) => format!("a decision took longer than {:?}", self.0.deadline),
        };
        tracing::warn!(target: "hooks_agent::serve", "an event is blocked: {why}");
        unchecked
    }

    async fn with_thread(&self, mut received: Received) -> Result<Answer, BoxError> {
        let Shared { threads, guard, name, .. } = &*self.0;
        self.0.refuse_limits_not_held(name)?;
        // A sub-agent has the limits of its caller too.
        if let Some(sub_agent) = received.input().agent_type.as_deref() {
            self.0.refuse_limits_not_held(sub_agent)?;
        }
        if let Some(parent) = received.parent_session().map(str::to_owned) {
            let session = received.input().session_id.clone();
            received.count_with(threads.outermost(&session, &parent).await?);
        }
        let session = received.input().session_id.clone();
        let answer = threads
            .update(&session, async |thread| match received.refused_canary(thread) {
                Some(answer) => answer,
                None => received.answer(guard, thread).await,
            })
            .await?;
        if self.0.waits_for_disk {
            threads.durable().await?;
        }
        Ok(answer)
    }

    /// Writes what has changed to the file, until it is dropped: a task of the program does it.
    pub async fn write_changes(&self) {
        self.0.threads.write_changes().await;
    }

    /// Writes what has changed to the file, once.
    ///
    /// # Errors
    /// [`GuestThreadsError::File`] if it cannot be written.
    pub async fn close(&self) -> Result<(), GuestThreadsError> {
        self.0.threads.save().await
    }
}

impl Shared {
    /// Looks at the limits of each version of the policy once an agent.
    fn refuse_limits_not_held(&self, agent: &str) -> Result<(), BoxError> {
        let version = self.policy.version();
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.version != version {
            *held = Held { version, names: BTreeSet::new() };
        }
        if held.names.contains(agent) {
            return Ok(());
        }
        NotHeld::BY_A_GUARD.check(&self.policy.merged(), agent)?;
        // Names of sub-agents come with events, so nothing bounds them.
        if held.names.len() >= MOST_NAMES {
            held.names.clear();
        }
        if agent.len() <= LONGEST_NAME {
            held.names.insert(agent.into());
        }
        Ok(())
    }
}

/// Blocks an event that cannot be read.
pub(crate) fn blocked(unread: &Unread) -> Answer {
    tracing::warn!(target: "hooks_agent::serve", "an event is blocked: {unread}");
    unread.answer()
}

impl fmt::Debug for Decisions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decisions").field("agent", &self.0.name).finish_non_exhaustive()
    }
}
