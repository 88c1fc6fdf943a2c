//! The program: reads an event, asks, prints the answer.

use std::io::{self, Read, Write};
use std::process::{self, ExitCode};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::args::{Args, USAGE};
use crate::ask::ask;
use crate::reply::Reply;

/// The exit code by which most coding agents block their event.
const BLOCKED: u8 = 2;

/// Whether the answer is printed, or is about to be.
static PRINTED: Mutex<bool> = Mutex::new(false);

/// The most bytes of an event.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// Runs the program with the arguments of this process. Whatever goes wrong ends it with exit code 2, and why on standard
/// error.
#[must_use]
pub fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    if let (Some(only), None) = (args.next(), args.next())
        && (only == "--help" || only == "--version")
    {
        println!("hooks-agent-ask {}: {USAGE}", env!("CARGO_PKG_VERSION"));
        return ExitCode::SUCCESS;
    }
    let asked = Args::parse(std::env::args_os().skip(1)).and_then(|args| {
        end_after(args.deadline)?;
        asked(&args)
    });
    match asked.and_then(|reply| print(&reply)) {
        Ok(code) => ExitCode::from(code),
        Err(why) => blocked(&why),
    }
}

/// Ends the process as one that has no answer, whatever it waits for then. An agent that waits longer goes on without it.
fn end_after(deadline: Duration) -> Result<(), String> {
    let watch = move || {
        thread::sleep(deadline);
        // While this is held nothing else is printed.
        let is_printed = PRINTED.lock().unwrap_or_else(PoisonError::into_inner);
        if !*is_printed {
            blocked("the answer took too long");
            process::exit(i32::from(BLOCKED));
        }
    };
    let started = thread::Builder::new().spawn(watch);
    started.map(drop).map_err(|error| format!("there is no thread for the deadline: {error}"))
}

fn blocked(why: &str) -> ExitCode {
    // Nothing can be done about an output that is closed.
    let _ = writeln!(io::stderr(), "hooks-agent-ask: {why}");
    ExitCode::from(BLOCKED)
}

fn asked(args: &Args) -> Result<Reply, String> {
    let mut event = Vec::new();
    let read = io::stdin().lock().take(MOST_BYTES + 1).read_to_end(&mut event);
    read.map_err(|error| format!("the event cannot be read: {error}"))?;
    if event.len() as u64 > MOST_BYTES {
        return Err(format!("the event has more than {MOST_BYTES} bytes"));
    }
    ask(args, &event)
}

fn print(reply: &Reply) -> Result<u8, String> {
    let mut is_printed = PRINTED.lock().unwrap_or_else(PoisonError::into_inner);
    *is_printed = true;
    let failed = |error: io::Error| format!("the answer cannot be printed: {error}");
    io::stderr().write_all(reply.error()).map_err(failed)?;
    let mut out = io::stdout().lock();
    out.write_all(reply.output()).and_then(|()| out.flush()).map_err(failed)?;
    Ok(reply.code())
}
