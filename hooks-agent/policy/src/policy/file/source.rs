//! Where the text of a policy comes from.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::command::Layer;
use crate::policy::file::beside::{Beside, name_of};

/// A policy file, or the text of one.
///
/// A path converts into it: `.managed("/etc/agents/policy.toml")`.
///
/// ```
/// use hooks_agent::policy::{Policy, PolicyFile};
///
/// let policy = Policy::builder()
///     .session(PolicyFile::text("--policy", "version = 1"))
///     .user(PolicyFile::at("/home/ada/.agents/policy.toml").optional())
///     .open()?;
/// assert!(policy.merged().hooks().is_empty());
/// # Ok::<(), hooks_agent::policy::PolicyErrors>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct PolicyFile {
    name: Arc<str>,
    from: Origin,
    is_optional: bool,
}

#[derive(Clone, Debug)]
enum Origin {
    Path(PathBuf),
    Text(Arc<str>),
}

impl PolicyFile {
    /// The size of the largest file: 4 MiB.
    pub const MAX_BYTES: u64 = 4 << 20;

    /// Names a file, which must exist.
    pub fn at(path: impl AsRef<Path>) -> Self {
        let path = path.as_ref();
        let name = path.display().to_string().into();
        // A program that changes its directory keeps its policy.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        Self { name, from: Origin::Path(path), is_optional: false }
    }

    /// Takes a text in place of a file. Errors show the name in place of a path.
    pub fn text(name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Self {
        Self { name: name.into(), from: Origin::Text(text.into()), is_optional: false }
    }

    /// Lets the file be missing when the policy is opened. A file that was there and vanishes is
    /// missed all the same.
    pub fn optional(mut self) -> Self {
        self.is_optional = true;
        self
    }
}

impl<P: AsRef<Path>> From<P> for PolicyFile {
    fn from(path: P) -> Self {
        Self::at(path)
    }
}

/// A file with its layer.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) layer: Layer,
    file: PolicyFile,
}

/// What a source had when it was read.
pub(crate) enum Read {
    /// Its bytes, and the variables that it names.
    Bytes(Vec<u8>, Option<Beside>),
    /// The file is not there, and may be.
    Missing,
    /// Why the file cannot be read.
    Failed(String),
}

impl Source {
    pub(crate) fn new(layer: Layer, file: PolicyFile) -> Self {
        Self { layer, file }
    }

    pub(crate) fn name(&self) -> &Arc<str> {
        &self.file.name
    }

    /// Returns the path, if it is a file.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.file.from {
            Origin::Path(path) => Some(path),
            Origin::Text(_) => None,
        }
    }

    /// Reads the text. `was_there`: the file was there before, so it is missed.
    pub(crate) fn read(&self, was_there: bool) -> Read {
        let read = match &self.file.from {
            Origin::Text(text) if text.len() as u64 > PolicyFile::MAX_BYTES => Err(too_large()),
            Origin::Text(text) => Ok(text.as_bytes().to_vec()),
            Origin::Path(path) => read_file(path),
        };
        match read {
            Ok(bytes) => {
                let beside = name_of(&bytes).map(|name| self.read_beside(name));
                Read::Bytes(bytes, beside)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.file.is_optional => {
                if was_there {
                    Read::Failed("the file is gone; the policy stays as it was".to_owned())
                } else {
                    Read::Missing
                }
            }
            Err(error) => Read::Failed(format!("cannot be read: {error}")),
        }
    }

    /// Reads a file in the folder of this one, which a watcher sees too.
    fn read_beside(&self, name: String) -> Beside {
        let is_name = Path::new(&name).file_name().is_some_and(|it| it == name.as_str());
        let folder = self.path().and_then(Path::parent);
        let text = match folder {
            _ if !is_name => Err("is no name of a file in the same folder".to_owned()),
            None => {
                Err("cannot be read: this text is no file, so there is none beside it".to_owned())
            }
            Some(folder) => read_file(&folder.join(&name))
                .and_then(|bytes| String::from_utf8(bytes).map_err(io::Error::other))
                .map_err(|error| format!("cannot be read: {error}")),
        };
        Beside { name, text }
    }
}

impl Read {
    /// Adds what was read to the digest of all files.
    pub(crate) fn digest(&self, digest: &mut Sha256) {
        let (kind, bytes): (u8, &[u8]) = match self {
            Self::Bytes(bytes, _) => (0, bytes),
            Self::Missing => (1, &[]),
            Self::Failed(why) => (2, why.as_bytes()),
        };
        digest.update([kind]);
        digest.update((bytes.len() as u64).to_le_bytes());
        digest.update(bytes);
        if let Self::Bytes(_, Some(beside)) = self {
            let (Ok(text) | Err(text)) = &beside.text;
            digest.update((text.len() as u64).to_le_bytes());
            digest.update(text.as_bytes());
        }
    }
}

fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    // Opening a pipe would wait for its writer.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("expected a file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(PolicyFile::MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > PolicyFile::MAX_BYTES { Err(too_large()) } else { Ok(bytes) }
}

fn too_large() -> io::Error {
    io::Error::other(format!("expected at most {} bytes", PolicyFile::MAX_BYTES))
}
