//! Builds and opens a tape.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::TapeError;
use crate::player::Player;
use crate::recorder::{Recorder, Writer};
use crate::recording::Recording;
use crate::redact::{Patterns, Redact, Redactor};
use crate::tape::{Miss, Settings, Shared, Tape};

/// Builds a [`Tape`].
#[must_use]
pub struct TapeBuilder {
    path: PathBuf,
    mode: Mode,
    finders: Vec<Arc<dyn Redact>>,
    settings: Settings,
}

/// What is done with a tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Once,
    Record,
    Replay,
    Append,
    Until(usize),
}

/// The environment variable that overrides the mode of every tape.
const VARIABLE: &str = "HOOKS_TAPE";

impl Tape {
    /// Starts a tape that records. The lines go to a file beside it, which takes its place when the
    /// recording is [finished](Tape::finish): until then, an earlier tape stays as it is.
    pub fn record(path: impl AsRef<Path>) -> TapeBuilder {
        TapeBuilder::new(path.as_ref(), Mode::Record)
    }

    /// Starts a tape that replays, for tests: no model is asked, no tool runs, and what the tape does not
    /// have fails the call.
    pub fn replay(path: impl AsRef<Path>) -> TapeBuilder {
        TapeBuilder::new(path.as_ref(), Mode::Replay)
    }

    /// Starts a tape that replays if there is a file, and else records: the mode to begin with. A file
    /// that cannot be read is an error, and is not replaced.
    pub fn once(path: impl AsRef<Path>) -> TapeBuilder {
        TapeBuilder::new(path.as_ref(), Mode::Once)
    }

    /// Starts a tape that replays what it has, and records what it does not have.
    pub fn append(path: impl AsRef<Path>) -> TapeBuilder {
        TapeBuilder::new(path.as_ref(), Mode::Append)
    }

    /// Starts a tape that replays its first `entries` calls of models and tools, as the file has them;
    /// from there on, the model is asked and tools run. The file stays as it is.
    pub fn replay_until(path: impl AsRef<Path>, entries: usize) -> TapeBuilder {
        TapeBuilder::new(path.as_ref(), Mode::Until(entries))
    }
}

impl TapeBuilder {
    fn new(path: &Path, mode: Mode) -> Self {
        Self {
            path: path.to_owned(),
            mode,
            finders: default_finders(),
            settings: Settings::default(),
        }
    }

    /// Adds a finder of texts that must not be on the tape. The default ones are
    /// [`Patterns::emails`] and [`Patterns::secrets`]. A replay needs the finders of the recording.
    pub fn redact(mut self, finder: impl Redact) -> Self {
        self.finders.push(Arc::new(finder));
        self
    }

    /// Removes all finders: the texts are on the tape as they are.
    pub fn keep_texts(mut self) -> Self {
        self.finders.clear();
        self
    }

    /// Makes a replay fail at the first call that is not on the tape exactly as it is, with the entry that
    /// is most like it; [`finish`](Tape::finish) then fails if entries are left.
    pub fn strict(mut self) -> Self {
        self.settings.is_strict = true;
        self
    }

    /// Sets tools that run in a replay. What the tape has of them is not used.
    pub fn live_tools<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.settings.live_tools.extend(names.into_iter().map(Into::into));
        self
    }

    /// Makes answers of models and tools come after the time that they took. Requires a runtime of tokio
    /// with time enabled.
    pub fn timed(mut self) -> Self {
        self.settings.is_timed = true;
        self
    }

    /// Opens the tape. The environment variable `HOOKS_TAPE` overrides the mode: `once`, `record`,
    /// `replay` or `append`.
    ///
    /// # Errors
    /// [`TapeError`] if there is no tape to replay, it cannot be read or was redacted otherwise, the file
    /// of a recording cannot be created, or `HOOKS_TAPE` is no mode.
    pub fn open(self) -> Result<Tape, TapeError> {
        let Self { path, mode, finders, mut settings } = self;
        let mode = match std::env::var_os(VARIABLE) {
            Some(value) => mode_of(&value.to_string_lossy())?,
            None => mode,
        };
        let redactor = Arc::new(Redactor::new(finders));
        let kinds = redactor.kinds();
        let exists = || path.symlink_metadata().is_ok();
        let (replays, records, limit) = match mode {
            Mode::Once => (exists(), !exists(), usize::MAX),
            Mode::Record => (false, true, 0),
            Mode::Replay => (true, false, usize::MAX),
            Mode::Append => (exists(), true, usize::MAX),
            Mode::Until(entries) => (true, false, entries),
        };
        let recording = if replays { Some(Recording::read_entries(&path, limit)?) } else { None };
        if let Some(recording) = recording.as_ref().filter(|it| *it.redacted() != *kinds) {
            let recorded = recording.redacted().to_vec();
            return Err(TapeError::Redaction { path, recorded, now: kinds });
        }
        let newer = recording.as_ref().and_then(Recording::secrets).zip(redactor.version());
        if let Some((recorded, now)) = newer.filter(|(recorded, now)| recorded > now) {
            let reason = format!(
                "its secrets were found by version {recorded} of the table, this program has {now}: \
                 use a newer program"
            );
            return Err(TapeError::line(&path, 1, reason));
        }
        settings.miss = match mode {
            Mode::Append => Miss::Live { by_step: false },
            Mode::Until(_) => Miss::Live { by_step: true },
            _ => Miss::Fail,
        };
        let named = recording.as_ref().map_or(0, |recording| recording.calls().len());
        let recorder = if records {
            let end = recording.as_ref().map(|recording| recording.end().ok_or(recording.path()));
            let end = end.transpose().map_err(|path| {
                let reason =
                    "its version is 1, which is replayed and takes no more lines: record it again";
                TapeError::line(path, 1, reason)
            })?;
            let writer = Writer::create(&path, end, kinds, redactor.version())?;
            Some(Arc::new(Recorder { writer, redactor: redactor.clone() }))
        } else {
            None
        };
        let player = recording.map(Player::new);
        Ok(Tape::of(Shared::new(settings, redactor, player, recorder, named)))
    }
}

/// Opens a replay of a recording that goes on without a result of a tool. It redacts of the default kinds
/// those that the recording is redacted of: one that has its texts is compared as it is. What other
/// finders found is not on the tape, so they would find nothing here.
pub(super) fn lenient(recording: Recording) -> Tape {
    let is_redacted =
        |finder: &Patterns| finder.kinds().iter().all(|kind| recording.redacted().contains(kind));
    let finders = [Patterns::emails(), Patterns::secrets()].into_iter().filter(is_redacted);
    let finders = finders.map(|finder| Arc::new(finder) as Arc<dyn Redact>).collect();
    let settings = Settings { miss: Miss::LenientTools, ..Settings::default() };
    let player = Some(Player::new(recording));
    Tape::of(Shared::new(settings, Arc::new(Redactor::new(finders)), player, None, 0))
}

/// What a tape redacts unless the program says otherwise.
pub(crate) fn default_finders() -> Vec<Arc<dyn Redact>> {
    vec![Arc::new(Patterns::emails()), Arc::new(Patterns::secrets())]
}

fn mode_of(value: &str) -> Result<Mode, TapeError> {
    match value {
        "once" => Ok(Mode::Once),
        "record" => Ok(Mode::Record),
        "replay" => Ok(Mode::Replay),
        "append" => Ok(Mode::Append),
        _ => Err(TapeError::Mode { value: value.to_owned() }),
    }
}

impl fmt::Debug for TapeBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TapeBuilder")
            .field("path", &self.path)
            .field("mode", &self.mode)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
