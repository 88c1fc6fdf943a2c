//! The content of a tape: its agents and their calls.

use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use hooks_agent_core::message::{Messages, Msg};
use hooks_agent_core::model::{ModelOptions, ToolSpec};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::TapeError;
use crate::format::{CallLine, EndLine, Key, Place, Tail, bytes_at, parse};
use crate::recording::call::RecordedCall;
use crate::recording::requests::Requests;

/// A tape that was read: its agents, and their calls.
///
/// Each line is read when the tape is opened, so that a tape that is cut or changed is an error here.
/// Messages, requests and answers stay in the file until they are needed: the memory grows with the
/// number of lines and not with their length. The file must stay as it is meanwhile.
///
/// ```
/// use hooks_agent::prelude::*;
/// use hooks_agent::replay::{Recording, Tape};
///
/// # futures::executor::block_on(async {
/// let folder = std::env::temp_dir().join(format!("tape-read-{}", std::process::id()));
/// std::fs::create_dir_all(&folder)?;
/// let path = folder.join("run.tape");
/// let tape = Tape::record(&path).open()?;
/// let model = ScriptedModel::new("fixed", |_| "Done.");
/// let agent = ReActAgent::builder("assistant").model(model).hook(tape.clone()).build()?;
/// agent.call("Go").await?;
/// tape.finish()?;
///
/// let recording = Recording::read(&path)?;
/// let call = &recording.calls()[0];
/// assert_eq!((call.run(), call.agent(), call.outcome()), ("r1", "assistant", "finished"));
/// assert_eq!(recording.messages(call)?.expect("the call has messages")[0].text(), "Go");
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
pub struct Recording {
    pub(super) path: PathBuf,
    pub(super) redacted: Vec<String>,
    pub(super) secrets: Option<u32>,
    pub(super) agents: Vec<RecordedAgent>,
    pub(super) calls: Vec<RecordedCall>,
    pub(super) entries: Vec<Entry>,
    /// Where lines may be appended.
    pub(super) end: Option<Tail>,
    pub(super) file: Mutex<File>,
    pub(super) requests: Mutex<Requests>,
}

/// An agent of a [`Recording`], as its requests describe it.
#[derive(Clone, Debug)]
pub struct RecordedAgent {
    pub(super) name: String,
    pub(super) model: String,
    pub(super) system_prompt: Option<String>,
    pub(super) tools: Vec<ToolSpec>,
    pub(super) options: ModelOptions,
    pub(super) max_iters: usize,
}

/// A call of a model or a tool on a tape.
#[derive(Debug)]
pub(crate) struct Entry {
    /// The index of the call of the agent.
    pub(crate) call: usize,
    pub(crate) key: Key,
    pub(crate) place: Place,
    pub(crate) step: Step,
}

/// Which step of its call an entry is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A call of the model.
    Model { round: u32, attempt: u32 },
    /// A call of a tool, the nth one that started.
    Tool { n: u32, id: String, name: String },
}

impl Step {
    pub(crate) fn is_model(&self) -> bool {
        matches!(self, Self::Model { .. })
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model { round, attempt: 0 } => write!(f, "round {round}"),
            Self::Model { round, attempt } => write!(f, "round {round} attempt {attempt}"),
            Self::Tool { id, name, .. } => write!(f, "{name} {id}"),
        }
    }
}

impl Recording {
    /// Returns the path of the tape.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the kinds of texts that were removed.
    #[must_use]
    pub fn redacted(&self) -> &[String] {
        &self.redacted
    }

    /// Returns the version of the table by which secrets were found. None if secrets were not looked for, or
    /// the tape is older than the table.
    #[must_use]
    pub fn secrets(&self) -> Option<u32> {
        self.secrets
    }

    /// Returns the agents, in the order of their first calls.
    #[must_use]
    pub fn agents(&self) -> &[RecordedAgent] {
        &self.agents
    }

    /// Returns the calls, in the order in which they began; those of sub-agents are among them.
    #[must_use]
    pub fn calls(&self) -> &[RecordedCall] {
        &self.calls
    }

    /// Reads the messages with which a call began. `None` if a hook answered before the tape received
    /// them.
    ///
    /// # Errors
    /// [`TapeError`] if the file was changed since it was opened.
    pub fn messages(&self, call: &RecordedCall) -> Result<Option<Messages>, TapeError> {
        let line: CallLine<Messages> = self.line(call.place)?;
        Ok(line.messages)
    }

    /// Reads the reply of a call. `None` if there is none.
    ///
    /// # Errors
    /// [`TapeError`] if the file was changed since it was opened.
    pub fn reply(&self, call: &RecordedCall) -> Result<Option<Msg>, TapeError> {
        let Some(end) = call.end else { return Ok(None) };
        let reply = self.reply_value(call)?.map(serde_json::from_value).transpose();
        reply.map_err(|error| TapeError::line(&self.path, end.line, error.to_string()))
    }

    pub(crate) fn reply_value(&self, call: &RecordedCall) -> Result<Option<Value>, TapeError> {
        let Some(end) = call.end else { return Ok(None) };
        let line: EndLine = self.line(end)?;
        Ok(line.reply)
    }

    /// Returns where lines may be appended. `None` for a tape of version 1.
    pub(crate) fn end(&self) -> Option<&Tail> {
        self.end.as_ref()
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Reads a line again, as one of its kind.
    pub(crate) fn line<T: DeserializeOwned>(&self, place: Place) -> Result<T, TapeError> {
        parse(&self.bytes(place)?, &self.path, place)
    }

    /// Reads the bytes of a line again.
    pub(crate) fn bytes(&self, place: Place) -> Result<Vec<u8>, TapeError> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        bytes_at(&mut file, &self.path, place)
    }
}

impl RecordedAgent {
    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the name of the model.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Returns the system prompt of the first request.
    #[must_use]
    pub fn system_prompt(&self) -> Option<&str> {
        self.system_prompt.as_deref()
    }

    /// Returns the tools of the first request, and those that ran besides, without a description.
    #[must_use]
    pub fn tools(&self) -> &[ToolSpec] {
        &self.tools
    }

    /// Returns the options of the first request.
    #[must_use]
    pub fn options(&self) -> &ModelOptions {
        &self.options
    }

    /// Returns the limit of rounds of the recorded calls, or one that they do not reach.
    #[must_use]
    pub fn max_iters(&self) -> usize {
        self.max_iters
    }
}

impl fmt::Debug for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recording")
            .field("path", &self.path)
            .field("agents", &self.agents)
            .field("calls", &self.calls.len())
            .field("entries", &self.entries.len())
            .finish_non_exhaustive()
    }
}
