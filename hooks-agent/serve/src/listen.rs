//! Where a server listens: a socket of its user, or an address of this machine.

use std::net::SocketAddr;
#[cfg(unix)]
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
#[cfg(unix)]
use std::{
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use tokio::net::TcpListener;
#[cfg(unix)]
use tokio::net::{UnixListener, UnixStream};

use crate::error::ServeError;

/// Listens on a socket that its user alone can reach.
#[cfg(unix)]
pub(crate) async fn at_socket(path: &Path) -> Result<UnixListener, ServeError> {
    let failed = |source: io::Error| ServeError::Listen { at: path.display().to_string(), source };
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    refuse_open_folder(path)?;
    match fs::symlink_metadata(path) {
        Ok(file) if !file.file_type().is_socket() => {
            return Err(ServeError::Open(format!(
                "{} is another file, not a socket: name another path",
                path.display()
            )));
        }
        _ => {}
    }
    match UnixStream::connect(path).await {
        Ok(_) => return Err(ServeError::IsServed(path.to_owned())),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        // Left behind by a process that was killed.
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(failed)?;
        }
        Err(error) => return Err(failed(error)),
    }
    let before = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o177));
    let listener = UnixListener::bind(path);
    rustix::process::umask(before);
    listener.map_err(failed)
}

/// The place of a socket. Another server may have it by the time that the one that made it ends.
#[cfg(unix)]
pub(crate) struct Place {
    path: PathBuf,
    file: Option<(u64, u64)>,
}

#[cfg(unix)]
impl Place {
    pub(crate) fn of(path: PathBuf) -> Self {
        let file = file_at(&path);
        Self { path, file }
    }

    /// Removes the socket, if it is still this one. One that is left is replaced by the next server.
    pub(crate) fn remove(&self) {
        if self.file.is_some() && file_at(&self.path) == self.file {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(unix)]
fn file_at(path: &Path) -> Option<(u64, u64)> {
    let file = fs::symlink_metadata(path).ok()?;
    Some((file.dev(), file.ino()))
}

/// Refuses a folder in which others could put a socket of theirs in the place of this one.
#[cfg(unix)]
fn refuse_open_folder(path: &Path) -> Result<(), ServeError> {
    let path = std::path::absolute(path);
    let folder = path.as_deref().ok().and_then(Path::parent).unwrap_or_else(|| Path::new("/"));
    let is_open = fs::metadata(folder).is_ok_and(|it| it.permissions().mode() & 0o022 != 0);
    if !is_open {
        return Ok(());
    }
    Err(ServeError::Open(format!(
        "others can write in {}: have the socket in a folder of your own, or run chmod go-w {}",
        folder.display(),
        folder.display()
    )))
}

/// Listens on an address of this machine.
pub(crate) async fn at_address(address: SocketAddr) -> Result<TcpListener, ServeError> {
    if !address.ip().is_loopback() {
        return Err(ServeError::Open(format!(
            "{address} is reached by other machines: use one of 127.0.0.1, or a proxy with TLS before it"
        )));
    }
    let listener = TcpListener::bind(address).await;
    listener.map_err(|source| ServeError::Listen { at: address.to_string(), source })
}
