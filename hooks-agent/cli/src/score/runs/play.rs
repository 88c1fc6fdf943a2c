//! Plays a recorded run with the hooks of a policy: model and tools answer what was recorded.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::call::CallOptions;
use hooks_agent_core::event::{EventKind, EventMask, Flow, HookEvent};
use hooks_agent_core::hook::AgentHook;
use hooks_agent_core::message::{ContentBlock, Msg, PendingCall, ToolResult, ToolUse};
use hooks_agent_core::model::{ChatRequest, ScriptedAnswer, ScriptedModel};
use hooks_agent_core::react::ReActAgent;
use hooks_agent_core::tool::{Effect, Tool, ToolContext, ToolFuture};
use hooks_agent_policy::policy::Policy;
use hooks_core::{BoxError, HookResult};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::score::runs::labels::Labels;
use crate::score::runs::record::{Run, Turn};

/// What the guard made of a tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decision {
    /// Whether it asked, in contrast to a refusal.
    pub(super) asked: bool,
    /// Who, and why.
    pub(super) why: String,
}

/// What the guard made of each tool call; `None` for those that it let run.
pub(super) type Decided = Vec<Option<Decision>>;

/// Plays runs one after the other.
pub(super) struct Player<'a> {
    policy: Policy,
    labels: &'a Labels,
    runtime: Runtime,
    /// The schema of all tools.
    schema: Arc<Value>,
}

impl<'a> Player<'a> {
    pub(super) fn new(policy: Policy, labels: &'a Labels) -> Result<Self, BoxError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(Self { policy, labels, runtime, schema: Arc::new(json!({"type": "object"})) })
    }

    /// Returns what the guard decides of each tool call of a run. A question is answered with yes. After a refusal the
    /// run goes on with what was recorded, as if the call had run.
    pub(super) fn play(&self, run: &Run) -> Decided {
        let stage = Arc::new(Stage::of(run));
        let Ok(agent) = self.agent(run, &stage) else { return vec![None; run.calls.len()] };
        self.runtime.block_on(play(&agent, run, &stage));
        stage.decided()
    }

    fn agent(&self, run: &Run, stage: &Arc<Stage>) -> Result<ReActAgent, BoxError> {
        let turns = run.turns.len();
        let answers = stage.clone();
        let model = ScriptedModel::new(run.model.clone(), move |_: &ChatRequest| answers.answer());
        let mut builder = ReActAgent::builder("assistant")
            .model(model)
            .system_prompt(run.system.clone())
            .max_iters(turns + 1)
            .hook(Restore(stage.clone()))
            .hook_source(self.policy.clone());
        let mut names: Vec<_> = run.calls.iter().map(|call| call.tool.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let (name, effect) = (name.to_owned(), self.labels.effect(name));
            let (schema, stage) = (self.schema.clone(), stage.clone());
            builder = builder.tool(Recorded { name, effect, schema, stage });
        }
        Ok(builder.build()?)
    }
}

/// Whether a message of the user comes behind the results of tool calls.
fn is_behind_calls(run: &Run, index: usize) -> bool {
    let before = index.checked_sub(1).map(|before| &run.turns[before]);
    matches!(before, Some(Turn::Model(_, calls)) if !calls.is_empty())
}

/// Whether a message of the user only repeats the one before, behind results: some models get their task with each result.
fn is_repeated(run: &Run, index: usize) -> bool {
    let Turn::User(own) = &run.turns[index] else { return false };
    let last = run.turns[..index].iter().rev().find_map(|turn| match turn {
        Turn::User(text) => Some(text),
        Turn::Model(..) => None,
    });
    is_behind_calls(run, index) && last == Some(own)
}

/// Gives the user's messages to the agent, and answers its questions.
async fn play(agent: &ReActAgent, run: &Run, stage: &Stage) {
    for (index, turn) in run.turns.iter().enumerate() {
        let Turn::User(text) = turn else { continue };
        if is_repeated(run, index) {
            continue;
        }
        let mut ended = agent.call(Msg::user(text.clone())).await;
        loop {
            let reply = match ended {
                Ok(reply) => reply,
                Err(error) => return stage.failed(&error.to_string()),
            };
            if reply.pending().is_empty() {
                break;
            }
            let mut options = CallOptions::new();
            for pending in reply.pending() {
                if !stage.asked(pending) {
                    return;
                }
                options = options.confirm(&pending.id);
            }
            ended = agent.resume(options).await;
        }
    }
}

/// A run while it is played.
struct Stage {
    answers: Vec<(String, Vec<ToolUse>)>,
    next: AtomicUsize,
    calls: HashMap<String, (usize, ToolResult)>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    decided: Decided,
    /// How often each call was asked about.
    asked: Vec<usize>,
    has_run: Vec<bool>,
}

/// How often a call may be asked about.
const MOST_QUESTIONS: usize = 20;

impl Stage {
    fn of(run: &Run) -> Self {
        let uses = run.calls.iter().enumerate().map(|(index, call)| {
            let arguments = Value::Object(call.arguments.clone());
            ToolUse::new(format!("call-{index}"), call.tool.clone(), arguments)
        });
        let uses: Vec<ToolUse> = uses.into_iter().collect();
        let answers = run.turns.iter().enumerate().filter_map(|(index, turn)| match turn {
            // The call ended behind its tools: here, the model ends it.
            Turn::User(_) if is_behind_calls(run, index) && !is_repeated(run, index) => {
                Some((String::new(), Vec::new()))
            }
            Turn::User(_) => None,
            Turn::Model(text, calls) => Some((text.clone(), uses[calls.clone()].to_vec())),
        });
        let results = run.calls.iter().zip(&uses).enumerate().map(|(index, (call, tool_use))| {
            let (text, is_error) = call.result.clone().unwrap_or_default();
            let result = if is_error {
                ToolResult::error(tool_use, text)
            } else {
                ToolResult::success(tool_use, text)
            };
            (tool_use.id.clone(), (index, result))
        });
        let count = run.calls.len();
        let state = State {
            decided: vec![None; count],
            asked: vec![0; count],
            has_run: vec![false; count],
        };
        Self {
            answers: answers.collect(),
            next: AtomicUsize::new(0),
            calls: results.collect(),
            state: Mutex::new(state),
        }
    }

    /// Returns the next answer of the model.
    fn answer(&self) -> ScriptedAnswer {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        let Some((text, calls)) = self.answers.get(index) else { return "The end.".into() };
        let mut content = Vec::new();
        if !text.is_empty() || calls.is_empty() {
            content.push(ContentBlock::text(if text.is_empty() { "." } else { text }));
        }
        content.extend(calls.iter().cloned().map(ContentBlock::ToolUse));
        content.into()
    }

    /// Notes a question; says whether it may be answered.
    fn asked(&self, pending: &PendingCall) -> bool {
        let Some((index, _)) = self.calls.get(&pending.call.id) else { return false };
        let hook = pending.asked_by.as_deref().unwrap_or("the tool");
        let why = pending.askers.first().map(|asker| asker.reason.clone()).unwrap_or_default();
        let mut state = self.state();
        state.asked[*index] += 1;
        let decision = Decision { asked: true, why: format!("{hook}: {why}") };
        state.decided[*index].get_or_insert(decision);
        state.asked[*index] < MOST_QUESTIONS
    }

    fn refused(&self, index: usize, why: String) {
        let decision = Decision { asked: false, why };
        self.state().decided[index].get_or_insert(decision);
    }

    /// Notes that the guard ended the run: at the first call that has not run.
    fn failed(&self, why: &str) {
        let first = self.state().has_run.iter().position(|has_run| !has_run);
        if let Some(index) = first {
            self.refused(index, why.to_owned());
        }
    }

    fn decided(&self) -> Decided {
        self.state().decided.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A tool that answers what was recorded.
struct Recorded {
    name: String,
    effect: Effect,
    schema: Arc<Value>,
    stage: Arc<Stage>,
}

impl Tool for Recorded {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &'static str {
        "A recorded tool."
    }

    fn schema(&self) -> &Value {
        &self.schema
    }

    fn effect(&self) -> Effect {
        self.effect
    }

    fn call(&self, cx: ToolContext) -> ToolFuture<'_> {
        Box::pin(async move {
            let found = self.stage.calls.get(&cx.tool_use().id);
            let (index, result) = found.ok_or("a call that was not recorded")?;
            self.stage.state().has_run[*index] = true;
            if result.is_error {
                Err(result.output.to_string().into())
            } else {
                Ok(result.output.clone())
            }
        })
    }
}

/// Notes refusals, and goes on with what was recorded.
struct Restore(Arc<Stage>);

impl AgentHook for Restore {
    fn name(&self) -> String {
        "the recorded run".to_owned()
    }

    fn priority(&self) -> i32 {
        i32::MIN
    }

    fn events(&self) -> EventMask {
        EventKind::PostActing.into()
    }

    fn sync_events(&self) -> EventMask {
        self.events()
    }

    fn on_event_now(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        let HookEvent::PostActing(event) = event else { return Ok(Flow::Continue) };
        let found = self.0.calls.get(&event.tool_use().id);
        if let Some((index, result)) = found.filter(|_| !event.has_run()) {
            self.0.refused(*index, event.tool_result().output.to_string());
            event.set_tool_result(result.clone());
        }
        Ok(Flow::Continue)
    }
}
