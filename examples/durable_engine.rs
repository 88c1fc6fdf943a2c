//! Calls that finish by themselves on the durable engine Restate, although everything that runs them is
//! killed.
//!
//! `cargo run --example durable_engine --features restate` starts a Restate server and two workers,
//! begins some calls, kills a worker, then the server, then everything while a payment waits for a
//! person, and prints what survived: read from the journal of the server and from the files that the
//! tools left. Nobody calls again: each call is sent once.
//!
//! The server is from npm: `.ci/servers` installs it in `target/restate`; one on `PATH` serves as well.
//! Without a server the program says how to install it, and ends.

#[path = "durable_engine/agents.rs"]
mod agents;
#[path = "durable_engine/client.rs"]
mod client;
#[path = "durable_engine/notes.rs"]
mod notes;
#[path = "durable_engine/script.rs"]
mod script;
#[path = "durable_engine/server.rs"]
mod server;
#[path = "durable_engine/worker.rs"]
mod worker;

use std::error::Error;

type Done<T = ()> = Result<T, Box<dyn Error>>;

#[tokio::main]
async fn main() -> Done {
    let args: Vec<_> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => script::run().await,
        ["worker", port, folder] => worker::serve(port.parse()?, folder.as_ref()).await,
        _ => Err("usage: durable_engine".into()),
    }
}
