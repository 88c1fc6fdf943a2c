//! The token that callers at an address know.

use std::fmt::{self, Write as _};
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::Path;

use subtle::ConstantTimeEq;

use crate::error::ServeError;

/// A secret in a file: who can read the file may ask the guard.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// Reads the token of a file, or creates the file for its owner alone.
    ///
    /// On systems other than Unix the file has the rights of its folder, which are not examined: name one that its owner
    /// alone can read.
    ///
    /// # Errors
    /// [`ServeError::Open`] if others can read the file, or it has fewer than 16 characters or cannot be read or written.
    pub fn in_file(path: impl AsRef<Path>) -> Result<Self, ServeError> {
        let path = path.as_ref();
        let refused = |why: String| {
            ServeError::Open(format!("the file of the token, {}: {why}", path.display()))
        };
        let token = match fs::read_to_string(path) {
            Ok(token) => token,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let token = random().map_err(&refused)?;
                write(path, &token)
                    .map_err(|error| refused(format!("cannot be written: {error}")))?;
                token
            }
            Err(error) => return Err(refused(format!("cannot be read: {error}"))),
        };
        refuse_open(path).map_err(&refused)?;
        let token = token.trim();
        if token.len() < 16 {
            return Err(refused("expected a token of 16 characters or more".to_owned()));
        }
        Ok(Self(token.to_owned()))
    }

    /// Returns the text of it.
    #[must_use]
    pub fn secret(&self) -> &str {
        &self.0
    }

    /// Returns whether this is the token, in a time that does not depend on where it differs.
    pub(crate) fn is(&self, other: &[u8]) -> bool {
        self.0.as_bytes().ct_eq(other).into()
    }
}

fn random() -> Result<String, String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| error.to_string())?;
    let mut token = String::new();
    for byte in bytes {
        write!(token, "{byte:02x}").map_err(|error| error.to_string())?;
    }
    Ok(token)
}

fn write(path: &Path, token: &str) -> std::io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    writeln!(options.open(path)?, "{token}")
}

#[cfg(unix)]
fn refuse_open(path: &Path) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt;

    let mode = fs::metadata(path).map_err(|error| error.to_string())?.permissions().mode();
    match mode & 0o077 {
        0 => Ok(()),
        _ => Err(format!("others can read it: run chmod 600 {}", path.display())),
    }
}

#[cfg(not(unix))]
fn refuse_open(_: &Path) -> Result<(), String> {
    Ok(())
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}
