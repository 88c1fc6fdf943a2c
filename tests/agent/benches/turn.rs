//! The cost of one whole turn of a `ReActAgent`, and the size of an agent in memory.
//!
//! `cargo bench -p hooks-agent-core-tests --bench turn` prints one line per case. A turn: the user says "hi",
//! the model asks for a tool, the tool runs, the model answers "done". The model is in process and
//! answers at once; its allocations are counted too. The history is fresh; with a longer one
//! a turn allocates no more (`tests/agent/allocation.rs`). The first line is the limit: the loop that one writes by hand,
//! with the same model behind the same kind of stream and a tool with JSON arguments, without hooks, ids, events
//! and interrupts.

use std::hint::black_box;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use futures::executor::block_on;
use futures::stream;
use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::agent_hook;
use hooks_agent_core::event::{
    ActingChunk, ErrorEvent, Flow, HookEvent, PostActing, PostCall, PostReasoning, PostSummary,
    PreActing, PreCall, PreReasoning, PreSummary, ReasoningChunk, Settled, SummaryChunk,
};
use hooks_agent_core::hook::AgentHook;
use hooks_agent_core::message::Msg;
use hooks_agent_core::model::{ChatModel, ChatRequest, ChatStream};
use hooks_agent_core::react::{ReActAgent, ReActAgentBuilder};
use hooks_agent_core::tool::FunctionTool;
use hooks_core::HookResult;
use hooks_fixtures::scripted_agents::Immediate;
use schemars::JsonSchema;
use serde::Deserialize;

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

/// The loop that one writes by hand.
mod by_hand {
    use futures::future::BoxFuture;
    use futures::stream::{self, BoxStream, StreamExt};
    use serde_json::{Map, Value};

    #[derive(Clone)]
    pub(super) enum Message {
        User(String),
        Assistant { text: String, calls: Vec<Call> },
        Tool { id: String, output: String },
    }

    #[derive(Clone)]
    pub(super) struct Call {
        id: String,
        name: String,
        input: Value,
    }

    pub(super) enum Chunk {
        Text(String),
        Call(Call),
    }

    impl Message {
        fn len(&self) -> usize {
            match self {
                Self::User(text) => text.len(),
                Self::Assistant { text, calls } => text.len() + calls.len(),
                Self::Tool { id, output } => id.len() + output.len(),
            }
        }
    }

    pub(super) trait Model: Send + Sync {
        /// The stream outlives the history, so it owns what it sends.
        fn stream(&self, request: Vec<Message>) -> BoxStream<'static, Result<Chunk, String>>;
    }

    pub(super) trait Tool: Send + Sync {
        fn name(&self) -> &str;
        fn call<'a>(&'a self, input: &'a Value) -> BoxFuture<'a, Result<String, String>>;
    }

    pub(super) struct Immediate;

    impl Model for Immediate {
        fn stream(&self, request: Vec<Message>) -> BoxStream<'static, Result<Chunk, String>> {
            let sent: usize = request.iter().map(Message::len).sum();
            std::hint::black_box(sent);
            let chunk = if let Some(Message::Tool { .. }) = request.last() {
                Chunk::Text("done".to_owned())
            } else {
                let (id, name) = ("1".to_owned(), "look".to_owned());
                Chunk::Call(Call { id, name, input: Value::Object(Map::new()) })
            };
            Box::pin(stream::iter([Ok(chunk)]))
        }
    }

    pub(super) struct Look;

    impl Tool for Look {
        fn name(&self) -> &'static str {
            "look"
        }

        fn call<'a>(&'a self, input: &'a Value) -> BoxFuture<'a, Result<String, String>> {
            Box::pin(async move {
                input.as_object().ok_or("not an object")?;
                Ok("nothing to see".to_owned())
            })
        }
    }

    pub(super) async fn turn(
        model: &dyn Model,
        tools: &[Box<dyn Tool>],
        text: &str,
    ) -> Result<String, String> {
        let mut history = vec![Message::User(text.to_owned())];
        loop {
            let (mut text, mut calls) = (String::new(), Vec::new());
            let mut chunks = model.stream(history.clone());
            while let Some(chunk) = chunks.next().await {
                match chunk? {
                    Chunk::Text(more) => text.push_str(&more),
                    Chunk::Call(call) => calls.push(call),
                }
            }
            if calls.is_empty() {
                history.push(Message::Assistant { text: text.clone(), calls });
                return Ok(text);
            }
            history.push(Message::Assistant { text, calls: calls.clone() });
            for call in calls {
                let tool = tools.iter().find(|tool| tool.name() == call.name);
                let output = match tool {
                    Some(tool) => tool.call(&call.input).await.unwrap_or_else(|error| error),
                    None => format!("no tool named {}", call.name),
                };
                history.push(Message::Tool { id: call.id, output });
            }
        }
    }
}

fn main() {
    println!(
        "{:<40} {:>10} {:>12} {:>10} {:>10}",
        "one turn", "time", "allocations", "bytes", "by hand"
    );
    let (model, tools): (Box<dyn by_hand::Model>, Vec<Box<dyn by_hand::Tool>>) =
        (Box::new(by_hand::Immediate), vec![Box::new(by_hand::Look)]);
    let limit = measure("by hand", None, || {
        let done = block_on(by_hand::turn(&*model, &tools, "hi")).expect("nothing fails");
        assert_eq!(done, "done");
    });
    let turn = |case: &str, agent: &ReActAgent| {
        measure(case, Some(limit), || {
            agent.memory().clear();
            let reply = block_on(agent.call(Msg::user("hi"))).expect("nothing fails");
            assert_eq!(reply.content.len(), 1);
        });
    };
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

/// The median of many turns, and the allocations of one, beside the limit.
fn measure(case: &str, limit: Option<Duration>, once: impl Fn()) -> Duration {
    once();
    let allocations = allocation_counter::measure(&once);
    let mut samples: Vec<Duration> = Vec::new();
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(3) {
        let start = Instant::now();
        for _ in 0..1000 {
            once();
        }
        samples.push(start.elapsed() / 1000);
    }
    samples.sort_unstable();
    let time = samples[samples.len() / 2];
    let ratio = limit.map_or(1.0, |limit| time.as_secs_f64() / limit.as_secs_f64());
    let allocation_counter::AllocationInfo { count_total, bytes_total, .. } = allocations;
    println!("{case:<40} {time:>10.2?} {count_total:>12} {bytes_total:>10} {ratio:>9.1}x");
    time
}

/// What an idle agent and one in mid-call weigh.
fn weigh() {
    const AGENTS: usize = 10_000;
    let look: Arc<dyn hooks_agent_core::tool::Tool> =
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
