//! Agents whose steps are counted.

use std::sync::{Arc, Mutex};

use hooks_agent::call::RunId;
use hooks_agent::journal::MemoryJournal;
use hooks_agent::prelude::*;
use hooks_agent::react::ReActAgentBuilder;
use serde_json::{Value, json};

/// What happened outside of the journal: the calls of models, and the effects of tools by their
/// idempotency keys.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    pub(crate) models: Arc<Mutex<Vec<String>>>,
    pub(crate) effects: Arc<Mutex<Vec<(String, String)>>>,
}

impl World {
    pub(crate) fn models(&self) -> Vec<String> {
        self.models.lock().unwrap().clone()
    }

    /// The names of the tools that had an effect, each key once, in the order of the names.
    pub(crate) fn effects(&self) -> Vec<String> {
        let mut effects = self.effects.lock().unwrap().clone();
        effects.sort();
        effects.dedup();
        effects.into_iter().map(|(name, _)| name).collect()
    }

    pub(crate) fn tool(&self, name: &'static str) -> impl Tool {
        let effects = self.effects.clone();
        FunctionTool::with_context(name, "Has an effect.", move |_: Value, cx: ToolContext| {
            effects.lock().unwrap().push((name.to_owned(), cx.idempotency_key()));
            async move { format!("{name} done") }
        })
    }

    /// A model that calls these tools, one list for each round, and then answers.
    pub(crate) fn model(
        &self,
        name: &'static str,
        rounds: &'static [&'static [&'static str]],
    ) -> ScriptedModel {
        let models = self.models.clone();
        ScriptedModel::new(name, move |request| -> ScriptedAnswer {
            let round = request.messages.iter().rev().take_while(|msg| msg.role != Role::User);
            let round = round.filter(|msg| msg.role == Role::Assistant).count();
            models.lock().unwrap().push(format!("{name} {round}"));
            match rounds.get(round) {
                None => format!("{name} is done.").into(),
                Some(tools) => {
                    let calls = tools.iter().enumerate().map(|(number, tool)| {
                        let input = json!({ "task": format!("{round}.{number}") });
                        ContentBlock::ToolUse(ToolUse::new(format!("call_{number}"), *tool, input))
                    });
                    ScriptedAnswer::from(calls.collect::<Vec<_>>())
                }
            }
        })
    }

    /// An agent of three rounds: two tools at once, a sub-agent with a tool of its own, and one tool.
    pub(crate) fn agent(&self) -> ReActAgent {
        self.builder().build().unwrap()
    }

    pub(crate) fn builder(&self) -> ReActAgentBuilder {
        let below = ReActAgent::builder("below")
            .model(self.model("below", &[&["inner"]]))
            .tool(self.tool("inner"))
            .build()
            .unwrap();
        ReActAgent::builder("above")
            .model(self.model("above", &[&["left", "right"], &["below", "left"], &["right"]]))
            .tool(self.tool("left"))
            .tool(self.tool("right"))
            .tool(below.to_tool("Does a part of it."))
            .parallel_tools(true)
    }
}

/// Runs a call once more, on an agent of a new process.
pub(crate) async fn run(
    agent: &ReActAgent,
    journal: &MemoryJournal,
    run: RunId,
) -> Result<Msg, AgentError> {
    let options = CallOptions::new().thread("t").run_id(run).journal(journal.again());
    agent.call_with(options, "Go").await
}

/// The results that the agent reads at the end of a call, in order.
pub(crate) fn results(journal: &MemoryJournal) -> Vec<String> {
    let end = journal.ended().expect("the call has ended");
    let steps = end.threads.iter().filter(|(key, _)| key.agent() == "above");
    let messages = steps.flat_map(|(_, step)| &step.messages);
    let results = messages.flat_map(|row| row.msg.tool_results());
    results.map(|result| result.output.as_str().to_owned()).collect()
}

/// The causes of an error, as texts.
pub(crate) fn chain(error: &AgentError) -> String {
    let errors = std::iter::successors(Some(error as &dyn std::error::Error), |it| it.source());
    errors.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
