//! Records as lines of JSON.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use agent_hooks::InterceptionRecord;

use crate::records::RecordSink;

/// Writes each record as a line of JSON, in the form of the specification. Each line is written at once; a line that
/// cannot be written is reported through `tracing`.
pub struct JsonLines(Mutex<Box<dyn Write + Send>>);

impl JsonLines {
    /// Writes to the end of a file, which is created if it is not there.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn append(path: impl AsRef<Path>) -> io::Result<Self> {
        let file = std::fs::OpenOptions::new().append(true).create(true).open(path)?;
        Ok(Self::to(file))
    }

    /// Writes to a writer, such as standard output.
    #[must_use]
    pub fn to(writer: impl Write + Send + 'static) -> Self {
        Self(Mutex::new(Box::new(writer)))
    }
}

impl RecordSink for JsonLines {
    fn record(&self, record: &InterceptionRecord) {
        let line = serde_json::to_string(record).map(|line| line + "\n").map_err(io::Error::from);
        let written = line.and_then(|line| {
            let mut writer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            writer.write_all(line.as_bytes())?;
            writer.flush()
        });
        if let Err(error) = written {
            tracing::error!(
                target: "hooks_agent::interceptors",
                error = &error as &dyn std::error::Error,
                "a record was not written"
            );
        }
    }
}

impl fmt::Debug for JsonLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JsonLines")
    }
}
