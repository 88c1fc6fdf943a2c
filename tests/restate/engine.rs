//! A real server of Restate.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use hooks_fixtures::tell;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::{Child, Command};

/// Where `.ci/servers` puts the server of this platform.
fn program() -> Option<PathBuf> {
    let os = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
    let cpu = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    let path = format!(
        "{}/../../target/restate/node_modules/@restatedev/restate-server-{os}-{cpu}/bin/restate-server",
        env!("CARGO_MANIFEST_DIR")
    );
    Some(PathBuf::from(path)).filter(|path| path.exists())
}

/// A port that is free now.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A server of Restate with its data, which are removed with it.
pub(crate) struct Engine {
    program: PathBuf,
    folder: TempDir,
    ports: [u16; 3],
    server: Option<Child>,
    pub(crate) http: reqwest::Client,
}

impl Engine {
    /// Starts a server; `None` if it is not installed, which is reported.
    pub(crate) async fn start() -> Option<Self> {
        let Some(program) = program() else {
            tell("skipped: no server of Restate, `.ci/servers` installs one");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let ports = [free_port(), free_port(), free_port()];
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let mut engine = Self { program, folder, ports, server: None, http };
        engine.restart().await;
        Some(engine)
    }

    /// Starts the server again on its data.
    pub(crate) async fn restart(&mut self) {
        let [ingress, admin, node] = self.ports;
        let log = self.folder.path().join("server.log");
        let log = std::fs::OpenOptions::new().create(true).append(true).open(log).unwrap();
        let server = Command::new(&self.program)
            .arg("--base-dir")
            .arg(self.folder.path().join("data"))
            .arg("--node-name=one")
            .arg("--listen-mode=tcp")
            .env("RESTATE_INGRESS__BIND_ADDRESS", format!("127.0.0.1:{ingress}"))
            .env("RESTATE_ADMIN__BIND_ADDRESS", format!("127.0.0.1:{admin}"))
            .env("RESTATE_BIND_ADDRESS", format!("127.0.0.1:{node}"))
            .env("RESTATE_ADVERTISED_ADDRESS", format!("http://127.0.0.1:{node}/"))
            .env("TMPDIR", self.folder.path())
            .env("RESTATE_DISABLE_TELEMETRY", "true")
            .env("RESTATE_DEFAULT_NUM_PARTITIONS", "4")
            .env("RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE", "256MB")
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        self.server = Some(server);
        self.until(&format!("http://127.0.0.1:{admin}/health")).await;
        self.until(&format!("http://127.0.0.1:{ingress}/restate/health")).await;
    }

    /// Kills the server, without a chance to clean up.
    pub(crate) async fn kill(&mut self) {
        if let Some(mut server) = self.server.take() {
            server.start_kill().unwrap();
            server.wait().await.unwrap();
        }
    }

    async fn until(&self, url: &str) {
        for _ in 0..1_200 {
            if let Ok(answer) = self.http.get(url).send().await
                && answer.status().is_success()
            {
                return;
            }
            // The server has no other sign that it is ready.
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        let log = std::fs::read_to_string(self.folder.path().join("server.log"));
        panic!("the server does not answer at {url}:\n{}", log.unwrap_or_default());
    }

    /// Registers the workers behind a port.
    pub(crate) async fn register(&self, port: u16) {
        let (status, text) = self.try_register(port).await;
        assert!((200..300).contains(&status), "{status}: {text}");
    }

    /// Registers the workers behind a port, and returns the status and what the server says.
    pub(crate) async fn try_register(&self, port: u16) -> (u16, String) {
        let url = format!("http://127.0.0.1:{}/deployments", self.ports[1]);
        let body = json!({ "uri": format!("http://127.0.0.1:{port}"), "force": true });
        let answer = self.http.post(url).json(&body).send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    }

    /// Returns the address of the ingress.
    pub(crate) fn ingress(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports[0])
    }

    /// Returns the address of a handler of an agent's thread.
    pub(crate) fn url(&self, key: &str, handler: &str) -> String {
        let key = key.replace('/', "%2F");
        format!("http://127.0.0.1:{}/Agents/{key}/{handler}", self.ports[0])
    }

    /// Calls a handler and returns the status and the body.
    pub(crate) async fn call(&self, key: &str, handler: &str, body: &Value) -> (u16, Value) {
        let request = self.http.post(self.url(key, handler));
        let request = if body.is_null() { request } else { request.json(body) };
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        let text = answer.text().await.unwrap();
        (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }

    /// Begins a call without waiting, and returns the id of its invocation.
    pub(crate) async fn send(&self, key: &str, body: &Value) -> String {
        let url = format!("{}/send", self.url(key, "call"));
        let answer = self.http.post(url).json(body).send().await.unwrap();
        let answer: Value = answer.json().await.unwrap();
        answer["invocationId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// Cancels an invocation, as an operator does.
    pub(crate) async fn cancel(&self, invocation: &str) {
        let url = format!("http://127.0.0.1:{}/invocations/{invocation}/cancel", self.ports[1]);
        let answer = self.http.patch(url).send().await.unwrap();
        assert!(answer.status().is_success(), "{}", answer.text().await.unwrap());
    }

    /// Waits until a column of the server's table of invocations has a text.
    pub(crate) async fn until_column(&self, invocation: &str, column: &str, text: &str) {
        let url = format!("http://127.0.0.1:{}/query", self.ports[1]);
        let query = format!("SELECT {column} FROM sys_invocation WHERE id = '{invocation}'");
        let mut last = String::new();
        for _ in 0..1_000 {
            let request = self.http.post(&url).json(&json!({ "query": query }));
            let answer = request.header("accept", "application/json").send().await.unwrap();
            last = answer.text().await.unwrap();
            if last.contains(text) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("`{column}` of invocation {invocation} is not `{text}`: {last}");
    }

    /// Waits until this many questions of a thread wait, and returns them.
    pub(crate) async fn questions(&self, key: &str, count: usize) -> Vec<Value> {
        let mut last = Value::Null;
        for _ in 0..3_000 {
            if let (200, Value::Array(waiting)) = self.call(key, "waiting", &Value::Null).await {
                if waiting.len() == count {
                    return waiting;
                }
                last = waiting.into();
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{count} questions do not wait: {last}");
    }

    /// Decides a question.
    pub(crate) async fn decide(
        &self,
        key: &str,
        question: &Value,
        decision: Value,
    ) -> (u16, Value) {
        let verdict = json!({ "id": question["id"], "decision": decision, "by": "ann" });
        self.call(key, "decide", &json!([verdict])).await
    }

    /// Returns the results of tools in the history of a thread.
    pub(crate) async fn results(&self, key: &str) -> Vec<String> {
        let (status, history) = self.call(key, "history", &Value::Null).await;
        assert_eq!(status, 200, "{history}");
        let blocks = history.as_array().unwrap().iter().filter_map(|it| it["content"].as_array());
        let results = blocks.flatten().filter(|block| block["type"] == "tool_result");
        results.map(|result| result["output"].to_string()).collect()
    }

    /// Waits for the end of an invocation, also while the server comes and goes.
    pub(crate) async fn attach(&self, invocation: &str) -> (u16, Value) {
        let url =
            format!("http://127.0.0.1:{}/restate/invocation/{invocation}/attach", self.ports[0]);
        for _ in 0..2_400 {
            if let Ok(answer) = self.http.get(&url).send().await {
                let status = answer.status().as_u16();
                if let Ok(text) = answer.text().await
                    && status != 503
                    && status != 502
                {
                    return (status, serde_json::from_str(&text).unwrap_or(Value::String(text)));
                }
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("invocation {invocation} does not end");
    }
}
