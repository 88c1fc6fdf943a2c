//! Prints the answers of commands, and why they failed.

use std::fmt;
use std::io::{self, Write};
use std::process::{self, ExitCode};

use hooks_agent_guest::Answer;
use tracing_subscriber::filter::LevelFilter;

/// Prints a line. Where nobody reads it, the program ends: `hooks-agent check policy.toml | head -1`.
macro_rules! say {
    ($($words:tt)*) => {
        $crate::print::line(format_args!($($words)*))
    };
}

pub(crate) fn line(words: fmt::Arguments<'_>) {
    if writeln!(io::stdout().lock(), "{words}").is_err() {
        process::exit(1);
    }
}

/// The exit code by which most coding agents block their event.
pub(crate) const BLOCKED: u8 = 2;

/// Prints an answer, and returns the exit code. An answer that nobody can read blocks.
pub(crate) fn print(answer: &Answer) -> ExitCode {
    if let Some(error) = &answer.error {
        // Nothing can be done about an output that is closed.
        let _ = writeln!(io::stderr(), "{error}");
    }
    let Some(json) = &answer.json else { return ExitCode::from(answer.code) };
    let mut out = io::stdout().lock();
    match writeln!(out, "{json}").and_then(|()| out.flush()) {
        Ok(()) => ExitCode::from(answer.code),
        Err(error) => failed(&error, BLOCKED),
    }
}

/// Has warnings of a program that stays printed on standard error.
pub(crate) fn warn_on_stderr() {
    let log = tracing_subscriber::fmt().with_max_level(LevelFilter::WARN);
    log.with_writer(io::stderr).with_ansi(false).init();
}

/// Prints an error with its causes, and what the exit code says.
pub(crate) fn failed(error: &(dyn std::error::Error + 'static), code: u8) -> ExitCode {
    let mut cause = Some(error);
    while let Some(error) = cause {
        eprintln!("{error}");
        cause = error.source();
    }
    ExitCode::from(code)
}
