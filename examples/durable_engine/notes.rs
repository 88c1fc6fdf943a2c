//! Effects and notes outside of the engine, in a folder that all workers share.

use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The folder.
#[derive(Clone)]
pub(crate) struct Notes(PathBuf);

impl Notes {
    pub(crate) fn new(folder: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(folder.join("effects"))?;
        Ok(Self(folder.to_owned()))
    }

    /// Has an effect once for each key, as a bank does that takes idempotency keys: a second request
    /// of a key changes nothing. The effect is whole or not there, whenever the process is killed.
    pub(crate) fn take_effect(&self, key: &str, what: &str) -> io::Result<()> {
        let draft = self.0.join(format!("draft-{key}-{}", std::process::id()));
        std::fs::write(&draft, what)?;
        match std::fs::hard_link(&draft, self.0.join("effects").join(key)) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => self.add("repeated", what),
            taken => taken,
        }
    }

    /// Adds a line to a file.
    pub(crate) fn add(&self, file: &str, line: &str) -> io::Result<()> {
        let mut file = OpenOptions::new().create(true).append(true).open(self.0.join(file))?;
        file.write_all(format!("{line}\n").as_bytes())
    }

    /// Returns the lines of a file, sorted.
    pub(crate) fn lines(&self, file: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.0.join(file)).unwrap_or_default();
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    }

    /// Returns what took effect, sorted.
    pub(crate) fn effects(&self) -> io::Result<Vec<String>> {
        let files = std::fs::read_dir(self.0.join("effects"))?;
        let text = |file: io::Result<std::fs::DirEntry>| std::fs::read_to_string(file?.path());
        let mut effects = files.map(text).collect::<io::Result<Vec<_>>>()?;
        effects.sort();
        Ok(effects)
    }
}
