//! A model that plays tools.

use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};

use hooks_agent_core::agent_hook;
use hooks_agent_core::hook::{HookModel, HookModelError, NextTool, ToolCall};
use hooks_agent_core::message::{Messages, Msg, ToolOutput, ToolResult, ToolUse};
use hooks_agent_core::model::{ChatModel, ChatRequest, ModelError};
use hooks_agent_core::tool::ToolError;

/// What the model that plays a tool reads first.
const INSTRUCTIONS: &str = "You play a tool for a test of an agent. You get the name of the tool, its \
    description and the arguments of a call. Reply with a realistic output of the tool for these \
    arguments and with nothing else: no explanation, no greeting, no code fence.";

/// The longest output, in bytes.
const LONGEST: usize = 1 << 20;

/// Has a model play tools, for dry runs: the agent acts, and nothing happens.
///
/// The tools that it plays never run, also if the model fails. What it returns is invented. The
/// checks before a tool, such as permissions and approval, are those of the agent.
///
/// | setting | default |
/// |---|---|
/// | [`new`](Self::new): the model | |
/// | [`tools`](Self::tools) | all tools of the agent |
/// | [`count_usage`](Self::count_usage) | the usage of the model is not part of the call's |
///
/// The model reads the name, the description and the schema of the tool, and the arguments as they
/// are at this hook. Its answer is no part of the agent's stream. A result is marked as emulated:
/// its text starts with [`MARK`](Self::MARK), and its [structured value](ToolOutput::structured) is
/// `{"emulated": true, "output": …}` with the text without the mark, or the value that it is the
/// JSON of. An error of the emulation is marked too.
///
/// # Order
/// The priority is [`PRIORITY`](Self::PRIORITY): retries, limits and circuit breakers around tools
/// stand outside of it. Hooks around tools of a higher priority do not run for a tool that is
/// played. A hook of a lower priority that changes arguments shows them to the model, unless it
/// [hides](ToolUse::hide) them. The hook is inherited, so that no sub-agent acts.
///
/// # Errors
/// A model that fails, gives an empty or cut answer or one of more than 1 MiB is an error result,
/// which the agent's model reads. A tool that the agent does not have is
/// [unknown](ToolError::Unknown), unless [`tools`](Self::tools) names it.
///
/// ```
/// use hooks_agent::builtin::recover::ToolEmulator;
/// use hooks_agent::prelude::*;
/// # use serde_json::{Value, json};
///
/// # futures::executor::block_on(async {
/// let pay = FunctionTool::new("pay", "Pays.", async |_: Value| -> String { unreachable!() });
/// // `model` calls the tool and answers with the result.
/// # let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
/// #     match request.messages.last().and_then(|msg| msg.tool_results().next()) {
/// #         Some(result) => result.output.as_str().into(),
/// #         None => ToolUse::new("1", "pay", json!({ "euros": 12 })).into(),
/// #     }
/// # });
/// let emulator = ToolEmulator::new(ScriptedModel::new("actor", |_| "Paid 12 euros."));
/// let agent = ReActAgent::builder("bot").model(model).tool(pay).hook(emulator).build()?;
/// assert_eq!(agent.call("Pay").await?.text(), "[emulated] Paid 12 euros.");
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
#[must_use]
pub struct ToolEmulator {
    model: HookModel,
    tools: Option<Arc<[String]>>,
}

impl ToolEmulator {
    /// The priority: inside of retries, limits and circuit breakers around tools.
    pub const PRIORITY: i32 = 350;

    /// The start of the text of an emulated result.
    pub const MARK: &'static str = "[emulated] ";

    /// Creates the hook with the model that plays the tools.
    pub fn new(model: impl ChatModel + 'static) -> Self {
        Self { model: HookModel::new(model).max_bytes(LONGEST), tools: None }
    }

    /// Sets the tools that the model plays, instead of all tools of the agent.
    pub fn tools(mut self, tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.tools = Some(tools.into_iter().map(Into::into).collect());
        self
    }

    /// Sets whether the token usage of the model is added to that of the call.
    pub fn count_usage(mut self, count: bool) -> Self {
        self.model = self.model.count_usage(count);
        self
    }
}

/// Returns the request that asks for the output of a tool call.
fn request(call: &ToolCall<'_>) -> ChatRequest {
    let ToolUse { name, input, .. } = call.tool_use();
    let spec = call.tool_spec();
    let asked = json!({
        "tool": name,
        "description": spec.map(|spec| &spec.description),
        "schema": spec.map(|spec| &spec.schema),
        "arguments": input,
    });
    let messages = [Msg::system(INSTRUCTIONS), Msg::user(format!("{asked:#}"))];
    ChatRequest::new(Messages::from(messages))
}

/// Returns the output, marked as emulated.
fn marked(text: &str) -> ToolOutput {
    let output = serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
    let structured = json!({ "emulated": true, "output": output });
    ToolOutput::text(format!("{}{text}", ToolEmulator::MARK)).with_structured(structured)
}

#[agent_hook(priority = Self::PRIORITY,
    inherit,
    always,
    tool_names = |hook: &Self| hook.tools.iter().flat_map(|tools| tools.iter().cloned()).collect()
)]
impl ToolEmulator {
    async fn around_tool_call(
        &self,
        call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        let tool_use = call.tool_use();
        let tool = || tool_use.name.clone();
        match &self.tools {
            Some(tools) if !tools.contains(&tool_use.name) => {
                return next.run(call.into_tool_use()).await;
            }
            None if call.tool_spec().is_none() => {
                return Err(ToolError::Unknown { tool: tool(), known: Vec::new() });
            }
            _ => {}
        }
        if let Some(written) = &tool_use.invalid_input {
            return Err(ToolError::InvalidInput { tool: tool(), written: written.clone() });
        }
        let played = match self.model.ask(call.context(), "tool_emulator", request(&call)).await {
            Err(HookModelError::Interrupted) => return Err(ToolError::Interrupted),
            Err(error) => Err(error),
            Ok(answer) => match answer.text().trim() {
                "" => {
                    let usage = answer.usage.unwrap_or_default();
                    Err(ModelError::empty(self.model.name(), usage).into())
                }
                text => Ok(text.to_owned()),
            },
        };
        Ok(match played {
            Ok(text) => ToolResult::success(tool_use, marked(&text)),
            Err(error) => {
                let reason = format!("the tool could not be emulated: {error}");
                ToolResult::error(tool_use, marked(&reason))
            }
        })
    }
}

impl fmt::Debug for ToolEmulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolEmulator")
            .field("model", &self.model.name())
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}
