//! An agent whose model and tools count what they do.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_replay::{Drift, Tape};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder with a tape, and how often the model was asked and tools ran.
pub(crate) struct Program {
    folder: TempDir,
    pub(crate) asked: Arc<AtomicUsize>,
    pub(crate) ran: Arc<AtomicUsize>,
}

impl Program {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder, asked: Arc::default(), ran: Arc::default() }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("run.tape")
    }

    pub(crate) fn text(&self) -> String {
        std::fs::read_to_string(self.path()).unwrap()
    }

    /// The lines of a kind.
    pub(crate) fn lines(&self, kind: &str) -> Vec<Value> {
        let text = self.text();
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter(|line| line["t"] == kind).collect()
    }

    /// Writes the tape again as `edit` leaves its lines, without those for which it is false.
    pub(crate) fn edit(&self, mut edit: impl FnMut(&mut Value) -> bool) {
        let mut lines = crate::sealed::whole(&self.text());
        lines.retain_mut(|line| edit(line));
        std::fs::write(self.path(), crate::sealed::sealed(&lines)).unwrap();
    }

    /// An agent that calls `weather` and `clock`, then says what they returned.
    pub(crate) fn agent(&self) -> ReActAgentBuilder {
        let asked = self.asked.clone();
        let model = ScriptedModel::new("planner", move |request| -> ScriptedAnswer {
            asked.fetch_add(1, Ordering::Relaxed);
            let after = request.messages.iter().rev().take_while(|msg| msg.role == Role::Tool);
            let mut results: Vec<_> =
                after.flat_map(Msg::tool_results).map(|it| it.output.to_string()).collect();
            results.reverse();
            if !results.is_empty() {
                return results.join(" and ").into();
            }
            vec![
                ContentBlock::text("I look."),
                ContentBlock::ToolUse(ToolUse::new(
                    "call-1",
                    "weather",
                    json!({ "city": "Rome", "unit": "C" }),
                )),
                ContentBlock::ToolUse(ToolUse::new("call-2", "clock", json!({ "zone": "CET" }))),
            ]
            .into()
        });
        let (weather, clock) = (self.ran.clone(), self.ran.clone());
        let weather = FunctionTool::new("weather", "The weather.", move |_: Value| {
            weather.fetch_add(1, Ordering::Relaxed);
            async { "sunny" }
        });
        let clock = FunctionTool::new("clock", "The time.", move |_: Value| {
            clock.fetch_add(1, Ordering::Relaxed);
            async { "noon" }
        });
        let builder = ReActAgent::builder("assistant").system_prompt("Be brief.").model(model);
        builder.tool(weather).tool(clock)
    }

    /// Records one call of the agent.
    pub(crate) async fn record(&self) {
        self.record_of(self.agent(), "How is Rome?").await;
    }

    pub(crate) async fn record_of(&self, agent: ReActAgentBuilder, message: &str) {
        let tape = Tape::record(self.path()).open().unwrap();
        agent.hook(tape.clone()).build().unwrap().call(message).await.unwrap();
        tape.finish().unwrap().assert_no_drift();
        self.reset();
    }

    /// Replays one call of an agent.
    pub(crate) async fn replay_of(&self, agent: ReActAgentBuilder, message: &str) -> Drift {
        let tape = Tape::replay(self.path()).open().unwrap();
        agent.hook(tape.clone()).build().unwrap().call(message).await.unwrap();
        tape.finish().unwrap()
    }

    pub(crate) fn reset(&self) {
        self.asked.store(0, Ordering::Relaxed);
        self.ran.store(0, Ordering::Relaxed);
    }

    /// How often the model was asked, and tools ran.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.asked.load(Ordering::Relaxed), self.ran.load(Ordering::Relaxed))
    }
}
