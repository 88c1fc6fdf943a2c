//! The hook that writes the log.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use hooks_core::{HookResult, HookRole};

use crate::observe::audit_log::error::AuditError;
use crate::observe::audit_log::file::files_of;
use crate::observe::audit_log::record::Record;
use crate::observe::audit_log::run::Run;
use crate::observe::audit_log::shared::Shared;
use crate::observe::audit_log::verify::{Verified, verify};
use hooks_agent_core::agent_hook;
use hooks_agent_core::event::{EventKind, EventMask, HookEvent};
use hooks_agent_core::hook::priority;

/// Writes what an agent does and what its hooks decide to a file, one JSON object per line, each with
/// the hash of the line before.
///
/// A line has `seq`, `time` (ms since 1970), `event`, `run`, `parent`, `thread`, `agent`, `agent_id`,
/// the fields of the event, `prev` and `hash`. Of the decisions of hooks it has:
///
/// | decision | fields |
/// |---|---|
/// | a tool call answered or refused | `outcome` (`answered`, `refused`), `by` (the hook), `why` |
/// | a tool call of this call changed | `changed` (the keys of its input), `asked_tool` (if the tool changed) |
/// | a question or a stop | `decisions`; in `POST_CALL` `pending`: tool call, `by`, `why`, `question` |
/// | a jump | `decisions` |
/// | an answer instead of the model | `is_answer_of_hook` |
/// | a hook that failed the call | `error`, `by` |
/// | the limit of rounds | `PRE_SUMMARY` with `rounds` and `limit` |
/// | what a hook [in shadow](hooks_agent_core::hook::AgentHookExt::in_shadow) would have done | `SHADOW` with `hook`, `at` (where), `tool_call`, `would` (`refuse`, `ask`, `change`, ..) |
///
/// # What is detected
/// [`verify`](AuditLog::verify) names the first line that was changed, removed, added or moved. A head
/// in `<path>.head`, written by [`close`](AuditLog::close), at each rotation, and when the last clone
/// is dropped, has the number of lines and the hash of the last one, so that removed last lines are
/// detected too.
///
/// What is not detected:
/// - without a key, a log that somebody writes anew as a whole, with its head;
/// - lines removed from the end that the head does not vouch for: after a kill, or if the head was
///   removed too. [`Verified::is_sealed`] is false then;
/// - a log and its head that are both replaced by an earlier state. Keep copies of heads elsewhere;
/// - with a key, what somebody does who has the key, such as this process.
///
/// A hash of short content can be guessed without a key.
///
/// | setting | default |
/// |---|---|
/// | [`key`](crate::observe::AuditLogBuilder::key) | none: SHA-256 |
/// | [`content`](crate::observe::AuditLogBuilder::content) | no: sizes and hashes |
/// | [`fail_fast`](crate::observe::AuditLogBuilder::fail_fast) | yes |
/// | [`rotate_at`](crate::observe::AuditLogBuilder::rotate_at) | never |
/// | [`sync_every_line`](crate::observe::AuditLogBuilder::sync_every_line) | no |
///
/// The reasons and questions of hooks are in the log also without content: they are what is audited.
///
/// # Order
/// The priority is 700, after [`LOGGING`](priority::LOGGING) and [`METRICS`](priority::METRICS), so
/// that lines have what other hooks decided and removed. With content, the role is
/// [`Observes`](HookRole::Observes), so that a plan warns if a redactor comes later. The hook also
/// runs in calls that hooks make inside of a call.
///
/// Of a call with a [journal](https://docs.rs/hooks-agent/latest/hooks_agent/guide/journal/index.html), each run writes what it does, and not what it
/// replays.
///
/// # Errors
/// An event that cannot be written fails the call, unless
/// [`fail_fast`](crate::observe::AuditLogBuilder::fail_fast) is off. Lines are written in the task of the call, one
/// after another. A line `SHADOW` is written when that hook has run, which may be after the call; if it cannot be written,
/// that is logged alone.
///
/// ```
/// use hooks_agent::builtin::observe::AuditLog;
/// use hooks_agent::prelude::*;
///
/// # let folder = std::env::temp_dir().join(format!("audit-doc-{}", std::process::id()));
/// # futures::executor::block_on(async {
/// let path = folder.join("audit.jsonl");
/// let log = AuditLog::builder(&path).key(*b"a key of 32 bytes, kept elsewhere").open()?;
/// let model = ScriptedModel::new("fixed", |_| "Done.");
/// let agent = ReActAgent::builder("assistant").model(model).hook(log.clone()).build()?;
/// agent.call("Go").await?;
/// log.close()?;
///
/// let verified = AuditLog::verify_with_key(&path, b"a key of 32 bytes, kept elsewhere")?;
/// assert!(verified.is_sealed() && verified.lines == 5);
///
/// let text = std::fs::read_to_string(&path)?;
/// std::fs::write(&path, text.replace("assistant", "nobody"))?;
/// let error = AuditLog::verify_with_key(&path, b"a key of 32 bytes, kept elsewhere").unwrap_err();
/// assert!(error.to_string().starts_with("line 2 of"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// # std::fs::remove_dir_all(folder).unwrap();
/// ```
#[derive(Clone)]
pub struct AuditLog {
    pub(super) shared: Arc<Shared>,
}

impl AuditLog {
    const EVENTS: EventMask = EventMask::of(&[
        EventKind::PreCall,
        EventKind::PreReasoning,
        EventKind::PostReasoning,
        EventKind::PreActing,
        EventKind::PostActing,
        EventKind::PreSummary,
        EventKind::PostSummary,
        EventKind::PostCall,
        EventKind::Error,
        EventKind::Settled,
    ]);

    /// The priority: after all hooks that change something.
    pub const PRIORITY: i32 = priority::METRICS + 100;

    /// Closes the log and writes its head. Closing twice is allowed.
    ///
    /// # Errors
    /// [`AuditError::Io`] if the head cannot be written. The log is closed anyway.
    pub fn close(&self) -> Result<(), AuditError> {
        self.shared.close()
    }

    /// Verifies a log without a key: its rotated files, the file, and its head.
    ///
    /// # Errors
    /// The first line that is not as it was written, or not where. [`AuditError::Io`] if a file
    /// cannot be read.
    pub fn verify(path: impl AsRef<Path>) -> Result<Verified, AuditError> {
        let path = path.as_ref();
        verify(&files_of(path)?, path, None)
    }

    /// Verifies a log with a key.
    ///
    /// # Errors
    /// Those of [`verify`](AuditLog::verify). With another key, the first line counts as changed.
    pub fn verify_with_key(
        path: impl AsRef<Path>,
        key: impl AsRef<[u8]>,
    ) -> Result<Verified, AuditError> {
        let path = path.as_ref();
        verify(&files_of(path)?, path, Some(key.as_ref()))
    }

    /// Verifies the files of a log wherever they are, oldest first; the head is that of the last one.
    ///
    /// # Errors
    /// Those of [`verify_with_key`](AuditLog::verify_with_key).
    pub fn verify_files<P: AsRef<Path>>(
        paths: &[P],
        key: Option<&[u8]>,
    ) -> Result<Verified, AuditError> {
        let files: Vec<PathBuf> = paths.iter().map(|path| path.as_ref().to_owned()).collect();
        let log = files.last().cloned().unwrap_or_default();
        verify(&files, &log, key)
    }

    fn write(&self, event: &HookEvent<'_>) -> Result<(), AuditError> {
        let Shared { file, seal, has_content, .. } = &*self.shared;
        let run = event.context().hook_state::<Mutex<Run>>(Arc::as_ptr(&self.shared).addr());
        let mut run = run.lock().unwrap_or_else(PoisonError::into_inner);
        let fields = Record::of(event, &mut run, seal, *has_content);
        drop(run);
        // A replayed event is kept for what follows it; its line was written by an earlier run.
        let Some(fields) = fields.filter(|_| !event.is_replayed()) else { return Ok(()) };
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        file.as_mut().ok_or(AuditError::Closed)?.append(&fields)
    }
}

#[agent_hook(priority = Self::PRIORITY,
    always,
    events = Self::EVENTS,
    role = self.shared.has_content.then_some(HookRole::Observes),
    watcher = |hook: &Self| Some(hook.shared.clone())
)]
impl AuditLog {
    fn record(&self, event: &HookEvent<'_>) -> HookResult {
        match self.write(event) {
            Ok(()) => {}
            Err(error) if self.shared.fails_fast => return Err(error.into()),
            Err(error) => {
                let (event, error) = (event.kind().name(), &error as &dyn std::error::Error);
                tracing::warn!(target: "hooks_agent::builtin::observe", error, event, "an event is not in the audit log");
            }
        }
        Ok(())
    }
}

impl fmt::Debug for AuditLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuditLog")
            .field("has_content", &self.shared.has_content)
            .field("fails_fast", &self.shared.fails_fast)
            .finish_non_exhaustive()
    }
}
