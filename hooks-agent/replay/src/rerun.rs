//! Recorded calls again, with other hooks.

use std::collections::HashSet;
use std::sync::Arc;

use futures::stream;
use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::call::CallOptions;
use hooks_agent_core::message::{Messages, Role};
use hooks_agent_core::model::{ChatModel, ChatRequest, ChatStream, ModelError, ToolSpec};
use hooks_agent_core::react::{ReActAgent, ReActAgentBuilder};
use hooks_agent_core::tool::{Tool, ToolContext, ToolFuture};
use serde::Serialize;
use serde_json::Value;

use crate::builder::lenient;
use crate::drift::{Drift, Found};
use crate::error::TapeError;
use crate::recording::{RecordedAgent, RecordedCall, Recording};
use crate::runs::Lane;
use crate::tape::Tape;

/// A recorded call that was made again.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Rerun {
    /// The [id](RecordedCall::run) of the call on the tape.
    pub run: String,
    /// The name of the agent.
    pub agent: String,
    /// The id of the thread.
    pub thread: String,
    /// How the call ended now, as [`RecordedCall::outcome`] says it; `skipped` if it was not made.
    pub outcome: String,
    /// What the hooks do now that they did not do in the recording, and what comes of it.
    pub drift: Drift,
}

/// Makes the calls of a recording again, with other hooks: without the program, a model or tools.
///
/// Each agent is built from the tape: its name, its system prompt, its tools, with stand-ins for model and
/// tools that answer what was recorded. `build` adds the hooks to try, such as those of a policy file. The
/// calls are made in the order of the recording, one after the other, and there is a [`Rerun`] for each,
/// also for those of sub-agents. The hooks of the program do not run, so that what they decided is in the
/// drift too.
///
/// A request that the hooks changed is answered by the recorded answer of the same round. A tool that runs
/// now and did not run in the recording gives the model an error. A call that needs another round than
/// was recorded fails: its drift is [broken](crate::Verdict::Broken). A call that a hook answered
/// before the tape received its messages is skipped.
///
/// # Errors
/// [`TapeError`] if the tape cannot be read again or an agent cannot be built. Errors of calls are
/// outcomes.
///
/// ```
/// use hooks_agent::prelude::*;
/// use hooks_agent::replay::{DriftKind, Recording, Tape, rerun};
/// # use serde_json::{Value, json};
///
/// # futures::executor::block_on(async {
/// # let folder = std::env::temp_dir().join(format!("tape-rerun-{}", std::process::id()));
/// # let path = folder.join("run.tape");
/// # let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
/// #     match request.messages.last().and_then(|msg| msg.tool_results().next()) {
/// #         Some(result) => result.output.as_str().into(),
/// #         None => ToolUse::new("1", "delete", json!({})).into(),
/// #     }
/// # });
/// # let delete = FunctionTool::new("delete", "Deletes.", async |_: Value| "deleted");
/// # let tape = Tape::record(&path).open()?;
/// # let builder = ReActAgent::builder("assistant").model(model).tool(delete);
/// # builder.hook(tape.clone()).build()?.call("Delete it").await?;
/// # tape.finish()?;
/// // `path` is the tape of an agent that called its tool `delete`.
/// let guard = || on(|event: &mut PreActing<'_>| event.refuse("nothing is deleted")).named("guard");
/// let recording = Recording::read(&path)?;
/// let again = rerun(recording, |_, builder| builder.hook(guard())).await?;
/// assert!(again[0].drift.has(DriftKind::ToolMissing));
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
pub async fn rerun(
    recording: Recording,
    mut build: impl FnMut(&RecordedAgent, ReActAgentBuilder) -> ReActAgentBuilder,
) -> Result<Vec<Rerun>, TapeError> {
    let calls = recording.calls().to_vec();
    let is_root =
        |call: &usize| calls[*call].parent().is_none() || calls[*call].tool_call().is_none();
    let roots: Vec<_> = (0..calls.len()).filter(is_root).collect();
    let mut agents: Vec<(String, ReActAgent)> = Vec::new();
    let names: HashSet<_> = roots.iter().map(|call| calls[*call].agent()).collect();
    for agent in recording.agents().iter().filter(|agent| names.contains(agent.name())) {
        let builder = built(&recording, agent, &mut build, &mut Vec::new())?;
        agents.push((agent.name().to_owned(), builder.build()?));
    }
    let histories = histories(&recording, &roots)?;
    let tape = lenient(recording);
    for (_, agent) in &agents {
        agent.register_agent_hook(tape.clone());
    }
    for (index, history) in roots.iter().zip(histories) {
        let call = &calls[*index];
        let agent = agents.iter().find(|(name, _)| name == call.agent()).map(|(_, agent)| agent);
        if let Some(agent) = agent {
            call_again(&tape, *index, call, agent, history).await?;
        }
    }
    Ok(reruns(&tape, &calls))
}

/// Makes one call again.
async fn call_again(
    tape: &Tape,
    index: usize,
    call: &RecordedCall,
    agent: &ReActAgent,
    history: Messages,
) -> Result<(), TapeError> {
    let player = tape.0.player.as_ref().expect("it replays");
    let messages = player.recording().messages(call)?;
    let Some(messages) = messages.filter(|_| call.parent().is_none()) else {
        let (agent, thread) = (call.agent().to_owned(), call.thread().to_owned());
        tape.0.state().runs.skip(Lane { agent, thread });
        return Ok(());
    };
    let memory = agent.threads().memory(call.thread());
    if !history.is_empty() && memory.is_none_or(|memory| memory.is_empty()) {
        agent.threads().restore(call.thread(), history)?;
    }
    let options = CallOptions::new().thread(call.thread());
    let options = call.confirmed().iter().fold(options, CallOptions::confirm);
    // Its error is in the drift, as its outcome.
    let _ = agent.call_with(options, messages).await;
    let mut state = tape.0.state();
    // What happened in calls that are not on the tape is a part of this one.
    let of_new_calls = state.found.iter_mut().filter(|found| found.order.run == usize::MAX);
    of_new_calls.for_each(|found| found.order.run = index);
    state
        .failure
        .take()
        .filter(|error| !matches!(error, TapeError::NoEntry { .. }))
        .map_or(Ok(()), Err)
}

fn reruns(tape: &Tape, calls: &[RecordedCall]) -> Vec<Rerun> {
    let player = tape.0.player.as_ref().expect("it replays");
    let mut found = tape.0.state().found.clone();
    found.extend(crate::settle::never_begun(player));
    let mut by_call: Vec<Vec<Found>> = vec![Vec::new(); calls.len()];
    for found in found {
        if let Some(of_call) = by_call.get_mut(found.order.run) {
            of_call.push(found);
        }
    }
    let state = tape.0.state();
    let outcome = |index| state.outcomes.get(&index).copied().unwrap_or("skipped");
    let calls = calls.iter().enumerate().zip(by_call);
    let again = calls.map(|((index, call), found)| Rerun {
        run: call.run().to_owned(),
        agent: call.agent().to_owned(),
        thread: call.thread().to_owned(),
        outcome: outcome(index).to_owned(),
        drift: Drift::of(found),
    });
    again.collect()
}

/// Returns the builder of an agent, with its sub-agents as tools.
fn built(
    recording: &Recording,
    agent: &RecordedAgent,
    build: &mut impl FnMut(&RecordedAgent, ReActAgentBuilder) -> ReActAgentBuilder,
    above: &mut Vec<String>,
) -> Result<ReActAgentBuilder, TapeError> {
    let mut builder = ReActAgent::builder(agent.name())
        .model(Silent(agent.model().to_owned()))
        .model_options(agent.options().clone())
        .system_prompt(agent.system_prompt().unwrap_or_default())
        .max_iters(agent.max_iters())
        .recover_pending(true);
    above.push(agent.name().to_owned());
    for spec in agent.tools() {
        let is_part = |call: &RecordedCall| call.agent() == spec.name && call.tool_call().is_some();
        let runs_agent = !above.contains(&spec.name) && recording.calls().iter().any(is_part);
        let below = recording.agents().iter().find(|it| it.name() == spec.name);
        builder = match below.filter(|_| runs_agent) {
            Some(below) => {
                let below = built(recording, below, build, above)?.build()?;
                builder.tool(below.to_tool(&spec.description))
            }
            None => builder.shared_tool(Arc::new(Described(spec.clone()))),
        };
    }
    above.pop();
    Ok(build(agent, builder))
}

/// Returns what each thread had before the recording, at its first call.
fn histories(recording: &Recording, roots: &[usize]) -> Result<Vec<Messages>, TapeError> {
    let mut known = HashSet::new();
    let histories = roots.iter().map(|index| {
        let call = &recording.calls()[*index];
        if known.insert((call.agent(), call.thread())) {
            history(recording, call)
        } else {
            Ok(Messages::new())
        }
    });
    histories.collect()
}

/// Returns the messages of the first request before those of the call.
fn history(recording: &Recording, call: &RecordedCall) -> Result<Messages, TapeError> {
    let entries = call.entries().iter().map(|entry| &recording.entries()[*entry]);
    let first = entries.into_iter().find(|entry| entry.step.is_model());
    let (Some(first), Some(messages)) = (first, recording.messages(call)?) else {
        return Ok(Messages::new());
    };
    let unusable = |reason: String| TapeError::line(recording.path(), first.place.line, reason);
    let request = recording.request_value(first.place)?;
    let request: ChatRequest =
        serde_json::from_value(request).map_err(|error| unusable(error.to_string()))?;
    let mut history = request.messages;
    history.retain(|msg| msg.role != Role::System);
    let own = messages.iter().rev().zip(history.iter().rev());
    let is_own = own.clone().all(|(own, msg)| own.content == msg.content);
    if is_own && history.len() > messages.len() {
        return Ok(history.drain(..history.len() - messages.len()));
    }
    Ok(Messages::new())
}

/// A model that is never asked: the tape answers for it.
struct Silent(String);

impl ChatModel for Silent {
    fn name(&self) -> &str {
        &self.0
    }

    fn stream(&self, _: ChatRequest) -> ChatStream {
        let error = ModelError::other(self.0.clone(), "a rerun asks no model");
        Box::pin(stream::iter([Err(error)]))
    }
}

/// A tool that never runs: the tape answers for it.
struct Described(ToolSpec);

impl Tool for Described {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn description(&self) -> &str {
        &self.0.description
    }

    fn schema(&self) -> &Value {
        &self.0.schema
    }

    fn call(&self, _: ToolContext) -> ToolFuture<'_> {
        Box::pin(async { Err("a rerun runs no tool".into()) })
    }
}
