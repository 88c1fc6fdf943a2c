//! Recorded runs, as `AgentDojo` writes them.

use std::collections::BTreeMap;
use std::path::Path;

use hooks_core::BoxError;
use serde::Deserialize;
use serde_json::{Map, Value};

/// A recorded run of a task.
pub(super) struct Run {
    pub(super) suite: String,
    /// The folder of the model's runs, or else the name of the pipeline.
    pub(super) model: String,
    /// The id of the task: `user_task_3`, or that of an attacker's own.
    pub(super) task: String,
    /// The number of the injection, if there is one.
    pub(super) injection: Option<u32>,
    pub(super) attack: String,
    /// The texts of the attack.
    pub(super) injections: Vec<String>,
    pub(super) system: String,
    pub(super) turns: Vec<Turn>,
    /// All tool calls, in order.
    pub(super) calls: Vec<Call>,
    /// The calls of the attack, if the run says them.
    pub(super) attack_calls: Option<Vec<usize>>,
    pub(super) has_error: bool,
    /// Whether the user's task was done.
    pub(super) utility: bool,
    /// Whether the attacker's goal was reached.
    pub(super) security: bool,
}

/// A message of a run that is no result.
pub(super) enum Turn {
    User(String),
    /// A text of the model, and the indices of its calls.
    Model(String, std::ops::Range<usize>),
}

/// A tool call, with its result.
pub(super) struct Call {
    pub(super) tool: String,
    pub(super) arguments: Map<String, Value>,
    /// The text, and whether it is an error; `None` if the run ends before.
    pub(super) result: Option<(String, bool)>,
    /// Which message has it.
    pub(super) message: usize,
}

#[derive(Deserialize)]
struct Raw {
    suite_name: String,
    pipeline_name: String,
    #[serde(default)]
    user_task_id: String,
    injection_task_id: Option<String>,
    attack_type: Option<String>,
    #[serde(default)]
    injections: Option<BTreeMap<String, String>>,
    messages: Option<Vec<RawMessage>>,
    error: Option<Value>,
    utility: Option<bool>,
    security: Option<bool>,
    attack_calls: Option<Vec<RawAttackCall>>,
}

#[derive(Deserialize)]
struct RawMessage {
    role: String,
    content: Option<RawContent>,
    tool_calls: Option<Vec<RawCall>>,
    error: Option<Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RawContent {
    Text(String),
    Blocks(Vec<RawBlock>),
}

#[derive(Deserialize)]
struct RawBlock {
    #[serde(default, alias = "text")]
    content: Option<String>,
}

#[derive(Clone, Deserialize, PartialEq)]
pub(super) struct RawCall {
    function: String,
    #[serde(default)]
    args: Map<String, Value>,
}

/// A call of the attack: its index, or the call.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum RawAttackCall {
    Index(usize),
    Call(RawCall),
}

/// Returns the indices of the calls of an attack.
pub(super) fn indices(of_attack: Vec<RawAttackCall>, calls: &[Call]) -> Vec<usize> {
    let index = |call: RawAttackCall| match call {
        RawAttackCall::Index(index) => (index < calls.len()).then_some(index),
        RawAttackCall::Call(RawCall { function, args }) => {
            calls.iter().position(|call| call.tool == function && call.arguments == args)
        }
    };
    of_attack.into_iter().filter_map(index).collect()
}

impl RawMessage {
    fn text(&self) -> String {
        match &self.content {
            None => String::new(),
            Some(RawContent::Text(text)) => text.clone(),
            Some(RawContent::Blocks(blocks)) => {
                let texts: Vec<_> =
                    blocks.iter().filter_map(|block| block.content.as_deref()).collect();
                texts.join("\n")
            }
        }
    }
}

impl Run {
    /// Reads a run. `folder` is the folder of its model, if that is known.
    pub(super) fn read(file: &Path, folder: &str) -> Result<Self, BoxError> {
        let raw: Raw = serde_json::from_slice(&std::fs::read(file)?)?;
        raw.run(folder)
    }
}

impl Raw {
    fn run(self, folder: &str) -> Result<Run, BoxError> {
        let (mut system, mut turns, mut calls) = (String::new(), Vec::new(), Vec::<Call>::new());
        // Results come in the order of the calls.
        let mut answered = 0;
        for (message, raw) in self.messages.unwrap_or_default().into_iter().enumerate() {
            let text = raw.text();
            match raw.role.as_str() {
                "system" => system = text,
                "user" => turns.push(Turn::User(text)),
                "assistant" => {
                    let start = calls.len();
                    answered = start;
                    calls.extend(raw.tool_calls.unwrap_or_default().into_iter().map(|call| Call {
                        tool: call.function,
                        arguments: call.args,
                        result: None,
                        message,
                    }));
                    turns.push(Turn::Model(text, start..calls.len()));
                }
                "tool" => {
                    let error = raw.error.filter(|error| !error.is_null());
                    let result = match error {
                        Some(Value::String(error)) => (error, true),
                        Some(error) => (error.to_string(), true),
                        None => (text, false),
                    };
                    let call = calls.get_mut(answered).ok_or("a result without a call")?;
                    (call.result, answered) = (Some(result), answered + 1);
                }
                role => return Err(format!("unknown role `{role}`").into()),
            }
        }
        let attack_calls = self.attack_calls.map(|of_attack| indices(of_attack, &calls));
        let injection = self.injection_task_id.map(|id| {
            let number = id.rsplit('_').next().and_then(|number| number.parse().ok());
            number.ok_or_else(|| format!("expected `injection_task_3`, found `{id}`"))
        });
        Ok(Run {
            suite: self.suite_name,
            model: if folder.is_empty() { self.pipeline_name } else { folder.to_owned() },
            task: self.user_task_id,
            injection: injection.transpose()?,
            attack: self.attack_type.unwrap_or_else(|| "none".to_owned()),
            injections: self.injections.unwrap_or_default().into_values().collect(),
            system,
            turns,
            calls,
            attack_calls,
            has_error: self.error.is_some_and(|error| !error.is_null()),
            utility: self.utility.unwrap_or(false),
            security: self.security.unwrap_or(false),
        })
    }
}
