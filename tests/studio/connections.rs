//! Connections that ask for nothing, or take nothing.

use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::routing::{get, post};
use futures::stream;
use hooks_agent_listener::BoundedListener;
use hooks_agent_studio::Studio;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::support::open;

/// Serves a router within these bounds, until the set is dropped.
async fn serve(router: Router, connections: usize) -> (std::net::SocketAddr, JoinSet<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let listener = BoundedListener::new(listener).connections(connections);
    let mut server = JoinSet::new();
    server.spawn(async move { axum::serve(listener, router).await.unwrap() });
    (address, server)
}

/// Opens a connection and writes this.
async fn write(address: std::net::SocketAddr, text: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    stream
}

/// Reads all that comes until the server closes the connection.
async fn rest(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    // A connection that is reset is closed too.
    let _ = stream.read_to_end(&mut text).await;
    String::from_utf8(text).unwrap()
}

const WHOLE: &str = "GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";

#[tokio::test(start_paused = true)]
async fn a_head_that_does_not_arrive_ends_the_connection() {
    let (address, _server) = serve(Router::new().route("/", get(async || "here")), 8).await;
    for half in ["", "\r\n\r\n\r\n", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nhost: a\r\n"] {
        let mut stream = write(address, half).await;
        assert_eq!(rest(&mut stream).await, "", "{half:?}");
    }
    let mut stream = write(address, WHOLE).await;
    assert!(rest(&mut stream).await.ends_with("here"));
}

#[tokio::test(start_paused = true)]
async fn a_head_that_comes_byte_by_byte_ends_the_connection() {
    let (address, _server) = serve(Router::new().route("/", get(async || "here")), 8).await;
    let mut stream = write(address, "GET / HTTP/1.1\r\n").await;
    let begun = tokio::time::Instant::now();
    while stream.write_all(b"x: y\r\n").await.is_ok() {
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(begun.elapsed() < Duration::from_mins(2), "it is open although nothing is asked");
        tokio::task::yield_now().await;
        let mut byte = [0];
        let read = tokio::time::timeout(Duration::from_millis(1), stream.read(&mut byte)).await;
        if matches!(read, Ok(Ok(0) | Err(_))) {
            return;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn more_connections_than_are_open_at_once_are_served_later() {
    let (address, _server) = serve(Router::new().route("/", get(async || "here")), 2).await;
    let _one = write(address, "GET").await;
    let _two = write(address, "GET").await;
    let mut third = write(address, WHOLE).await;
    assert!(rest(&mut third).await.ends_with("here"));
}

#[tokio::test(start_paused = true)]
async fn a_request_that_waits_for_its_answer_is_answered() {
    let slow = async |_: Bytes| {
        tokio::time::sleep(Duration::from_hours(1)).await;
        "at last"
    };
    let (address, _server) = serve(Router::new().route("/", post(slow)), 8).await;
    let head = "POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 2\r\n";
    for more in ["\r\n", "expect: 100-continue\r\n\r\n"] {
        let mut stream = write(address, &format!("{head}{more}")).await;
        stream.write_all(b"hi").await.unwrap();
        assert!(rest(&mut stream).await.ends_with("at last"), "{more:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_takes_nothing_loses_the_answer() {
    let (gone, is_gone) = oneshot::channel::<()>();
    let gone = std::sync::Mutex::new(Some(gone));
    let endless = move || {
        let gone = gone.lock().unwrap().take();
        let chunk = Bytes::from(vec![b'x'; 64 << 10]);
        let chunks = stream::unfold(gone, move |gone| {
            let chunk = chunk.clone();
            async move { Some((Ok::<_, std::convert::Infallible>(chunk), gone)) }
        });
        async move { Body::from_stream(chunks) }
    };
    let endless = std::sync::Arc::new(endless);
    let route = get(move || endless());
    let (address, _server) = serve(Router::new().route("/", route), 8).await;
    let _reader = write(address, WHOLE).await;
    assert!(is_gone.await.is_err(), "the answer was dropped");
}

#[tokio::test(start_paused = true)]
async fn half_requests_do_not_stay_at_the_studio() {
    let browser = open(&Studio::new()).await;
    let address = browser.server.address();
    let mut halves = Vec::new();
    for _ in 0..300 {
        halves.push(write(address, "GET /api/runs HTTP/1.1\r\n").await);
    }
    // More than may be open at once: it has its turn when they are closed.
    let answer = browser.get("/api/runs").await;
    assert_eq!(answer.status(), reqwest::StatusCode::OK);
    for mut half in halves {
        assert_eq!(rest(&mut half).await, "");
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_arrive_is_not_waited_for() {
    let browser = open(&Studio::new()).await;
    let never = reqwest::Body::wrap_stream(stream::pending::<Result<Bytes, std::io::Error>>());
    let request = browser.request(reqwest::Method::POST, "/api/approvals/x");
    let request = request.header("content-type", "application/json").body(never);
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), reqwest::StatusCode::REQUEST_TIMEOUT);
}
