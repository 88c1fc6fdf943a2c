//! The file of a recording.

use std::fs::{File, create_dir_all, remove_file, rename};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::json;

use crate::replay::TapeError;
use crate::replay::format::{FORMAT, VERSION, line_of};
use crate::replay::redact::Redactor;
use crate::replay::runs::At;

/// What a recording writes to, and what it redacts first.
#[derive(Debug)]
pub(in crate::replay) struct Recorder {
    pub(in crate::replay) writer: Writer,
    pub(in crate::replay) redactor: Arc<Redactor>,
}

impl Recorder {
    /// Writes a line of a call, or keeps the error for the end.
    pub(in crate::replay) fn write(&self, at: &At, line: Result<String, TapeError>) {
        match line {
            Ok(line) => self.writer.write(&at.lane.agent, &line),
            Err(error) => self.writer.fail(error),
        }
    }
}

/// Writes lines to a temporary file, which takes the place of the tape at the end.
#[derive(Debug)]
pub(in crate::replay) struct Writer {
    path: PathBuf,
    redacted: Vec<String>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    out: Option<BufWriter<File>>,
    /// The file that becomes the tape. A tape that is no regular file is written directly.
    temporary: Option<PathBuf>,
    has_header: bool,
    has_lines: bool,
    failure: Option<TapeError>,
}

impl Writer {
    /// Creates the file beside the tape. If `appends`, it begins with the lines of the tape.
    pub(in crate::replay) fn create(
        path: &Path,
        appends: bool,
        redacted: Vec<String>,
    ) -> Result<Self, TapeError> {
        let failed = || TapeError::io(path, "created");
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            create_dir_all(folder).map_err(failed())?;
        }
        // The file that a link names is replaced, not the link.
        let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let known = target.metadata().ok();
        if known.as_ref().is_some_and(std::fs::Metadata::is_dir) {
            return Err(failed()(io::ErrorKind::IsADirectory.into()));
        }
        let (file, temporary) = if known.is_some_and(|known| !known.is_file()) {
            (File::options().write(true).open(&target).map_err(failed())?, None)
        } else {
            let (file, temporary) = beside(&target).map_err(failed())?;
            (file, Some(temporary))
        };
        let mut state = State {
            out: Some(BufWriter::new(file)),
            temporary,
            has_header: appends,
            has_lines: false,
            failure: None,
        };
        if appends {
            let copied = File::open(&target).and_then(|mut tape| {
                io::copy(&mut tape, state.out.as_mut().expect("it was just opened"))
            });
            if let Err(error) = copied {
                state.discard();
                return Err(TapeError::io(path, "read")(error));
            }
        }
        Ok(Self { path: target, redacted, state: Mutex::new(state) })
    }

    /// Writes a line. The first failure is kept for the end, and reported through `tracing`.
    pub(in crate::replay) fn write(&self, agent: &str, text: &str) {
        let mut state = self.state();
        if state.failure.is_some() {
            return;
        }
        let header = (!state.has_header).then(|| self.header(agent));
        let Some(out) = &mut state.out else {
            self.keep(&mut state, TapeError::Finished { path: self.path.clone() });
            return;
        };
        let header = header.unwrap_or_default();
        let written =
            out.write_all(header.as_bytes()).and_then(|()| out.write_all(text.as_bytes()));
        match written {
            Ok(()) => (state.has_header, state.has_lines) = (true, true),
            Err(error) => self.keep(&mut state, TapeError::io(&self.path, "written")(error)),
        }
    }

    /// Keeps the error of a line that was not written.
    pub(in crate::replay) fn fail(&self, error: TapeError) {
        let mut state = self.state();
        self.keep(&mut state, error);
    }

    fn keep(&self, state: &mut State, error: TapeError) {
        if state.failure.is_none() {
            let cause = &error as &dyn std::error::Error;
            tracing::warn!(tape = %self.path.display(), error = cause, "a tape is incomplete");
            state.failure = Some(error);
        }
    }

    fn header(&self, agent: &str) -> String {
        line_of(&json!({
            "agent": agent,
            "format": FORMAT,
            "redacted": self.redacted,
            "t": "header",
            "version": VERSION,
        }))
    }

    /// Returns whether the recording is finished.
    pub(in crate::replay) fn is_finished(&self) -> bool {
        self.state().out.is_none()
    }

    /// Writes what is left and puts the file in the place of the tape. After a failure, the tape stays
    /// as it was.
    pub(in crate::replay) fn finish(&self, agent: &str) -> Result<(), TapeError> {
        let header = self.header(agent);
        let mut state = self.state();
        if let Some(failure) = &state.failure {
            let failure = failure.clone();
            state.discard();
            return Err(failure);
        }
        let Some(mut out) = state.out.take() else { return Ok(()) };
        if state.has_header && !state.has_lines {
            // Nothing was appended.
            state.discard();
            return Ok(());
        }
        let header = if state.has_header { String::new() } else { header };
        let temporary = state.temporary.clone();
        let finished = out.write_all(header.as_bytes()).and_then(|()| out.flush()).and_then(|()| {
            let Some(temporary) = temporary else { return Ok(()) };
            out.get_ref().sync_all()?;
            rename(temporary, &self.path)
        });
        if let Err(error) = finished {
            self.keep(&mut state, TapeError::io(&self.path, "written")(error));
            state.discard();
            return state.failure.clone().map_or(Ok(()), Err);
        }
        state.temporary = None;
        Ok(())
    }

    /// Drops what was written.
    pub(in crate::replay) fn discard(&self) {
        self.state().discard();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn discard(&mut self) {
        if let Some(out) = self.out.take() {
            // Without another attempt to write what is left.
            drop(out.into_parts());
        }
        if let Some(temporary) = self.temporary.take() {
            // What cannot be removed is a file beside the tape, and not the tape.
            let _ = remove_file(temporary);
        }
    }
}

/// Creates a file beside the tape.
fn beside(path: &Path) -> io::Result<(File, PathBuf)> {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let beside = path.with_file_name(format!(".{name}.{}-{number}.tmp", std::process::id()));
        match File::create_new(&beside) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => return Ok((created?, beside)),
        }
    }
}
