//! The file of pins.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::guard::mcp_pins::error::McpPinsError;

/// The version of the file.
const VERSION: u64 = 1;

/// The pins of a file: the identity of each tool, by server and name.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pins {
    version: u64,
    servers: BTreeMap<String, BTreeMap<String, String>>,
}

impl Pins {
    /// Reads a file; nothing is pinned if there is none.
    pub(super) fn read(path: &Path) -> Result<Self, McpPinsError> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Self { version: VERSION, ..Self::default() });
            }
            Err(source) => return Err(McpPinsError::Read { path: path.into(), source }),
        };
        let invalid = |why: String| McpPinsError::Invalid { path: path.into(), why };
        let pins: Self = serde_json::from_str(&text).map_err(|error| invalid(error.to_string()))?;
        if pins.version != VERSION {
            return Err(invalid(format!("expected version {VERSION}, found {}", pins.version)));
        }
        Ok(pins)
    }

    /// Writes a file that takes the place of the one before, whole.
    pub(super) fn write(&self, path: &Path) -> Result<(), McpPinsError> {
        let write = || -> io::Result<()> {
            let mut name = path.file_name().unwrap_or_default().to_owned();
            name.push(format!(".{}.new", std::process::id()));
            let new: PathBuf = path.with_file_name(name);
            let mut file = fs::File::create(&new)?;
            serde_json::to_writer_pretty(&mut file, self)?;
            file.write_all(b"\n")?;
            file.sync_all()?;
            fs::rename(new, path)
        };
        write().map_err(|source| McpPinsError::Write { path: path.into(), source })
    }

    /// Returns whether a tool of a server is pinned.
    pub(super) fn has_server(&self, server: &str) -> bool {
        self.servers.contains_key(server)
    }

    /// Returns the identity that is pinned.
    pub(super) fn get(&self, server: &str, tool: &str) -> Option<&str> {
        Some(self.servers.get(server)?.get(tool)?.as_str())
    }

    pub(super) fn set(&mut self, server: &str, tool: &str, identity: String) {
        let tools = self.servers.entry(server.to_owned()).or_default();
        tools.insert(tool.to_owned(), identity);
    }
}
