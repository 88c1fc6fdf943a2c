//! A studio that workers join.

use hooks_agent_core::call::User;
use hooks_agent_studio::{Studio, StudioWorker};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};

use crate::support::{Browser, Stream};

pub(super) const KEY: &str = "key-of-the-workers";

/// A studio that workers join, and that knows people by a header, their name and a role.
pub(super) fn joined() -> Studio {
    Studio::new().joined_by(KEY).authenticate(|head| {
        let of = |name| head.headers.get(name)?.to_str().ok();
        let user = User::new(of("x-user")?.to_owned()).with_attribute("region", "eu");
        Some(of("x-role").into_iter().fold(user, |user, role| user.with_role(role.to_owned())))
    })
}

/// Serves a worker that sends what a studio sees to the studio of a browser.
pub(super) fn join(studio: &Studio, browser: &Browser) -> StudioWorker {
    let url = format!("http://{}", browser.server.address());
    let worker = studio.join(url, KEY).unwrap();
    tokio::spawn(worker.serve());
    worker
}

/// Returns the entries of a run without their numbers.
pub(super) async fn entries(browser: &Browser, run: &Value) -> Vec<Value> {
    let path = format!("/api/runs/{}", run.as_str().unwrap());
    let mut entries = browser.json(&path).await["entries"].as_array().unwrap().clone();
    for entry in &mut entries {
        entry.as_object_mut().unwrap().remove("seq");
    }
    entries
}

/// Returns how a run stands, without the numbers that are of one process.
pub(super) fn summary(run: &Value) -> Value {
    let mut run = run.clone();
    run.as_object_mut().unwrap().remove("after");
    run
}

/// Reads the stream until the studio has so many runs with their ends. Returns them, the newest first.
pub(super) async fn until_ended(
    browser: &Browser,
    stream: &mut Stream,
    count: usize,
) -> Vec<Value> {
    loop {
        let mut ended = 0;
        for run in browser.runs().await {
            let entries = entries(browser, &run["run"]).await;
            let last = entries.last().map(|it| it["type"].clone()).unwrap_or_default();
            if ["settled", "resumed"].contains(&last.as_str().unwrap_or_default()) {
                ended += 1;
            }
        }
        if ended >= count {
            return browser.runs().await;
        }
        stream.next().await.expect("it does not end");
    }
}

/// A worker that is written by hand.
pub(super) struct ByHand {
    pub(super) browser: Browser,
    pub(super) id: &'static str,
    studio: Value,
}

impl ByHand {
    /// Joins.
    pub(super) async fn new(browser: &Browser, id: &'static str) -> Self {
        let mut this = Self { browser: browser.clone(), id, studio: Value::Null };
        let answer = this.send(json!({})).await;
        assert_eq!(answer["is_taken"], false, "it is not known yet");
        this.studio = answer["studio"].clone();
        this
    }

    pub(super) async fn post(&self, mut message: Value) -> Response {
        message["worker"] = self.id.into();
        message["name"] = "by hand".into();
        message["studio"] = self.studio.clone();
        let url = self.browser.address("/api/join");
        self.browser.client.post(url).bearer_auth(KEY).json(&message).send().await.unwrap()
    }

    pub(super) async fn send(&self, message: Value) -> Value {
        let answer = self.post(message).await;
        assert_eq!(answer.status(), StatusCode::OK);
        answer.json().await.unwrap()
    }
}

/// A run that is `running`.
pub(super) fn run(id: &str) -> Value {
    json!({
        "run": id, "agent": "far", "thread": "default", "state": "running", "started": 1_000,
        "after": 7, "rounds": 0, "retries": 0, "tools": 0, "tool_errors": 0, "events": 2,
        "dropped": 0,
    })
}

/// An entry of a run.
pub(super) fn entry(run: &str, seq: u64, kind: &str, data: Value) -> Value {
    let entry = json!({ "seq": seq, "ts": 1_000 + seq, "run": run, "agent": "far", "type": kind });
    let mut entry = entry;
    if !data.is_null() {
        entry["data"] = data;
    }
    entry
}
