//! Begins the calls, kills what runs them, and says what survived.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use reqwest::{Client, StatusCode};
use serde_json::Value;

use crate::Done;
use crate::client::{approve, attach, question, register, send, steps};
use crate::notes::Notes;
use crate::server::{self, Server};
use crate::worker::Port;

/// The threads. The first one pays.
const THREADS: [&str; 8] = ["ada", "bob", "cleo", "dan", "eva", "finn", "gus", "hana"];

/// How long a step of the demonstration may take.
const LONGEST: Duration = Duration::from_secs(12);

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) async fn run() -> Done {
    let Some(program) = server::find() else {
        println!(
            "skipped: no Restate server, `npm install --prefix target/restate \
             @restatedev/restate-server` installs one (Business Source License 1.1)"
        );
        return Ok(());
    };
    let path = std::env::temp_dir().join(format!("hooks-durable-engine-{}", std::process::id()));
    std::fs::create_dir_all(&path)?;
    let folder = Folder(path);
    let client = Client::builder().no_proxy().build()?;
    // It is dropped before the folder.
    let server = Server::start(program, &folder.0.join("server"), &client).await?;
    tell(server, &folder.0, &client).await
}

async fn tell(mut server: Server, folder: &Path, client: &Client) -> Done {
    let (notes, port) = (Notes::new(folder)?, Port::keep()?);
    let mut workers = [port.start(folder).await?, port.start(folder).await?];
    register(client, &server, port.number).await?;
    println!("a server and two workers run");

    let (began, mut kills) = (Instant::now(), 0);
    let mut calls = Vec::new();
    for thread in THREADS {
        calls.push(send(client, &server, thread, &task(thread)).await?);
    }
    println!("{} calls begin, each is sent once", calls.len());

    let effects = until(&notes, 4).await?;
    workers[0].kill().await?;
    kills += 1;
    println!("killed a worker after {effects} effects");
    let effects = until(&notes, effects + 8).await?;
    server.kill().await?;
    kills += 1;
    println!("killed the server after {effects} effects");
    workers[0] = port.start(folder).await?;
    server.restart().await?;

    let shown = question(client, &server, THREADS[0]).await?;
    println!(
        "{} waits for a person: `{}` {}",
        THREADS[0],
        text(&shown["tool"]),
        shown["arguments"]
    );
    for worker in &mut workers {
        worker.kill().await?;
        kills += 1;
    }
    server.kill().await?;
    kills += 1;
    println!("killed the server and both workers");
    server.restart().await?;
    for worker in &mut workers {
        *worker = port.start(folder).await?;
    }
    let asked = question(client, &server, THREADS[0]).await?;
    same("the question", &asked, &shown)?;
    let status = approve(client, &server, THREADS[0], &asked).await?;
    same("the decision", &status.is_success(), &true)?;
    let status = approve(client, &server, THREADS[0], &asked).await?;
    same("a second decision", &status, &StatusCode::CONFLICT)?;
    println!("the question is still there: approved; a second decision is refused");

    for (thread, call) in THREADS.iter().zip(&calls) {
        let reply = attach(client, &server, call).await?;
        let (said, expected) =
            (text(&reply["content"][0]["text"]), format!("Done: {}.", task(thread)));
        same("a reply", &said, &expected.as_str())?;
    }
    let lasted = began.elapsed();
    let steps = steps(client, &server, &calls).await?;
    println!("what survived {kills} kills in {:.1} s:", lasted.as_secs_f64());
    report(&notes, &steps)
}

/// Checks what is there against what was asked for, and prints it.
fn report(notes: &Notes, steps: &[String]) -> Done {
    let calls = THREADS.len();
    println!("  calls that ended: {calls} of {calls}");

    // Three answers of the clerk to each call, one more to that which pays, and two of the poet.
    let (answers, asked) = (5 * calls + 1, notes.lines("models"));
    let journaled: Vec<_> = steps.iter().filter(|step| step.contains("model/")).collect();
    let different = journaled.iter().collect::<BTreeSet<_>>().len();
    same("answers of models in the journal", &(journaled.len(), different), &(answers, answers))?;
    let again = asked.len() - answers;
    println!(
        "  answers of models in the journal: {different} of {answers}, each once; \
         {again} were asked for again, because they were not there yet"
    );

    let mut expected = Vec::new();
    for text in THREADS.map(task) {
        expected.extend(["book", "order", "print"].map(|tool| format!("{tool}: {text}")));
    }
    expected.push(format!("pay: {}", task(THREADS[0])));
    expected.sort();
    let effects = notes.effects()?;
    same("effects", &effects, &expected)?;
    let repeated = notes.lines("repeated").len();
    println!(
        "  effects by idempotency key: {} of {}, each once; {repeated} requests came again with \
         their key",
        effects.len(),
        expected.len()
    );
    Ok(())
}

fn task(thread: &str) -> String {
    let pays = if thread == THREADS[0] { " and pay" } else { "" };
    format!("the party of {thread}{pays}")
}

/// Waits until there are so many effects, and returns how many there are.
async fn until(notes: &Notes, least: usize) -> Done<usize> {
    let began = Instant::now();
    loop {
        let effects = notes.effects()?.len();
        if effects >= least {
            return Ok(effects);
        }
        if began.elapsed() > LONGEST {
            return Err(format!("{effects} effects, there should be {least}").into());
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn same<T: PartialEq + Debug>(what: &str, found: &T, expected: &T) -> Done {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what}: {found:?}, expected {expected:?}").into())
}
