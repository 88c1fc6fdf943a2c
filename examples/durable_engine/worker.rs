//! A worker: this program, run again in a process of its own.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;

use hooks_restate::{Agents, Worker};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpSocket;
use tokio::process::{Child, Command};

use crate::Done;
use crate::agents::clerk;
use crate::notes::Notes;

/// Serves the agents on a port that other workers share. The first line of the output says that it
/// listens.
pub(crate) async fn serve(port: u16, folder: &Path) -> Done {
    let agents = Agents::new([clerk(&Notes::new(folder)?)?]);
    let listener = Worker::listen_shared(SocketAddr::from(([127, 0, 0, 1], port)))?;
    println!("listening");
    Worker::new(agents).serve(listener, std::future::pending()).await;
    Ok(())
}

/// A port that is kept free for workers.
pub(crate) struct Port {
    pub(crate) number: u16,
    /// It is bound and does not listen, so that it gets no connection.
    _socket: TcpSocket,
}

impl Port {
    pub(crate) fn keep() -> Done<Self> {
        let socket = TcpSocket::new_v4()?;
        #[cfg(unix)]
        socket.set_reuseport(true)?;
        socket.bind(SocketAddr::from(([127, 0, 0, 1], 0)))?;
        Ok(Self { number: socket.local_addr()?.port(), _socket: socket })
    }

    /// Starts a worker on the port. It is killed when the process is dropped.
    pub(crate) async fn start(&self, folder: &Path) -> Done<Child> {
        let mut process = Command::new(std::env::current_exe()?)
            .args(["worker", &self.number.to_string()])
            .arg(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let output = process.stdout.take().ok_or("the worker has no output")?;
        match BufReader::new(output).lines().next_line().await? {
            Some(_) => Ok(process),
            None => Err("the worker ended".into()),
        }
    }
}
