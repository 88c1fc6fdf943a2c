//! Runs on tapes of our own agents: each thread of an outermost agent is one.

use std::collections::HashSet;
use std::path::Path;

use hooks_agent_core::message::{Messages, Role};
use hooks_agent_replay::{RecordedCall, Recording};
use hooks_core::BoxError;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::score::runs::record::{Call, RawAttackCall, Run, Turn, indices};

/// What is known of the runs on a tape: the file `NAME.toml` beside `NAME.tape`. Without one, they are
/// tasks of users that were done, without an attack.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    /// Default: the name of the agent.
    suite_name: Option<String>,
    /// The name of the attack, if there was one.
    attack_type: Option<String>,
    /// The number of the injection, by which goals are found.
    #[serde(default)]
    injection: u32,
    /// The texts of the attack.
    #[serde(default)]
    injections: Vec<String>,
    attack_calls: Option<Vec<RawAttackCall>>,
    /// Whether the user's task was done.
    #[serde(default = "yes")]
    utility: bool,
    /// Whether the attacker's goal was reached.
    #[serde(default)]
    security: bool,
}

const fn yes() -> bool {
    true
}

/// Reads the runs on a tape. `folder` is the folder of its model, if that is known.
pub(super) fn read(file: &Path, folder: &str) -> Result<Vec<Run>, BoxError> {
    let recording = Recording::read(file)?;
    let mut threads = HashSet::new();
    let mut runs = Vec::new();
    for call in recording.calls().iter().filter(|call| call.parent().is_none()) {
        if threads.insert((call.agent(), call.thread())) {
            runs.push(run(&recording, call, known(file)?, folder)?);
        }
    }
    Ok(runs)
}

fn known(tape: &Path) -> Result<Known, BoxError> {
    let file = tape.with_extension("toml");
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(format!("{}: {error}", file.display()).into()),
    };
    toml::from_str(&text).map_err(|error| format!("{}: {error}", file.display()).into())
}

/// Returns the run of the thread on which a call is the first one.
fn run(
    recording: &Recording,
    first: &RecordedCall,
    known: Known,
    folder: &str,
) -> Result<Run, BoxError> {
    let (name, thread) = (first.agent(), first.thread());
    let said = recording.conversation(name, thread)?;
    let (turns, calls) = turns(&said);
    let agent = recording.agents().iter().find(|agent| agent.name() == name);
    let model = agent.map_or("unknown", |agent| agent.model());
    let of_thread = |call: &&RecordedCall| call.agent() == name && call.thread() == thread;
    let mut ended = recording.calls().iter().filter(of_thread);
    let injection = known.attack_type.is_some().then_some(known.injection);
    Ok(Run {
        suite: known.suite_name.unwrap_or_else(|| name.to_owned()),
        model: if folder.is_empty() { model.to_owned() } else { folder.to_owned() },
        task: thread.to_owned(),
        injection,
        attack: known.attack_type.unwrap_or_else(|| "none".to_owned()),
        injections: known.injections,
        system: agent.and_then(|agent| agent.system_prompt()).unwrap_or_default().to_owned(),
        attack_calls: known.attack_calls.map(|of_attack| indices(of_attack, &calls)),
        turns,
        calls,
        has_error: ended.any(|call| call.outcome() != "finished"),
        utility: known.utility,
        security: known.security,
    })
}

fn turns(said: &Messages) -> (Vec<Turn>, Vec<Call>) {
    let (mut turns, mut calls) = (Vec::new(), Vec::<Call>::new());
    for (message, msg) in said.iter().enumerate() {
        match msg.role {
            Role::User => turns.push(Turn::User(msg.text())),
            Role::System => {}
            Role::Assistant => {
                let start = calls.len();
                calls.extend(msg.tool_uses().map(|call| Call {
                    tool: call.name.clone(),
                    arguments: match &call.input {
                        Value::Object(arguments) => arguments.clone(),
                        other => Map::from_iter([("input".to_owned(), other.clone())]),
                    },
                    result: None,
                    message,
                }));
                turns.push(Turn::Model(msg.text(), start..calls.len()));
            }
            Role::Tool => {
                // Each follows its answer, in the order of the calls; one without a result has none.
                let Some(Turn::Model(_, of_answer)) = turns.last() else { continue };
                for result in msg.tool_results() {
                    let open = of_answer.clone().find(|index| {
                        calls[*index].result.is_none() && calls[*index].tool == result.name
                    });
                    if let Some(index) = open {
                        calls[index].result = Some((result.output.to_string(), result.is_error));
                    }
                }
            }
        }
    }
    (turns, calls)
}
