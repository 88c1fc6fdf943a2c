//! Asks the server, by one request.

use std::fs;
use std::io::{self, Read, Write};
use std::net::TcpStream;
#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use crate::args::{Args, At};
use crate::reply::Reply;

/// Passes an event on, and returns what the server says.
pub(crate) fn ask(args: &Args, event: &[u8]) -> Result<Reply, String> {
    let until = Instant::now() + args.deadline;
    match &args.at {
        #[cfg(unix)]
        At::Socket(path) => {
            let refused = |error| {
                format!("no server at {}: {error}: start `hooks-agent serve`", path.display())
            };
            let stream = UnixStream::connect(path).map_err(refused)?;
            exchange(stream, &head(args, "localhost", None, event), event, until)
        }
        #[cfg(not(unix))]
        At::Socket(_) => Err("sockets are of Unix: name `--address` and `--token-file`".to_owned()),
        At::Address { address, token_file } => {
            let refused = |error| format!("no server at {address}: {error}");
            let token = fs::read_to_string(token_file)
                .map_err(|error| format!("{}: {error}", token_file.display()))?;
            let stream = TcpStream::connect(address).map_err(refused)?;
            exchange(stream, &head(args, address, Some(token.trim()), event), event, until)
        }
    }
}

fn head(args: &Args, host: &str, token: Option<&str>, event: &[u8]) -> String {
    let token = token.map(|token| format!("authorization: Bearer {token}\r\n"));
    format!(
        "POST {} HTTP/1.1\r\nhost: {host}\r\n{}content-length: {}\r\nconnection: close\r\n\r\n",
        args.path,
        token.unwrap_or_default(),
        event.len(),
    )
}

/// A stream that gives up.
trait Patient: Read + Write {
    fn wait_at_most(&self, time: Duration) -> io::Result<()>;
}

#[cfg(unix)]
impl Patient for UnixStream {
    fn wait_at_most(&self, time: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(time))?;
        self.set_write_timeout(Some(time))
    }
}

impl Patient for TcpStream {
    fn wait_at_most(&self, time: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(time))?;
        self.set_write_timeout(Some(time))
    }
}

fn exchange(
    mut stream: impl Patient,
    head: &str,
    event: &[u8],
    until: Instant,
) -> Result<Reply, String> {
    let late = || "the server took too long".to_owned();
    let wait = |stream: &dyn Patient| match until.checked_duration_since(Instant::now()) {
        Some(left) if !left.is_zero() => {
            stream.wait_at_most(left).map_err(|error| format!("the socket failed: {error}"))
        }
        _ => Err(late()),
    };
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => late(),
        _ => format!("the server did not answer: {error}"),
    };
    wait(&stream)?;
    stream.write_all(head.as_bytes()).map_err(failed)?;
    for part in event.chunks(64 * 1024) {
        wait(&stream)?;
        stream.write_all(part).map_err(failed)?;
    }
    let (mut bytes, mut part) = (Vec::new(), [0; 16 * 1024]);
    loop {
        if let Some(reply) = Reply::read(&bytes)? {
            return Ok(reply);
        }
        wait(&stream)?;
        match stream.read(&mut part).map_err(failed)? {
            0 => return Err("the server closed the connection".to_owned()),
            read => bytes.extend_from_slice(&part[..read]),
        }
    }
}
