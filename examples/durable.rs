//! Agents behind a web server whose processes may be killed: what was said, what waits for a person and
//! what tools did survives.
//!
//! `cargo run --example durable --features durable` starts two workers on one store, asks them for
//! work, kills one of them in the middle of two tools, starts it again and prints what survived. The
//! store is the PostgreSQL of `DATABASE_URL`, or `postgres://root@127.0.0.1/test` if it answers, in the
//! schema `hooks_durable`; else an SQLite file.
//!
//! | request | |
//! |---|---|
//! | `POST /threads/{id}/messages` | a message; the reply comes when the agent answers or waits |
//! | `GET /threads/{id}` | what was said |
//! | `GET /waiting` | what waits for a person |
//! | `POST /waiting/{id}` | a decision: `{"decision": "approve", "by": "eve"}` |

#[path = "durable/clerk.rs"]
mod clerk;
#[path = "durable/driver.rs"]
mod driver;
#[path = "durable/place.rs"]
mod place;
#[path = "durable/worker.rs"]
mod worker;

use std::error::Error;

use crate::place::Place;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<_> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => driver::run().await,
        ["worker", url, namespace, effects] => {
            worker::serve(&Place::new(url, namespace), effects.as_ref()).await
        }
        _ => Err("usage: durable".into()),
    }
}
