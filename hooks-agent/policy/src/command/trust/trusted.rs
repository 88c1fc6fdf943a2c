//! The hashes that are trusted.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use crate::command::trust::file;

/// The commands of a project that may run, by their hashes.
///
/// A command of [`Layer::Project`](crate::command::Layer::Project) runs only if its hash is here. A
/// program shows the [untrusted](crate::command::CommandHooksError::untrusted) ones to a person and
/// [adds](Trust::add) those that the person trusts. The default trusts nothing. Clones share what
/// they trust.
///
/// Keep the file outside of the project: who may write to it may run programs.
///
/// ```
/// use hooks_agent::command::{CommandEntry, CommandHooks, Layer, Trust};
///
/// # let dir = std::env::temp_dir();
/// let trust = Trust::hashes::<String>([]);
/// let check = CommandEntry::shell("PreToolUse", "guards/check").layer(Layer::Project);
/// let open = || CommandHooks::builder(&dir).entry(check.clone()).trust(trust.clone()).open();
/// let error = open().unwrap_err();
/// for command in error.untrusted() {
///     println!("{command}"); // A person reads it and says yes.
///     trust.add(command.hash())?;
/// }
/// assert!(open().is_ok());
/// # Ok::<(), hooks_agent::command::TrustError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Trust {
    path: Option<PathBuf>,
    /// Of a trust without a file. Locked while a file is read and written, too.
    hashes: Arc<Mutex<BTreeSet<String>>>,
}

/// Why hashes cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// The file cannot be read or written.
    #[error("the trust file {} cannot be read or written", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The file has another content.
    #[error(
        "the trust file {} is not valid, expected {{\"version\": 1, \"sha256\": [..]}}",
        path.display()
    )]
    Malformed {
        /// The file.
        path: PathBuf,
    },
    /// Others may write to the file.
    #[error("the trust file {} is writable by others, run `chmod 600` on it", path.display())]
    WritableByOthers {
        /// The file.
        path: PathBuf,
    },
    /// A text is no hash.
    #[error("{hash:?} is no hash, expected 64 hexadecimal digits")]
    NoHash {
        /// The text.
        hash: String,
    },
}

impl Trust {
    /// Trusts the hashes in this JSON file. A file that is not there has none. It is read when
    /// command hooks are opened.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self { path: Some(path.into()), ..Self::default() }
    }

    /// Trusts these hashes, with or without `sha256:` in front.
    pub fn hashes<T: Into<String>>(hashes: impl IntoIterator<Item = T>) -> Self {
        let hashes = hashes.into_iter().map(|hash| bare(&hash.into()).to_lowercase()).collect();
        Self { path: None, hashes: Arc::new(Mutex::new(hashes)) }
    }

    /// Trusts one more hash. A file is replaced as a whole, with the mode 0600; another process
    /// that adds at the same moment may be overwritten.
    ///
    /// # Errors
    /// [`TrustError`] if the text is no hash, or the file cannot be read or written. Nothing is
    /// trusted then.
    pub fn add(&self, hash: &str) -> Result<(), TrustError> {
        let hash = bare(hash);
        let is_hash = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_hash {
            return Err(TrustError::NoHash { hash: hash.to_owned() });
        }
        let mut hashes = self.hashes.lock().unwrap_or_else(PoisonError::into_inner);
        let hash = hash.to_lowercase();
        let Some(path) = &self.path else {
            hashes.insert(hash);
            return Ok(());
        };
        let mut all = file::read(path)?;
        all.insert(hash);
        file::write(path, &all)
    }

    /// Returns all hashes.
    pub(crate) fn all(&self) -> Result<BTreeSet<String>, TrustError> {
        let hashes = self.hashes.lock().unwrap_or_else(PoisonError::into_inner);
        match &self.path {
            Some(path) => file::read(path),
            None => Ok(hashes.clone()),
        }
    }
}

/// Returns the hash without what a problem prints in front of it.
fn bare(hash: &str) -> &str {
    hash.strip_prefix("sha256:").unwrap_or(hash)
}
