//! Events of a call while it runs.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use futures::StreamExt;
use hooks_agent::message::Usage;
use hooks_agent::model::{ChatChunk, ChatModel, ChatRequest, ChatStream};
use hooks_agent::prelude::*;
use hooks_restate::{Agents, StreamPart, Worker};
use serde_json::json;
use tokio::process::{Child, Command};

use crate::engine::{Engine, free_port};

const PORT: &str = "TEST_STREAM_PORT";
const FOLDER: &str = "TEST_STREAM_FOLDER";
const INGRESS: &str = "TEST_STREAM_INGRESS";

/// A model that says one word, and the next when there is the file `go`.
struct Slow(std::path::PathBuf);

impl ChatModel for Slow {
    fn name(&self) -> &'static str {
        "slow"
    }

    fn stream(&self, _: ChatRequest) -> ChatStream {
        let go = self.0.join("go");
        let second = async move {
            while !go.exists() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            Ok(ChatChunk::Text(" two".to_owned()))
        };
        let first = futures::stream::iter([Ok(ChatChunk::Text("one".to_owned()))]);
        let end = futures::stream::iter([Ok(ChatChunk::end(Usage::default()))]);
        Box::pin(first.chain(futures::stream::once(second)).chain(end))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn serves() {
    let Ok(port) = std::env::var(PORT) else { return };
    let slow = Slow(std::env::var(FOLDER).unwrap().into());
    let agent = ReActAgent::builder("slow").model(slow).build().unwrap();
    let agents = Agents::new([agent]).ingress(&std::env::var(INGRESS).unwrap()).unwrap();
    let address = format!("127.0.0.1:{port}").parse().unwrap();
    let listener = Worker::listen_shared(address).unwrap();
    Worker::new(agents).serve(listener, std::future::pending()).await;
}

async fn start(engine: &Engine, port: u16, folder: &Path) -> Child {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "stream::serves"])
        .env(PORT, port.to_string())
        .env(FOLDER, folder)
        .env(INGRESS, engine.ingress())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    while tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_err() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    child
}

/// Reads until a text came, and returns the texts with the runs they are of.
async fn read(engine: &Engine, part: &mut StreamPart, until: &str) -> Vec<(u32, String)> {
    let mut texts = Vec::new();
    loop {
        let request = json!({ "call": part.call, "after": part.next });
        let (status, body) = engine.call("slow/a", "stream", &request).await;
        assert_eq!(status, 200, "{body}");
        *part = serde_json::from_value(body).unwrap();
        for (_, event) in &part.events {
            if let AgentEventKind::ReasoningChunk(ContentBlock::Text { text }) = &event.event.kind {
                texts.push((event.run, text.clone()));
            }
        }
        if texts.iter().any(|(_, text)| text == until) {
            return texts;
        }
        assert!(!part.is_over, "{texts:?}");
    }
}

/// Asserts that events and the end of a call come from the call alone.
async fn assert_none_publishes(engine: &Engine, stream: &StreamPart) {
    let url = engine.url("slow/a", "publish").replace("/Agents/", "/AgentFeed/");
    for (call, token, status) in [
        (json!(stream.call), json!(""), 403),
        (json!(stream.call), json!("00000000-0000-4000-8000-000000000000"), 403),
        (json!("inv_other"), json!(""), 403),
        (json!(stream.call), json!(null), 400),
    ] {
        let body = json!({ "call": call, "token": token, "events": [], "is_over": true });
        let answer = engine.http.post(&url).json(&body).send().await.unwrap();
        assert_eq!(answer.status(), status, "{body}");
    }
    let url = url.replace("/publish", "/open");
    let body = json!({ "call": "inv_other", "token": "known" });
    let answer = engine.http.post(url).json(&body).send().await.unwrap();
    assert!(answer.status().is_client_error(), "{}", answer.status());
}

#[tokio::test]
async fn a_caller_reads_an_answer_while_it_is_made_and_again_from_the_open_step_after_a_crash() {
    let Some(engine) = Engine::start().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let port = free_port();
    let mut worker = start(&engine, port, folder.path()).await;
    engine.register(port).await;
    let invocation = engine.send("slow/a", &json!({ "text": "Count" })).await;
    let mut stream = StreamPart::default();
    assert_eq!(read(&engine, &mut stream, "one").await, [(1, "one".to_owned())]);

    assert_none_publishes(&engine, &stream).await;
    worker.kill().await.unwrap();
    let _worker = start(&engine, port, folder.path()).await;
    let again = read(&engine, &mut stream, "one").await;
    assert!(again.iter().all(|(run, text)| *run > 1 && text == "one"), "{again:?}");

    std::fs::write(folder.path().join("go"), "").unwrap();
    read(&engine, &mut stream, " two").await;
    while !stream.is_over {
        let request = json!({ "call": stream.call, "after": stream.next });
        let (_, body) = engine.call("slow/a", "stream", &request).await;
        stream = serde_json::from_value(body).unwrap();
    }
    let (status, reply) = engine.attach(&invocation).await;
    assert_eq!((status, &reply["content"][0]["text"]), (200, &json!("one two")), "{reply}");
    let last = stream.events.last().map(|(_, event)| &event.event.kind);
    assert!(matches!(last, None | Some(AgentEventKind::Finished(_))), "{last:?}");
}

#[tokio::test]
async fn without_the_address_of_the_ingress_a_stream_is_refused() {
    let Some(engine) = Engine::start().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let port = free_port();
    let _worker = crate::worker::start(port, folder.path()).await;
    engine.register(port).await;
    let (status, body) = engine.call("steps/a", "stream", &json!({})).await;
    assert_eq!(
        (status, body["message"].as_str().is_some_and(|it| it.contains("Agents::ingress"))),
        (409, true),
        "{body}"
    );
}

#[test]
fn an_ingress_that_is_no_url_is_refused_with_what_to_write() {
    let error = Agents::new([]).ingress("localhost:8080").unwrap_err().to_string();
    assert!(error.contains("http://127.0.0.1:8080"), "{error}");
}
