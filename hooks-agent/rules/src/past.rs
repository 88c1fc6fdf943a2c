//! The tool calls that have finished in a thread.

use std::collections::BTreeMap;

use hooks_agent_core::call::CallContext;
use hooks_agent_core::memory::ThreadValueError;
use hooks_agent_core::message::{ToolResult, ToolUse};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The most tools that are counted one by one.
const MOST_TOOLS: usize = 1024;
/// Larger arguments of a past call are not kept.
const MOST_BYTES: usize = 4096;

/// The tool calls that have finished in a thread, as its value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Past {
    /// The number of the last one.
    #[serde(default)]
    number: u64,
    #[serde(default)]
    tools: BTreeMap<String, PastTool>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct PastTool {
    count: usize,
    /// The numbers of the last one of each outcome.
    #[serde(default)]
    ok: u64,
    #[serde(default)]
    error: u64,
    last: Last,
}

/// The last call of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Last {
    /// Its arguments as the model sees them, unless they are large.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) args: Option<Value>,
    pub(crate) outcome: Outcome,
    /// The bytes of its result.
    pub(crate) size: usize,
    /// When it finished, in seconds since 1970.
    at: i64,
}

/// How a tool call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    Ok,
    Error,
}

impl Outcome {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
        }
    }
}

impl Last {
    /// Returns how long ago it finished, or `None` if it lies ahead.
    pub(crate) fn age(&self, now: Timestamp) -> Option<SignedDuration> {
        let age = SignedDuration::from_secs(now.as_second().saturating_sub(self.at));
        // Clocks of two machines differ by a little.
        (age > SignedDuration::from_secs(-60)).then(|| age.max(SignedDuration::ZERO))
    }
}

impl Past {
    /// Reads what has finished in the thread of the outermost call.
    pub(crate) fn of(cx: &CallContext, counter: &str) -> Result<Self, ThreadValueError> {
        Ok(cx.outermost().thread_value(counter)?.unwrap_or_default())
    }

    /// Counts a tool call that has finished.
    pub(crate) fn record(
        cx: &CallContext,
        counter: &str,
        call: &ToolUse,
        result: &ToolResult,
    ) -> Result<(), ThreadValueError> {
        let args = Some(call.input.clone()).filter(|args| args.to_string().len() <= MOST_BYTES);
        let last = Last {
            args,
            outcome: if result.is_error { Outcome::Error } else { Outcome::Ok },
            size: result.output.as_str().len(),
            at: Timestamp::now().as_second(),
        };
        cx.outermost().update_thread_value(counter, |past: &mut Option<Self>| {
            past.get_or_insert_default().add(&call.name, last);
        })
    }

    fn add(&mut self, tool: &str, last: Last) {
        self.number += 1;
        if !self.tools.contains_key(tool) && self.tools.len() >= MOST_TOOLS {
            return;
        }
        let (number, outcome) = (self.number, last.outcome);
        let entry = self.tools.entry(tool.to_owned());
        let own =
            entry.or_insert_with(|| PastTool { count: 0, ok: 0, error: 0, last: last.clone() });
        own.count += 1;
        own.last = last;
        match outcome {
            Outcome::Ok => own.ok = number,
            Outcome::Error => own.error = number,
        }
    }

    /// Returns how often each tool has finished.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (&str, usize)> {
        self.tools.iter().map(|(tool, past)| (tool.as_str(), past.count))
    }

    pub(crate) fn count(&self, tool: &str) -> usize {
        self.tools.get(tool).map_or(0, |past| past.count)
    }

    pub(crate) fn last(&self, tool: &str) -> Option<&Last> {
        self.tools.get(tool).map(|past| &past.last)
    }

    /// Returns whether a tool has finished with an outcome, or with any, and none of the others after that.
    pub(crate) fn has_finished(
        &self,
        tool: &str,
        outcome: Option<Outcome>,
        others: impl Fn(&str) -> bool,
    ) -> bool {
        let Some(past) = self.tools.get(tool) else { return false };
        let at = match outcome {
            Some(Outcome::Ok) => past.ok,
            Some(Outcome::Error) => past.error,
            None => past.ok.max(past.error),
        };
        let is_later =
            |(name, past): (&String, &PastTool)| others(name) && past.ok.max(past.error) > at;
        at > 0 && !self.tools.iter().any(is_later)
    }
}
