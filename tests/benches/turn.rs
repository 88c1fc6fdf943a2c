//! What one whole turn of a `ReActAgent` costs, and what an agent weighs.
//!
//! `cargo bench -p hooks-tests --bench turn` prints one line per case. A turn: the user says "hi", the
//! model asks for a tool, the tool runs, the model answers "done". The model is in process and answers
//! at once; its allocations are counted too. The history is fresh.

use std::hint::black_box;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use futures::executor::block_on;
use futures::stream;
use hooks_agent::{
    ActingChunk, AgentExt, AgentHook, ChatChunk, ChatModel, ChatRequest, ChatStream, ErrorEvent,
    Flow, FunctionTool, HookEvent, Msg, PostActing, PostCall, PostReasoning, PostSummary,
    PreActing, PreCall, PreReasoning, PreSummary, ReActAgent, ReActAgentBuilder, ReasoningChunk,
    Role, Settled, SummaryChunk, ToolUse, Usage, agent_hook,
};
use hooks_core::HookResult;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Asks for the tool, then says that it is done.
struct Immediate;

impl ChatModel for Immediate {
    fn name(&self) -> &'static str {
        "immediate"
    }

    fn stream(&self, request: ChatRequest) -> ChatStream {
        let has_result = request.messages.last().is_some_and(|msg| msg.role == Role::Tool);
        let chunk = if has_result {
            ChatChunk::Text("done".to_owned())
        } else {
            ChatChunk::ToolUse(ToolUse::new("1", "look", Value::Object(Map::new())))
        };
        Box::pin(stream::iter([Ok(chunk), Ok(ChatChunk::end(Usage::default()))]))
    }
}

/// Never answers.
struct Silent;

impl ChatModel for Silent {
    fn name(&self) -> &'static str {
        "silent"
    }

    fn stream(&self, _: ChatRequest) -> ChatStream {
        Box::pin(stream::pending())
    }
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

fn builder(model: impl ChatModel + 'static) -> ReActAgentBuilder {
    let look = FunctionTool::new("look", "Looks.", async |_: Nothing| "nothing to see");
    ReActAgent::builder("bot").model(model).tool(look)
}

/// Wants every event and waits for nothing.
struct SyncHook;

#[agent_hook(name = "sync")]
impl SyncHook {
    fn pre_call(&self, event: &mut PreCall<'_>) {
        black_box(event);
    }
    fn post_call(&self, event: &mut PostCall<'_>) {
        black_box(event);
    }
    fn pre_reasoning(&self, event: &mut PreReasoning<'_>) {
        black_box(event);
    }
    fn reasoning_chunk(&self, event: &ReasoningChunk<'_>) {
        black_box(event);
    }
    fn post_reasoning(&self, event: &mut PostReasoning<'_>) {
        black_box(event);
    }
    fn pre_acting(&self, event: &mut PreActing<'_>) {
        black_box(event);
    }
    fn acting_chunk(&self, event: &ActingChunk<'_>) {
        black_box(event);
    }
    fn post_acting(&self, event: &mut PostActing<'_>) {
        black_box(event);
    }
    fn pre_summary(&self, event: &mut PreSummary<'_>) {
        black_box(event);
    }
    fn summary_chunk(&self, event: &SummaryChunk<'_>) {
        black_box(event);
    }
    fn post_summary(&self, event: &mut PostSummary<'_>) {
        black_box(event);
    }
    fn error(&self, event: &ErrorEvent<'_>) {
        black_box(event);
    }
    fn settled(&self, event: &Settled<'_>) {
        black_box(event);
    }
}

/// Wants every event, in an async function.
struct AsyncHook;

impl AgentHook for AsyncHook {
    async fn on_event(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        black_box(event);
        Ok(Flow::Continue)
    }
}

fn main() {
    println!("{:<40} {:>10} {:>12}", "one turn", "time", "allocations");
    turn("without hooks", &builder(Immediate).build().expect("it has a model"));
    for count in [1, 10] {
        let with = |mut builder: ReActAgentBuilder, is_sync: bool| {
            for _ in 0..count {
                builder = if is_sync { builder.hook(SyncHook) } else { builder.hook(AsyncHook) };
            }
            builder.build().expect("it has a model")
        };
        let sync = with(builder(Immediate), true);
        turn(&format!("{count} sync on every event"), &sync);
        let asynchronous = with(builder(Immediate), false);
        turn(&format!("{count} async on every event"), &asynchronous);
    }
    weigh();
}

/// The median of many turns, and the allocations of one.
fn turn(case: &str, agent: &ReActAgent) {
    let once = || {
        agent.memory().clear();
        block_on(agent.call(Msg::user("hi"))).expect("nothing fails")
    };
    assert_eq!(once().text(), "done");
    let allocations = allocation_counter::measure(|| drop(black_box(once())));
    let mut samples: Vec<Duration> = Vec::new();
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(3) {
        let start = Instant::now();
        for _ in 0..1000 {
            black_box(once());
        }
        samples.push(start.elapsed() / 1000);
    }
    samples.sort_unstable();
    let time = samples[samples.len() / 2];
    println!("{case:<40} {time:>10.2?} {:>12}", allocations.count_total);
}

/// What an idle agent and one in mid-call weigh.
fn weigh() {
    const AGENTS: usize = 10_000;
    let look: Arc<dyn hooks_agent::Tool> =
        Arc::new(FunctionTool::new("look", "Looks.", async |_: Nothing| "nothing to see"));
    let builder = ReActAgent::builder("bot").model(Silent).shared_tool(look);
    let mut agents = Vec::with_capacity(AGENTS);
    let idle = allocation_counter::measure(|| {
        agents.extend((0..AGENTS).map(|_| builder.clone().build().expect("it has a model")));
    });
    let mut calls = Vec::with_capacity(AGENTS);
    let busy = allocation_counter::measure(|| {
        for agent in &agents {
            let mut call = Box::pin(agent.call(Msg::user("hi")));
            let mut cx = Context::from_waker(Waker::noop());
            assert!(call.as_mut().poll(&mut cx).is_pending(), "the model does not answer");
            calls.push(call);
        }
    });
    let each = |bytes: i64| bytes / i64::try_from(AGENTS).expect("it is small");
    let inline = i64::try_from(size_of::<ReActAgent>()).expect("it is small");
    println!("\n{:<40} {:>10}", "bytes each, of 10,000 agents", "");
    println!("{:<40} {:>10}", "idle", each(idle.bytes_current) + inline);
    println!("{:<40} {:>10}", "in mid-call, more than idle", each(busy.bytes_current));
}
