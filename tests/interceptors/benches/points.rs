//! What interceptors cost: a turn of ten points, beside the same turn with a hook at the same places that does nothing, and the
//! emitter of the SDK over the same contexts.
//!
//! `cargo bench -p hooks-agent-interceptors-tests --bench points` prints one line per size, on one core.

use std::hint::black_box;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use agent_hooks::{AgentContext, EnforcementMode, InterceptionEmitter, Interceptor, Verdict};
use async_trait::async_trait;
use hooks_agent_core::prelude::*;
use hooks_agent_interceptors::{Interceptors, Profile, intercept};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

/// A hook at the places of the points, which does nothing.
struct Nothing;

#[agent_hook(role = HookRole::Observes)]
impl Nothing {
    async fn call(&self, call: AgentCall<'_>, next: NextCall<'_>) -> Result<Msg, AgentError> {
        next.run(call.into_messages()).await
    }

    async fn attempt(
        &self,
        attempt: ModelAttempt<'_>,
        next: NextAttempt<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        next.run(attempt.into_request()).await
    }

    async fn tool(&self, call: ToolCall<'_>, next: NextTool<'_>) -> Result<ToolResult, ToolError> {
        next.run(call.into_tool_use()).await
    }
}

/// An interceptor that allows, and does not wait.
struct Allow;

#[async_trait]
impl Interceptor for Allow {
    async fn intercept(&self, _: &AgentContext) -> Verdict {
        Verdict::allow()
    }
}

/// An agent that calls a tool, whose result has this many bytes, and answers.
fn agent(bytes: usize, hook: Option<Interceptors>, nothing: bool) -> ReActAgent {
    let model = ScriptedModel::new("scripted", |request| -> ScriptedAnswer {
        match request.messages.last().unwrap().tool_results().next() {
            Some(_) => "Done.".into(),
            None => ToolUse::new("1", "read", json!({ "path": "a" })).into(),
        }
    });
    let text: Arc<str> = "0123456789 abcde".repeat(bytes.div_ceil(16)).into();
    let read = FunctionTool::new("read", "Reads.", move |_: Value| {
        let text = text.to_string();
        async move { text }
    });
    let mut builder = ReActAgent::builder("bot").model(model).tool(read);
    if let Some(interceptors) = hook {
        builder = builder.hook(interceptors);
    }
    if nothing {
        builder = builder.hook(Nothing);
    }
    builder.build().unwrap()
}

/// The median time of a turn, each on a thread of its own.
fn turn(runtime: &Runtime, agent: &ReActAgent, runs: usize) -> Duration {
    let mut times = Vec::new();
    for _ in 0..runs {
        agent.memory_of(&agent.context(CallOptions::new())).unwrap().clear();
        let start = Instant::now();
        runtime.block_on(async { black_box(agent.call("Go").await).unwrap() });
        times.push(start.elapsed());
    }
    median(times)
}

/// The median time of the SDK's emitter over these contexts.
fn emit(runtime: &Runtime, contexts: &mut [AgentContext], runs: usize) -> Duration {
    let mut emitter = InterceptionEmitter::new(EnforcementMode::Enforce, None);
    emitter.set_max_records(1).set_timeout(Duration::from_secs(5));
    emitter.register(Box::new(Allow));
    let mut times = Vec::new();
    for _ in 0..runs {
        let start = Instant::now();
        runtime.block_on(async {
            for context in &mut *contexts {
                black_box(emitter.emit(context).await).unwrap();
            }
        });
        times.push(start.elapsed());
    }
    median(times)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// The contexts of a turn.
fn contexts(runtime: &Runtime, bytes: usize) -> Vec<AgentContext> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let all = seen.clone();
    let keep = intercept(move |context| {
        all.lock().unwrap().push(AgentContext::clone(&context));
        Verdict::allow()
    });
    let interceptors = Interceptors::new(Profile::default()).add("keep", keep);
    runtime.block_on(agent(bytes, Some(interceptors), false).call("Go")).unwrap();

    seen.lock().unwrap().clone()
}

fn main() {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    println!(
        "{:<10} {:>12} {:>12} {:>12} {:>12} {:>7}",
        "a result", "no hook", "hook", "SDK", "interceptors", "ratio"
    );
    for (name, bytes, runs) in
        [("1 KB", 1 << 10, 2000), ("100 KB", 100 << 10, 200), ("1 MB", 1 << 20, 40)]
    {
        let mut contexts = contexts(&runtime, bytes);
        let bare = agent(bytes, None, false);
        let nothing = agent(bytes, None, true);
        let interceptors = Interceptors::new(Profile::default()).add("allow", Allow);
        let hosted = agent(bytes, Some(interceptors), false);
        let mut ratios = Vec::new();
        let mut last = [Duration::ZERO; 4];
        // Each round one after the other, so that what the machine does besides meets all of them.
        for _ in 0..5 {
            last = [
                turn(&runtime, &bare, runs),
                turn(&runtime, &nothing, runs),
                emit(&runtime, &mut contexts, runs),
                turn(&runtime, &hosted, runs),
            ];
            ratios.push(last[3].as_secs_f64() / (last[1] + last[2]).as_secs_f64());
        }
        ratios.sort_by(f64::total_cmp);
        let [bare, hook, sdk, hosted] = last;
        println!(
            "{name:<10} {bare:>12.2?} {hook:>12.2?} {sdk:>12.2?} {hosted:>12.2?} {:>7.2}",
            ratios[2]
        );
    }
}
