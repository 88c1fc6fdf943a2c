//! Who may call what.

use std::net::SocketAddr;

use hooks_agent::prelude::*;
use hooks_restate::{Agents, Worker};
use serde_json::json;

use crate::engine::{Engine, free_port};
use crate::worker::start;

#[tokio::test]
async fn callers_from_outside_cannot_add_or_close_questions() {
    let Some(engine) = Engine::start().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let port = free_port();
    let _worker = start(port, folder.path()).await;
    engine.register(port).await;
    for handler in ["ask", "close"] {
        let url = engine.url("steps/a", handler).replace("/Agents/", "/AgentDesk/");
        let answer = engine.http.post(url).json(&json!([])).send().await.unwrap();
        assert!(answer.status().is_client_error(), "{handler}: {}", answer.status());
        let text = answer.text().await.unwrap();
        assert!(text.contains("not public"), "{handler}: {text}");
    }
}

#[tokio::test]
async fn a_worker_with_an_identity_key_refuses_a_server_that_does_not_sign() {
    let Some(engine) = Engine::start().await else { return };
    let model = ScriptedModel::new("echo", ChatRequest::last_text);
    let agent = ReActAgent::builder("echo").model(model).build().unwrap();
    let key = "publickeyv1_ChjENKeMvCtRnqG2mrBK1HmPKufgFUc98K8B3ononQvp";
    let worker = Worker::new(Agents::new([agent])).identity_key(key).unwrap();
    let listener = Worker::listen_shared(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let port = listener.local_addr().unwrap().port();
    let serving = tokio::spawn(worker.serve(listener, std::future::pending()));
    let (status, text) = engine.try_register(port).await;
    assert!(status >= 400 && text.contains("401"), "{status}: {text}");
    serving.abort();
}
