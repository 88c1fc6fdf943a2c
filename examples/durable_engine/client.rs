//! Requests to the server, as `curl` would send them.

use std::time::{Duration, Instant};

use reqwest::{Client, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Done;
use crate::agents::NAME;
use crate::server::Server;

/// How long a call may take to end.
const LONGEST: Duration = Duration::from_secs(30);

/// Tells the server where the workers are.
pub(crate) async fn register(client: &Client, server: &Server, port: u16) -> Done {
    let body = json!({ "uri": format!("http://127.0.0.1:{port}") });
    let url = format!("{}/deployments", server.admin());
    post(client, &url, &body).await.map(drop)
}

/// Begins a call and does not wait for it. Returns the id of its invocation.
pub(crate) async fn send(
    client: &Client,
    server: &Server,
    thread: &str,
    text: &str,
) -> Done<String> {
    let url = format!("{}/send", handler(server, thread, "call"));
    let answer = post(client, &url, &json!({ "text": text })).await?;
    Ok(answer["invocationId"].as_str().ok_or("no invocation")?.to_owned())
}

/// Waits for the end of a call, and returns its reply.
pub(crate) async fn attach(client: &Client, server: &Server, invocation: &str) -> Done<Value> {
    let url = format!("{}/restate/invocation/{invocation}/attach", server.ingress());
    let answer = client.get(url).timeout(LONGEST).send().await?;
    Ok(serde_json::from_str(&answer.error_for_status()?.text().await?)?)
}

/// Waits until a thread has a question, and returns it.
pub(crate) async fn question(client: &Client, server: &Server, thread: &str) -> Done<Value> {
    let began = Instant::now();
    while began.elapsed() < LONGEST {
        let waiting = client.post(handler(server, thread, "waiting")).send().await?;
        let waiting: Vec<Value> = serde_json::from_str(&waiting.text().await?)?;
        if let Some(question) = waiting.into_iter().next() {
            return Ok(question);
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    Err("nobody asks".into())
}

/// Decides a question, and returns the status.
pub(crate) async fn approve(
    client: &Client,
    server: &Server,
    thread: &str,
    question: &Value,
) -> Done<StatusCode> {
    let verdict = json!([{ "id": question["id"], "decision": "approve", "by": "eve" }]);
    let url = handler(server, thread, "decide");
    Ok(client
        .post(url)
        .header("content-type", "application/json")
        .body(verdict.to_string())
        .send()
        .await?
        .status())
}

/// Returns the steps that the journals of these calls have, from the tables of the server: each is the
/// id of the invocation and the key of the step.
pub(crate) async fn steps(client: &Client, server: &Server, calls: &[String]) -> Done<Vec<String>> {
    let calls: Vec<_> = calls.iter().map(|id| format!("'{id}'")).collect();
    let sql = format!(
        "select id, entry_json from sys_journal where entry_type = 'Notification: Run' and id in ({})",
        calls.join(", ")
    );
    let url = format!("{}/query", server.admin());
    let answer = post(client, &url, &json!({ "query": sql })).await?;
    let mut steps = Vec::new();
    for row in answer["rows"].as_array().ok_or("no rows")? {
        let entry: Value = serde_json::from_str(row["entry_json"].as_str().unwrap_or_default())?;
        let written = &entry["Notification"]["Completion"]["Run"]["result"]["Success"];
        let written = Vec::<u8>::deserialize(written)?;
        let entry: Value = serde_json::from_str(&serde_json::from_slice::<String>(&written)?)?;
        let keys = entry["steps"].as_array().into_iter().flatten();
        let call = row["id"].as_str().unwrap_or_default();
        steps.extend(keys.filter_map(|step| Some(format!("{call} {}", step[0].as_str()?))));
    }
    Ok(steps)
}

async fn post(client: &Client, url: &str, body: &Value) -> Done<Value> {
    let request = client.post(url).header("content-type", "application/json");
    let answer = request.header("accept", "application/json").body(body.to_string()).send().await?;
    let (status, text) = (answer.status(), answer.text().await?);
    if !status.is_success() {
        return Err(format!("{url}: {status} {text}").into());
    }
    Ok(serde_json::from_str(&text)?)
}

/// The address of a handler: the key of the object is the agent and the thread.
fn handler(server: &Server, thread: &str, name: &str) -> String {
    format!("{}/Agents/{NAME}%2F{thread}/{name}", server.ingress())
}
