//! Asks a command about an event.

use std::error::Error;
use std::iter::successors;

use hooks_agent_core::call::CallContext;

use crate::command::contract::Input;
use crate::command::decide::{Answer, read, read_judgement, read_response, read_text};
use crate::command::entry::{Checked, Run, launchers_of};
use crate::command::http::send;
use crate::command::process::{Launch, run};

/// Runs the command. The error says why it has no answer. `blocks` is whether a failure blocks.
pub(super) async fn ask(
    command: &Checked,
    cx: &CallContext,
    input: &Input,
    blocks: bool,
) -> Result<Answer, String> {
    let (event, limit) = (command.event, command.timeout);
    match &command.run {
        Run::Program(launch) => ask_program(command, launch, &to_json(input)?).await,
        Run::Http(request) => {
            let sent = send(request, to_json(input)?, limit).await;
            read_response(event, &sent.map_err(|error| chain(&error))?, blocks)
        }
        Run::McpTool(call) => {
            let input = serde_json::to_value(input).map_err(|error| error.to_string())?;
            let text = call.run(&input, limit).await.map_err(|error| chain(&error))?;
            read_text(event, &text)
        }
        Run::Prompt(prompt) => {
            let input = serde_json::to_string(input).map_err(|error| error.to_string())?;
            let text = prompt.run(cx, &input, limit).await.map_err(|error| chain(&error))?;
            read_judgement(&text)
        }
    }
}

async fn ask_program(command: &Checked, launch: &Launch, input: &[u8]) -> Result<Answer, String> {
    let ended = run(launch, input, command.timeout).await.map_err(|error| chain(&error))?;
    let answer = read(command.event, &ended, &launchers_of(launch));
    if answer.is_err() {
        let stderr = String::from_utf8_lossy(&ended.stderr);
        tracing::debug!(
            target: "hooks_agent::command",
            hook = command.name, %stderr, "a command failed"
        );
    }
    answer
}

fn to_json(input: &Input) -> Result<Vec<u8>, String> {
    serde_json::to_vec(input).map_err(|error| error.to_string())
}

/// Returns an error with its causes.
fn chain(error: &dyn Error) -> String {
    let causes = successors(error.source(), |cause| (*cause).source()).map(|it| format!(": {it}"));
    format!("{error}{}", causes.collect::<String>())
}
