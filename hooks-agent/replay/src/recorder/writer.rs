//! The file of a recording.

use std::fs::{File, create_dir_all, remove_file, rename};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::TapeError;
use crate::format::{Chain, Tail};
use crate::recorder::lines::{close_line, header_line};
use crate::redact::Redactor;
use crate::runs::At;

/// What a recording writes to, and what it redacts first.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) writer: Writer,
    pub(crate) redactor: Arc<Redactor>,
}

impl Recorder {
    /// Writes a line of a call and returns its number, or keeps the error for the end.
    pub(crate) fn write(&self, at: &At, line: Result<String, TapeError>) -> Option<usize> {
        match line {
            Ok(line) => self.writer.write(&at.lane.agent, &line),
            Err(error) => {
                self.writer.fail(error);
                None
            }
        }
    }
}

/// Writes lines to a temporary file, which takes the place of the tape at the end.
#[derive(Debug)]
pub(crate) struct Writer {
    path: PathBuf,
    redacted: Vec<String>,
    /// The version of the table of secrets.
    secrets: Option<u32>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    out: Option<BufWriter<File>>,
    /// The file that becomes the tape. A tape that is no regular file is written directly.
    temporary: Option<PathBuf>,
    /// How many lines there are, and the digest of the last one.
    lines: usize,
    chain: Chain,
    has_new_lines: bool,
    failure: Option<TapeError>,
}

impl Writer {
    /// Creates the file beside the tape. It begins with the lines of the tape up to `appends`, if there
    /// is one.
    pub(crate) fn create(
        path: &Path,
        appends: Option<&Tail>,
        redacted: Vec<String>,
        secrets: Option<u32>,
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
            lines: appends.map_or(0, |tail| tail.lines),
            chain: appends.map(|tail| tail.chain.clone()).unwrap_or_default(),
            has_new_lines: false,
            failure: None,
        };
        if let Some(tail) = appends {
            let copied = File::open(&target).and_then(|tape| {
                let out = state.out.as_mut().expect("it was just opened");
                io::copy(&mut tape.take(tail.length), out)
            });
            if let Err(error) = copied {
                state.discard();
                return Err(TapeError::io(path, "read")(error));
            }
        }
        Ok(Self { path: target, redacted, secrets, state: Mutex::new(state) })
    }

    /// Writes a line and returns its number. The first failure is kept for the end, and reported through
    /// `tracing`.
    pub(crate) fn write(&self, agent: &str, text: &str) -> Option<usize> {
        let mut state = self.state();
        if state.failure.is_some() {
            return None;
        }
        if state.out.is_none() {
            self.keep(&mut state, TapeError::Finished { path: self.path.clone() });
            return None;
        }
        let written = self.write_header(&mut state, agent).and_then(|()| state.write(text));
        if let Err(error) = written {
            self.keep(&mut state, TapeError::io(&self.path, "written")(error));
            return None;
        }
        state.has_new_lines = true;
        Some(state.lines)
    }

    fn write_header(&self, state: &mut State, agent: &str) -> io::Result<()> {
        if state.lines > 0 {
            return Ok(());
        }
        state.write(&header_line(agent, &self.redacted, self.secrets))
    }

    /// Keeps the error of a line that was not written.
    pub(crate) fn fail(&self, error: TapeError) {
        let mut state = self.state();
        self.keep(&mut state, error);
    }

    fn keep(&self, state: &mut State, error: TapeError) {
        if state.failure.is_none() {
            let cause = &error as &dyn std::error::Error;
            tracing::warn!(
                target: "hooks_agent::replay",
                tape = %self.path.display(), error = cause, "a tape is incomplete"
            );
            state.failure = Some(error);
        }
    }

    /// Returns whether the recording is finished.
    pub(crate) fn is_finished(&self) -> bool {
        self.state().out.is_none()
    }

    /// Writes what is left and puts the file in the place of the tape. After a failure, the tape stays
    /// as it was.
    pub(crate) fn finish(&self, agent: &str) -> Result<(), TapeError> {
        let mut state = self.state();
        if let Some(failure) = &state.failure {
            let failure = failure.clone();
            state.discard();
            return Err(failure);
        }
        if state.out.is_none() {
            return Ok(());
        }
        if state.lines > 0 && !state.has_new_lines {
            // Nothing was appended.
            state.discard();
            return Ok(());
        }
        let finished = self.write_header(&mut state, agent).and_then(|()| {
            let close = close_line(state.lines);
            state.write(&close)?;
            let Some(mut out) = state.out.take() else { return Ok(()) };
            out.flush()?;
            let Some(temporary) = &state.temporary else { return Ok(()) };
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
    pub(crate) fn discard(&self) {
        self.state().discard();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn write(&mut self, line: &str) -> io::Result<()> {
        let line = self.chain.seal(line);
        if let Some(out) = &mut self.out {
            out.write_all(line.as_bytes())?;
        }
        self.lines += 1;
        Ok(())
    }

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
