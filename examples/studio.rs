//! A page in the browser that shows what three agents do, and takes the decisions that they wait for.
//!
//! - `cargo run --example studio --features studio` prints the address of the page and keeps the
//!   agents busy until Ctrl-C.
//! - Without a terminal each agent works once, a stand-in for a person decides through the API of the
//!   page, and the program ends. `-- --serve` keeps it running there too.
//!
//! The models are scripts that speak word by word, as real ones do.

#[path = "studio/agents.rs"]
mod agents;
#[path = "studio/models.rs"]
mod models;
#[path = "studio/person.rs"]
mod person;

use std::io::IsTerminal;
use std::sync::Arc;
use std::time::Duration;

use hooks_agent::builtin::connect::Studio;
use hooks_agent::prelude::*;

use crate::agents::Office;
use crate::person::Person;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What people ask, and on which thread.
const SUPPORT: [(&str, &str); 4] = [
    ("ada", "Where is my order 1017? Write to ada@example.com, please."),
    ("bob", "The tracking page of order 1023 is empty. My card is 4532 0151 1283 0366."),
    ("carol", "Has order 1031 left yet? I move on Friday."),
    ("dan", "Order 1044 came twice. What do I do with the second one?"),
];
const CLERK: [(&str, &str); 3] = [
    ("bakery", "Pay the invoice of the bakery, 184 euros."),
    ("printer", "The printer sent a reminder. Pay it."),
    ("rent", "Pay the rent of the office."),
];
const RESEARCH: [(&str, &str); 3] = [
    ("rivers", "How did the level of the river change this year, and why?"),
    ("harbour", "Summarise what the papers say about the harbour."),
    ("bridges", "Which bridges were closed for repairs?"),
];

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let is_endless = std::env::args().any(|arg| arg == "--serve") || std::io::stdin().is_terminal();
    // What an agent says before its hooks have seen the end of it, and what hooks replaced, is for
    // the eyes of developers.
    let studio = Studio::new().allow_chat(true).show_drafts(true).show_removed(true);
    let pace = if is_endless { Duration::from_millis(70) } else { Duration::from_millis(1) };
    let office = Office::open(&studio, pace)?;
    let studio = office.agents().into_iter().fold(studio, Studio::agent);
    let server = studio.bind("127.0.0.1:0").await?;
    let serving = tokio::spawn(server.serve());

    if is_endless {
        println!("open {}", server.url());
        println!("Ctrl-C ends it");
        let _busy = [
            tokio::spawn(repeat(office.support.clone(), &SUPPORT, 4)),
            tokio::spawn(repeat(office.clerk.clone(), &CLERK, 45)),
            tokio::spawn(repeat(office.research.clone(), &RESEARCH, 9)),
        ]
        .map(Abort);
        tokio::signal::ctrl_c().await?;
    } else {
        once(&office, &Person::open(&server.url()).await?).await?;
    }
    server.shutdown().await;
    serving.await??;
    Ok(())
}

/// Ends a task when the program goes on without it.
struct Abort(tokio::task::JoinHandle<()>);

impl Drop for Abort {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Calls an agent again and again, with a pause in seconds. A call that fails is one more thing to see.
async fn repeat(agent: Arc<ReActAgent>, requests: &[(&str, &str)], pause: u64) {
    for (thread, text) in requests.iter().cycle() {
        let _ = agent.call_with(CallOptions::new().thread(*thread), *text).await;
        tokio::time::sleep(Duration::from_secs(pause)).await;
    }
}

/// One call of each agent, and the decisions of a person.
async fn once(office: &Office, person: &Person) -> Result<(), Failure> {
    for (agent, requests) in [
        (&office.support, &SUPPORT[..]),
        (&office.clerk, &CLERK[..2]),
        (&office.research, &RESEARCH),
    ] {
        for (thread, text) in requests {
            println!("{} on {thread}: {text}", agent.name());
            match agent.call_with(CallOptions::new().thread(*thread), *text).await {
                Ok(reply) if reply.pending().is_empty() => println!("  {}", reply.text()),
                Ok(reply) => println!("  {} tool call waits", reply.pending().len()),
                Err(error) => println!("  failed: {error}"),
            }
        }
    }
    println!("a person at the page:");
    person.decide_all().await?;
    person.print_runs().await
}
