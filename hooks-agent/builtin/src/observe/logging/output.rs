//! Where a log goes: to `tracing`, or to a writer.

use std::fmt::{self, Write as _};
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use tracing::Level;

use crate::observe::logging::fields::Fields;

/// A writer of lines, and the number of lines that it lost.
pub(super) struct Lines {
    out: Mutex<Out>,
    failures: AtomicU64,
}

struct Out {
    writer: Box<dyn Write + Send>,
    /// Whether the last line may have been written in part.
    is_torn: bool,
}

impl Lines {
    pub(super) fn new(writer: impl Write + Send + 'static) -> Self {
        let out = Out { writer: Box::new(writer), is_torn: false };
        Self { out: Mutex::new(out), failures: AtomicU64::new(0) }
    }

    pub(super) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    pub(super) fn write(&self, line: &str) {
        let written = {
            let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
            let written = catch_unwind(AssertUnwindSafe(|| out.write(line)));
            let written = written.unwrap_or_else(|_| Err(io::Error::other("the writer panicked")));
            out.is_torn = written.is_err();
            written
        };
        if let Err(error) = written
            && self.failures.fetch_add(1, Ordering::Relaxed) == 0
        {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(target: "hooks_agent::builtin::observe", error, "an event was not logged, later failures are counted only");
        }
    }
}

impl Out {
    fn write(&mut self, line: &str) -> io::Result<()> {
        if self.is_torn {
            self.writer.write_all(b"\n")?;
        }
        self.writer.write_all(line.as_bytes())?;
        self.writer.flush()
    }
}

/// Returns the line of an event, with its line feed.
pub(super) fn line(time: u64, level: Level, fields: &Fields<'_>) -> String {
    let mut line = Line(String::with_capacity(LINE));
    // Writing to a string does not fail.
    let _ = write!(line.0, "time={time} level={level}");
    let Fields { event, agent, run, parent, thread, more } = fields;
    line.text("event", Some(event));
    line.text("agent", Some(agent));
    line.plain("run", Some(run));
    line.text("parent", parent.as_deref());
    line.text("thread", Some(thread));
    line.text("model", more.model);
    line.plain("messages", more.messages);
    line.plain("tools", more.tools);
    line.text("tool", more.tool);
    line.text("tool_call", more.tool_call);
    line.plain("is_error", more.is_error);
    line.text("answered_by", more.answered_by);
    line.plain("bytes", more.bytes);
    line.plain("input_tokens", more.input_tokens);
    line.plain("output_tokens", more.output_tokens);
    line.text("reason", more.reason.as_deref());
    line.plain("pending", more.pending);
    line.text("phase", more.phase);
    line.text("error", more.error);
    line.text("hook", more.hook);
    line.text("outcome", more.outcome);
    line.text("content", more.content.as_deref());
    line.0.push('\n');
    line.0
}

/// The bytes of texts that need no quotes.
const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        plain[byte as usize] =
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':' | b'/' | b'+');
        byte += 1;
    }
    plain
};

/// The room for a line, which most fit into.
const LINE: usize = 256;

struct Line(String);

impl Line {
    fn key(&mut self, key: &str) {
        self.0.push(' ');
        self.0.push_str(key);
        self.0.push('=');
    }

    /// Adds a number, or another value that needs no quotes.
    fn plain(&mut self, key: &str, value: Option<impl fmt::Display>) {
        let Some(value) = value else { return };
        self.key(key);
        // Writing to a string does not fail.
        let _ = write!(self.0, "{value}");
    }

    fn text(&mut self, key: &str, value: Option<&str>) {
        let Some(value) = value else { return };
        self.key(key);
        if !value.is_empty() && value.bytes().all(|byte| PLAIN[usize::from(byte)]) {
            return self.0.push_str(value);
        }
        self.0.push('"');
        value.chars().for_each(|char| self.put_char(char));
        self.0.push('"');
    }

    fn put_char(&mut self, char: char) {
        match char {
            '"' | '\\' => self.0.extend(['\\', char]),
            '\n' => self.0.push_str("\\n"),
            char if is_hidden(char) => {
                // Writing to a string does not fail.
                let _ = write!(self.0, "\\u{{{:x}}}", u32::from(char));
            }
            char => self.0.push(char),
        }
    }
}

/// Returns whether a viewer could break the line here, or show its text in another order.
fn is_hidden(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Returns whether a subscriber of `tracing` is interested in this level.
pub(super) fn is_enabled(level: Level) -> bool {
    macro_rules! enabled {
        ($level:ident) => {
            tracing::enabled!(target: "hooks_agent::log", Level::$level)
        };
    }
    match level {
        Level::ERROR => enabled!(ERROR),
        Level::WARN => enabled!(WARN),
        Level::INFO => enabled!(INFO),
        Level::DEBUG => enabled!(DEBUG),
        Level::TRACE => enabled!(TRACE),
    }
}

/// Emits an event of `tracing`. Its level is part of where it is emitted, so each has its own place.
pub(super) fn emit(level: Level, fields: &Fields<'_>) {
    let Fields { event, agent, run, parent, thread, more } = fields;
    macro_rules! emit {
        ($level:ident) => {
            tracing::event!(
                target: "hooks_agent::log", Level::$level, event, agent, %run,
                parent = parent.as_deref(), thread, model = more.model, messages = more.messages,
                tools = more.tools, tool = more.tool, tool_call = more.tool_call,
                is_error = more.is_error, answered_by = more.answered_by, bytes = more.bytes,
                input_tokens = more.input_tokens, output_tokens = more.output_tokens,
                reason = more.reason.as_deref(), pending = more.pending, phase = more.phase,
                error = more.error, hook = more.hook, outcome = more.outcome,
                content = more.content.as_deref(),
            )
        };
    }
    match level {
        Level::ERROR => emit!(ERROR),
        Level::WARN => emit!(WARN),
        Level::INFO => emit!(INFO),
        Level::DEBUG => emit!(DEBUG),
        Level::TRACE => emit!(TRACE),
    }
}
