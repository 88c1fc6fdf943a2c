//! A file that stays in memory.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

/// A file that stays in memory. A clone is the same file.
#[derive(Clone, Debug, Default)]
pub struct Page(Arc<Mutex<Vec<u8>>>);

impl Page {
    /// The text so far.
    ///
    /// # Panics
    /// Panics if it is not UTF-8.
    #[must_use]
    pub fn text(&self) -> String {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        String::from_utf8(bytes).expect("tests write text")
    }

    /// The lines so far, each as JSON.
    ///
    /// # Panics
    /// Panics if one is not.
    #[must_use]
    pub fn records(&self) -> Vec<Value> {
        let parse = |line: &str| serde_json::from_str(line).expect("each line is JSON");
        self.text().lines().map(parse).collect()
    }
}

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
