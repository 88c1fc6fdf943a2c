//! A worker in a process of its own: this program, run again.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use hooks_agent::prelude::*;
use hooks_restate::Worker;
use serde_json::{Value, json};
use tokio::process::{Child, Command};

use crate::deploy::{later, other};

/// The variable with the port that a worker serves.
const PORT: &str = "TEST_WORKER_PORT";

/// The variable with the folder in which a worker leaves what it does.
const FOLDER: &str = "TEST_WORKER_FOLDER";

/// The variable with the build of a worker, `old` or `new`.
const BUILD: &str = "TEST_WORKER_BUILD";

/// Starts a worker of the newest build.
pub(crate) async fn start(port: u16, folder: &Path) -> Child {
    start_build(port, folder, "new").await
}

/// Starts a worker of a build.
pub(crate) async fn start_build(port: u16, folder: &Path, build: &str) -> Child {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "worker::serves", "--nocapture"])
        .env(PORT, port.to_string())
        .env(FOLDER, folder)
        .env(BUILD, build)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        // A panic that a test wants is no news.
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    for _ in 0..1_200 {
        if tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
            return child;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the worker does not listen");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn serves() {
    let Ok(port) = std::env::var(PORT) else { return };
    let world = World(std::env::var(FOLDER).unwrap().into());
    let address = format!("127.0.0.1:{port}").parse().unwrap();
    let build = std::env::var(BUILD).unwrap();
    let worker = match &*build {
        "later" => later(&world),
        "other" => other(&world),
        build => Worker::new(world.agents(build)),
    };
    worker.serve(Worker::listen_shared(address).unwrap(), std::future::pending()).await;
}

/// What workers do, in files.
#[derive(Clone)]
pub(crate) struct World(pub(crate) PathBuf);

impl World {
    /// Appends a line to a file.
    pub(crate) fn note(&self, file: &str, line: &str) {
        let file = OpenOptions::new().create(true).append(true).open(self.0.join(file)).unwrap();
        (&file).write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// The time in milliseconds since 1970.
    pub(crate) fn now() -> u128 {
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis()
    }

    /// The lines of a file, sorted.
    pub(crate) fn lines(&self, file: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.0.join(file)).unwrap_or_default();
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    }

    /// The lines of a file, in the order in which they were written.
    pub(crate) fn log(&self, file: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.0.join(file)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Waits until a file has a line.
    pub(crate) async fn until(&self, file: &str, line: &str) {
        for _ in 0..3_000 {
            if self.log(file).iter().any(|it| it == line) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("`{file}` has no line `{line}`: {:?}", self.log(file));
    }

    /// An agent that runs three rounds of two tools each, at once, and answers.
    pub(crate) fn steps(&self) -> ReActAgent {
        let world = self.clone();
        let model = ScriptedModel::new("steps", move |request| -> ScriptedAnswer {
            let since = request.messages.iter().rev().take_while(|msg| msg.role != Role::User);
            let round = since.filter(|msg| msg.role == Role::Assistant).count();
            let text = request.messages.iter().rfind(|msg| msg.role == Role::User);
            let text = text.map(Msg::text).unwrap_or_default();
            world.note("models", &format!("{text} {round}"));
            if round == 3 {
                return format!("{text} is done.").into();
            }
            let call = |number: usize| {
                let input = json!({ "of": format!("{text} {round}.{number}") });
                ContentBlock::ToolUse(ToolUse::new(format!("c{number}"), "effect", input))
            };
            ScriptedAnswer::from(vec![call(0), call(1)])
        });
        let world = self.clone();
        let effect = FunctionTool::with_context(
            "effect",
            "Has an effect.",
            move |input: Value, cx: ToolContext| {
                let of = input["of"].as_str().unwrap_or_default().to_owned();
                world.note("started", &format!("{of} {}", cx.idempotency_key()));
                let world = world.clone();
                async move {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    world.note("effects", &format!("{of} {}", cx.idempotency_key()));
                    format!("did {of}")
                }
            },
        );
        ReActAgent::builder("steps").model(model).tool(effect).parallel_tools(true).build().unwrap()
    }
}
