//! Parts that the tests of commands share: an agent whose model calls a tool, and the results.

use std::sync::{Arc, Mutex, PoisonError};

use hooks_agent_core::message::Messages;
use hooks_agent_core::prelude::*;
use hooks_agent_policy::command::{CommandEntry, CommandHooks, CommandHooksBuilder};
use hooks_fixtures::{Records, Reports};
use serde_json::{Value, json};
use tracing::Level;
use tracing::subscriber::DefaultGuard;

/// The directory of the project in tests.
pub(crate) fn dir() -> &'static str {
    env!("CARGO_MANIFEST_DIR")
}

/// Hooks of these entries.
pub(crate) fn hooks(entries: impl IntoIterator<Item = CommandEntry>) -> CommandHooks {
    let builder = CommandHooks::builder(dir());
    entries.into_iter().fold(builder, CommandHooksBuilder::entry).open().unwrap()
}

/// An entry of `PreToolUse` that runs a line of shell.
pub(crate) fn before_tools(line: &str) -> CommandEntry {
    CommandEntry::shell("PreToolUse", line).named("guard")
}

/// A line of shell that writes this JSON.
pub(crate) fn says(json: &Value) -> String {
    format!("printf '%s' '{json}'")
}

/// A decision about a tool call, as a command writes it.
pub(crate) fn decides(fields: &Value) -> String {
    let mut specific = json!({ "hookEventName": "PreToolUse" });
    let fields = fields.as_object().expect("an object").clone();
    specific.as_object_mut().expect("an object").extend(fields);
    says(&json!({ "hookSpecificOutput": specific }))
}

/// The arguments that the tool of an [`agent`] ran with.
#[derive(Clone, Default)]
pub(crate) struct Ran(Arc<Mutex<Vec<Value>>>);

impl Ran {
    /// Returns the arguments of each run.
    pub(crate) fn inputs(&self) -> Vec<Value> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A tool `write_file`, with this permission.
pub(crate) fn write_file(ran: &Ran, permission: Permission) -> FunctionTool {
    let ran = ran.clone();
    let tool = FunctionTool::new("write_file", "Writes a file.", move |input: Value| {
        ran.0.lock().unwrap_or_else(PoisonError::into_inner).push(input);
        async { "written" }
    });
    tool.permission(move |_| permission.clone())
}

/// A model that calls `write_file` once for each of these paths, in one answer, and then says
/// "Done.".
pub(crate) fn writes(paths: &[&str]) -> ScriptedModel {
    let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
    ScriptedModel::new("scripted", move |request| -> ScriptedAnswer {
        let has_results = request.messages.iter().any(|msg| msg.tool_results().next().is_some());
        if has_results {
            return "Done.".into();
        }
        let call = |(index, path): (usize, &String)| {
            let call = ToolUse::new(format!("call-{index}"), "write_file", json!({ "path": path }));
            ContentBlock::ToolUse(call)
        };
        paths.iter().enumerate().map(call).collect::<Vec<_>>().into()
    })
}

/// The log of this thread.
pub(crate) struct Log {
    records: Arc<Records<String>>,
    _subscriber: DefaultGuard,
}

impl Log {
    /// Keeps events of this level and above, until it is dropped.
    pub(crate) fn up_to(level: Level) -> Self {
        let (subscriber, records) = Reports::up_to(level);
        Self { records, _subscriber: tracing::subscriber::set_default(subscriber) }
    }

    /// Takes the events out, one on a line.
    pub(crate) fn take(&self) -> String {
        self.records.take().join("\n")
    }
}

/// Asserts that a text is in another one, and shows it if it is not.
#[track_caller]
pub(crate) fn assert_has(text: &str, part: &str) {
    assert!(text.contains(part), "{part:?} is not in {text:?}");
}

/// What an agent with these hooks did with a call of `write_file` for `a.txt`.
pub(crate) struct Trial {
    /// The arguments that the tool ran with.
    pub(crate) ran: Vec<Value>,
    /// The reply.
    pub(crate) reply: Msg,
    /// The messages in memory.
    pub(crate) memory: Messages,
}

impl Trial {
    /// Calls an agent of a tool with this permission.
    pub(crate) async fn of(hooks: CommandHooks, permission: Permission) -> Self {
        let ran = Ran::default();
        let agent = ReActAgent::builder("assistant")
            .model(writes(&["a.txt"]))
            .tool(write_file(&ran, permission))
            .hook(hooks)
            .build()
            .unwrap();
        let reply = agent.call("Write it").await.unwrap();
        let memory = agent.memory().messages();
        Self { ran: ran.inputs(), reply, memory }
    }

    /// The result of the tool call that the model read.
    pub(crate) fn result(&self) -> ToolResult {
        let results = self.memory.iter().flat_map(Msg::tool_results);
        results.last().expect("the tool call has a result").clone()
    }
}
