//! Starts the workers, kills one, starts it again, and says what survived.

use std::error::Error;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use hooks_agent::message::{GenerateReason, Messages, unanswered_tool_uses};
use hooks_agent::prelude::*;
use hooks_agent::store::{HistoryRow, Waiting};
use reqwest::Client;
use serde::de::DeserializeOwned;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::place::Place;

/// How long a step of the demonstration may take.
const LONGEST: Duration = Duration::from_secs(12);

type Done<T = ()> = Result<T, Box<dyn Error>>;

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) async fn run() -> Done {
    let path = std::env::temp_dir().join(format!("hooks-durable-{}", std::process::id()));
    std::fs::create_dir_all(&path)?;
    let folder = Folder(path);
    let place = Place::choose(&folder.0).await?;
    let told = tell(&place, &folder.0).await;
    place.clear().await?;
    told
}

async fn tell(place: &Place, folder: &Path) -> Done {
    let effects = folder.join("effects");
    println!("two workers on one {}", place.name());
    let mut first = Worker::start(place, &effects).await?;
    let second = Worker::start(place, &effects).await?;

    let reply: Msg = first.post("/threads/ada/messages", "pay baker").await?;
    same("ada's call", &reply.reason, &Some(GenerateReason::PermissionAsking))?;
    println!("ada: `pay` waits for a person");

    // These two run when their worker is killed.
    let bob = tokio::spawn(first.request("/threads/bob/messages", "bake bread").send());
    let eve = tokio::spawn(first.request("/threads/eve/messages", "look_up weather").send());
    let begun = |lines: &[String]| lines.len() == 2;
    wait_for("both tools run", async || begun(&lines(&effects))).await?;
    first.process.kill().await?;
    let is_cut_off = bob.await?.is_err() && eve.await?.is_err();
    same("the connections", &is_cut_off, &true)?;
    println!("killed the first worker in the middle of `bake` and `look_up`");

    let waiting: Vec<Waiting> = second.get("/waiting").await?;
    let [question] = &waiting[..] else { return Err(format!("{waiting:?}").into()) };
    same("the arguments", &question.arguments, &json!({ "what": "baker" }))?;
    let url = format!("/waiting/{}", question.id);
    let decision = json!({ "decision": "approve", "by": "eve" }).to_string();
    let reply: Msg = second.post(&url, &decision).await?;
    same("ada's answer", &reply.text(), &"Result: done".to_owned())?;
    let again = second.request(&url, &decision).send().await?;
    same("a second decision", &again.status().is_client_error(), &true)?;
    println!("ada: approved at the second worker, `pay` ran: {}", reply.text());

    let first = Worker::start(place, &effects).await?;
    for thread in ["bob", "eve"] {
        let url = format!("/threads/{thread}");
        let is_over =
            async || last(&second, &url).await.is_ok_and(|text| text.starts_with("Result"));
        wait_for(thread, is_over).await?;
        println!("{thread}: {}", last(&second, &url).await?);
    }
    let bob = last(&second, "/threads/bob").await?;
    same("bob is not sure", &bob.contains("unknown"), &true)?;
    same("eve's answer", &last(&second, "/threads/eve").await?, &"Result: done again".to_owned())?;

    let reply: Msg = first.post("/threads/bob/messages", "Thanks").await?;
    same("bob's thread goes on", &reply.text(), &"Message 5.".to_owned())?;
    let count = |tool: &str| lines(&effects).iter().filter(|line| line.starts_with(tool)).count();
    same("effects", &(count("pay"), count("bake"), count("look_up")), &(1, 1, 2))?;
    let keys: Vec<_> = lines(&effects).into_iter().filter(|it| it.starts_with("look_up")).collect();
    same("the key of the repeated tool call", &keys[0], &keys[1])?;
    println!("`pay` and `bake` took effect once; `look_up` ran again with the same key");
    let report = place.open().await?.report().await?;
    same("threads and questions", &(report.threads, report.cut_off, report.waiting), &(3, 0, 0))?;
    println!("{report}");
    Ok(())
}

/// A worker in a process of its own, which is killed when this is dropped.
struct Worker {
    process: Child,
    url: String,
    client: Client,
}

impl Worker {
    async fn start(place: &Place, effects: &Path) -> Done<Self> {
        let mut process = Command::new(std::env::current_exe()?)
            .args(["worker", &place.url, &place.namespace])
            .arg(effects)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let output = process.stdout.take().ok_or("the worker has no output")?;
        let mut lines = BufReader::new(output).lines();
        let address = tokio::time::timeout(LONGEST, lines.next_line()).await??;
        let address = address.ok_or("the worker ended")?;
        let client = Client::builder().no_proxy().timeout(LONGEST).build()?;
        Ok(Self { process, url: format!("http://{address}"), client })
    }

    async fn get<T: DeserializeOwned>(&self, path: &str) -> Done<T> {
        let answer = self.client.get(format!("{}{path}", self.url)).send().await?;
        Ok(serde_json::from_str(&answer.error_for_status()?.text().await?)?)
    }

    async fn post<T: DeserializeOwned>(&self, path: &str, body: &str) -> Done<T> {
        let answer = self.request(path, body).send().await?;
        Ok(serde_json::from_str(&answer.error_for_status()?.text().await?)?)
    }

    fn request(&self, path: &str, body: &str) -> reqwest::RequestBuilder {
        let request = self.client.post(format!("{}{path}", self.url));
        request.header("content-type", "application/json").body(body.to_owned())
    }
}

/// Returns the text of the last message of a thread; every tool call has one result.
async fn last(worker: &Worker, path: &str) -> Done<String> {
    let rows: Vec<HistoryRow> = worker.get(path).await?;
    let messages = rows.into_iter().map(|row| serde_json::from_value::<Msg>(row.message));
    let messages: Messages = messages.collect::<Result<_, _>>()?;
    if !unanswered_tool_uses(&messages).is_empty() {
        return Err("a tool call has no result".into());
    }
    Ok(messages.last().map(Msg::text).unwrap_or_default())
}

fn lines(effects: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(effects).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Waits until something holds.
async fn wait_for(what: &str, mut holds: impl AsyncFnMut() -> bool) -> Done {
    let began = Instant::now();
    while !holds().await {
        if began.elapsed() > LONGEST {
            return Err(format!("{what}: it took too long").into());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

fn same<T: PartialEq + Debug>(what: &str, found: &T, expected: &T) -> Done {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what}: {found:?}, expected {expected:?}").into())
}
