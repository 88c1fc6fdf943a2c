//! `StructuredOutput`: an answer fits its type, or the call says why there is none.
//!
//! Vectors of the Java source (`StructuredOutputHookTest`) that end otherwise:
//!
//! | vector | there | here |
//! |---|---|---|
//! | an ordinary user message in mode `TOOL_CHOICE` | the tool is not forced | a tool call is required from the first round on |
//! | an answer in words | goes back with a reminder | the same, unless the words contain JSON that fits |
//! | the last message is a reminder | this one tool is forced | a call of any tool: the model may look something up first |
//! | the reminder | role user, name `system`, metadata `reminder` | role and name of the user, metadata `structured_output` |
//! | the call of the answer's tool | runs as a tool, and is removed from memory at the end | is the text of the answer: nothing runs, and memory has no call |
//! | reminders after the call | removed from memory | stay: memory is what the model read |

mod calls;
mod ends;
mod guards;
mod modes;
mod partials;
mod problems;
mod retries;
mod texts;

use hooks_agent_builtin::answer::{Mode, Problem, StructuredOutput, StructuredOutputError};
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Item {
    name: String,
    price: f64,
}

/// What is to be paid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Invoice {
    number: u32,
    items: Vec<Item>,
    #[serde(default)]
    note: Option<String>,
}

const GOOD: &str = r#"{"number":7,"items":[{"name":"ink","price":2.5}],"note":null}"#;

fn invoice() -> Invoice {
    serde_json::from_str(GOOD).unwrap()
}

fn bot(script: &Script) -> ReActAgent {
    ReActAgent::builder("bot").model(script.clone()).build().unwrap()
}

/// The hook for invoices.
fn of_invoices(mode: Mode) -> StructuredOutput {
    StructuredOutput::of::<Invoice>().mode(mode).build().unwrap()
}

/// The paths and words of the problems of an error, sorted: objects have no order.
fn words(error: &StructuredOutputError) -> Vec<String> {
    let mut words: Vec<_> = error.problems().iter().map(Problem::to_string).collect();
    words.sort();
    words
}
