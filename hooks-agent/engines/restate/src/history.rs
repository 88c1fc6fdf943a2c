//! The history of a thread in the state of its virtual object.

use std::collections::BTreeMap;
use std::io::{Read, Write};

use bytes::Bytes;
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use hooks_agent_core::journal::JournalError;
use hooks_agent_core::store::{Step, ThreadKey, ThreadRecord};
use serde::{Deserialize, Serialize};

/// The version of the history that this program writes.
const VERSION: u64 = 1;

/// The most bytes that a history has when it is read: what is longer was not written here.
const MOST: u64 = 1 << 30;

/// The threads of an object: that of the agent and those of its sub-agents.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    threads: BTreeMap<ThreadKey, ThreadRecord>,
}

#[derive(Serialize, Deserialize)]
struct Written {
    v: u64,
    threads: Vec<(ThreadKey, ThreadRecord)>,
}

impl History {
    /// Reads the state; nothing is an empty history.
    pub(crate) fn read(state: Option<&[u8]>) -> Result<Self, JournalError> {
        let Some(state) = state else { return Ok(Self::default()) };
        let mut json = Vec::new();
        let read = DeflateDecoder::new(state).take(MOST).read_to_end(&mut json);
        read.map_err(|error| unreadable(error.to_string()))?;
        let version = |json: &[u8]| {
            #[derive(Deserialize)]
            struct Version {
                v: u64,
            }
            serde_json::from_slice::<Version>(json).map(|version| version.v)
        };
        match version(&json).map_err(|_| unreadable("it has no version".to_owned()))? {
            VERSION => {}
            found => {
                let what = "the history".to_owned();
                return Err(JournalError::Version { what, found, known: VERSION });
            }
        }
        // The error of the JSON may quote content.
        let unknown = |_| unreadable("it is not what this program knows".to_owned());
        let written: Written = serde_json::from_slice(&json).map_err(unknown)?;
        Ok(Self { threads: written.threads.into_iter().collect() })
    }

    /// Writes the state.
    pub(crate) fn write(&self) -> Result<Bytes, JournalError> {
        let threads = self.threads.clone().into_iter().collect();
        let written = Written { v: VERSION, threads };
        let failed = |error: std::io::Error| JournalError::Failed(error.into());
        let json = serde_json::to_vec(&written).map_err(|it| JournalError::Failed(it.into()))?;
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&json).map_err(failed)?;
        Ok(encoder.finish().map_err(failed)?.into())
    }

    /// Returns a thread; one that is not there is empty.
    pub(crate) fn thread(&self, key: &ThreadKey) -> ThreadRecord {
        self.threads.get(key).cloned().unwrap_or_default()
    }

    /// Adds what a call adds to its threads.
    pub(crate) fn apply(&mut self, threads: &[(ThreadKey, Step)]) {
        for (key, step) in threads {
            self.threads.entry(key.clone()).or_default().apply(step);
        }
    }
}

fn unreadable(reason: String) -> JournalError {
    JournalError::Unreadable { key: "history".to_owned(), reason }
}
