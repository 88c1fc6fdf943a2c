//! The tool calls that have run in a thread.

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

/// The tool calls that have run in a thread, as its value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Past {
    /// The number of the last start or end.
    #[serde(default)]
    number: u64,
    /// By `server::tool`, or by the name of a tool of the program.
    #[serde(default)]
    tools: BTreeMap<String, PastTool>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct PastTool {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    /// How many have started.
    count: usize,
    /// The numbers of the last start, and of the last end of each outcome.
    started: u64,
    ok: u64,
    error: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<Last>,
}

/// The last call of a tool that has finished.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Last {
    number: u64,
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

/// A tool whose calls are recorded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ran<'a> {
    pub(crate) counter: &'a str,
    pub(crate) tool: &'a str,
    pub(crate) server: Option<&'a str>,
}

impl Ran<'_> {
    /// Counts a tool call that starts.
    pub(crate) fn start(&self, cx: &CallContext) -> Result<(), ThreadValueError> {
        self.update(cx, |number, tool| {
            tool.count += 1;
            tool.started = number;
        })
    }

    /// Records how a tool call has ended.
    pub(crate) fn end(
        &self,
        cx: &CallContext,
        call: &ToolUse,
        result: &ToolResult,
    ) -> Result<(), ThreadValueError> {
        let args = Some(call.input.clone()).filter(|args| args.to_string().len() <= MOST_BYTES);
        let outcome = if result.is_error { Outcome::Error } else { Outcome::Ok };
        let (size, at) = (result.output.as_str().len(), Timestamp::now().as_second());
        self.update(cx, |number, tool| {
            tool.last = Some(Last { number, args, outcome, size, at });
            match outcome {
                Outcome::Ok => tool.ok = number,
                Outcome::Error => tool.error = number,
            }
        })
    }

    fn update(
        &self,
        cx: &CallContext,
        update: impl FnOnce(u64, &mut PastTool),
    ) -> Result<(), ThreadValueError> {
        let key = match self.server {
            Some(server) => format!("{server}::{}", self.tool),
            None => self.tool.to_owned(),
        };
        cx.owner_call().update_thread_value(self.counter, |past: &mut Option<Past>| {
            let past = past.get_or_insert_default();
            past.number += 1;
            if past.tools.len() < MOST_TOOLS || past.tools.contains_key(&key) {
                let tool = past.tools.entry(key).or_default();
                self.tool.clone_into(&mut tool.name);
                tool.server = self.server.map(str::to_owned);
                update(past.number, tool);
            }
        })
    }
}

impl PastTool {
    /// Returns the number of the last start or end.
    fn number(&self) -> u64 {
        self.started.max(self.ok).max(self.error)
    }
}

impl Past {
    /// Reads what has run in the thread of the agent whose rules these are.
    pub(crate) fn of(cx: &CallContext, counter: &str) -> Result<Self, ThreadValueError> {
        Ok(cx.owner_call().thread_value(counter)?.unwrap_or_default())
    }

    /// Returns how often each tool has started.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (&str, usize)> {
        self.tools.iter().map(|(key, tool)| (key.as_str(), tool.count))
    }

    /// Returns the tools of a name, or the one of a server and a name.
    fn named(&self, name: &str) -> impl Iterator<Item = &PastTool> {
        let has_name =
            move |(key, tool): &(&String, &PastTool)| **key == *name || tool.name == *name;
        self.tools.iter().filter(has_name).map(|(_, tool)| tool)
    }

    pub(crate) fn count(&self, name: &str) -> usize {
        self.named(name).map(|tool| tool.count).sum()
    }

    pub(crate) fn last(&self, name: &str) -> Option<&Last> {
        self.named(name).filter_map(|tool| tool.last.as_ref()).max_by_key(|last| last.number)
    }

    /// Returns whether a tool has ended with an outcome, or with any, and none of the others ran after that.
    pub(crate) fn has_finished(
        &self,
        name: &str,
        outcome: Option<Outcome>,
        others: impl Fn(&str, Option<&str>) -> bool,
    ) -> bool {
        let of_outcome = |tool: &PastTool| match outcome {
            Some(Outcome::Ok) => tool.ok,
            Some(Outcome::Error) => tool.error,
            None => tool.ok.max(tool.error),
        };
        let at = self.named(name).map(of_outcome).max().unwrap_or_default();
        let mut all = self.tools.values();
        at > 0 && !all.any(|tool| tool.number() > at && others(&tool.name, tool.server.as_deref()))
    }
}
