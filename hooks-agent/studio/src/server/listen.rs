//! Listens at an address.

use std::io;
use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpSocket};

/// How many connections wait to be accepted.
const BACKLOG: u32 = 1_024;

/// How many bytes of a connection the system keeps for a browser that does not read.
const UNREAD: u32 = 128 << 10;

/// Listens at the first of the addresses at which it can.
pub(crate) fn listen(places: &[SocketAddr]) -> io::Result<TcpListener> {
    let mut failed = io::Error::new(io::ErrorKind::InvalidInput, "the name has no address");
    for place in places {
        match listen_at(*place) {
            Ok(listener) => return Ok(listener),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

fn listen_at(place: SocketAddr) -> io::Result<TcpListener> {
    let socket = if place.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // A program that starts again gets its address. On Windows it would get that of another one.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    // Its connections inherit it.
    socket.set_send_buffer_size(UNREAD)?;
    socket.bind(place)?;
    socket.listen(BACKLOG)
}
