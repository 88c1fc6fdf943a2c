//! Records are complete, whatever becomes of a call.

use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use agent_hooks::{AgentContext, InterceptionPoint, InterceptionRecord, Interceptor, Verdict};
use futures::{StreamExt, stream};
use hooks_agent_core::message::Usage;
use hooks_agent_core::model::{ChatChunk, ChatStream, ModelError};
use hooks_agent_core::prelude::*;
use hooks_agent_interceptors::{JsonLines, Output, Profile, async_trait, intercept};
use proptest::prelude::{Strategy, any, prop, prop_oneof};
use serde_json::{Value, json};
use tokio::task::yield_now;

use crate::support::{Records, deny, look, saying, with};

/// What a model does in one round.
#[derive(Clone, Debug)]
enum Round {
    /// Calls tools, each of which ends in one of these ways.
    Tools(Vec<Tool>),
    Fails,
    Breaks,
}

#[derive(Clone, Copy, Debug)]
enum Tool {
    Returns,
    Fails,
    Panics,
    Unknown,
    BadInput,
    /// Runs an agent, which has sessions of its own.
    Agent,
}

/// How a call ends, if nothing else ends it.
#[derive(Clone, Copy, Debug)]
enum Ending {
    Itself,
    /// It is dropped after it was polled so many times.
    Dropped(usize),
    /// It is interrupted then.
    Interrupted(usize),
    /// A hook panics at this many results of tools.
    Panics(usize),
}

/// A model that follows rounds, and waits in between.
struct Rounds {
    rounds: Vec<Round>,
    next: AtomicUsize,
}

impl ChatModel for Rounds {
    fn name(&self) -> &'static str {
        "rounds"
    }

    fn stream(&self, _: ChatRequest) -> ChatStream {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let mut chunks = match self.rounds.get(number) {
            None => vec![Ok(ChatChunk::Text("Done.".to_owned()))],
            Some(Round::Fails) => vec![Err(ModelError::status("rounds", 400))],
            Some(Round::Breaks) => vec![Ok(ChatChunk::Text("Do".to_owned()))],
            Some(Round::Tools(tools)) => {
                let calls = tools.iter().enumerate().map(|(place, tool)| {
                    let id = format!("{number}-{place}");
                    Ok(ChatChunk::ToolUse(match tool {
                        Tool::Unknown => ToolUse::new(id, "no_such_tool", json!({})),
                        Tool::BadInput => ToolUse::invalid(id, "act", "{"),
                        Tool::Agent => ToolUse::new(id, "below", json!({ "task": "Go" })),
                        tool => ToolUse::new(id, "act", json!({ "how": format!("{tool:?}") })),
                    }))
                });
                calls.collect()
            }
        };
        if !matches!(self.rounds.get(number), Some(Round::Breaks)) {
            chunks.push(Ok(ChatChunk::end(Usage::new(1, 1))));
        }
        Box::pin(stream::iter(chunks).then(|chunk| async move {
            yield_now().await;
            chunk
        }))
    }
}

/// Denies what a number says, after it has waited.
struct Denies {
    mask: u64,
}

#[async_trait]
impl Interceptor for Denies {
    async fn intercept(&self, context: &AgentContext) -> Verdict {
        yield_now().await;
        let sequence = context["sequence"].as_u64().unwrap();
        if sequence < 64 && self.mask >> sequence & 1 == 1 { deny("no") } else { Verdict::allow() }
    }
}

fn agent(rounds: Vec<Round>, mask: u64, output: Output, at_once: bool) -> (ReActAgent, Records) {
    let act = FunctionTool::new("act", "Acts.", async |input: Value| {
        yield_now().await;
        yield_now().await;
        match input["how"].as_str() {
            Some("Panics") => panic!("on purpose"),
            Some("Fails") => Err("it fails"),
            _ => Ok("done"),
        }
    });
    let (interceptors, records) = with(Denies { mask });
    let below =
        ReActAgent::builder("below").model(Rounds { rounds: vec![], next: AtomicUsize::new(0) });
    let model = Rounds { rounds, next: AtomicUsize::new(0) };
    let agent = ReActAgent::builder("rounds").model(model).tool(act).parallel_tools(at_once);
    let agent = agent.tool(below.build().unwrap().to_tool("Runs an agent."));
    (agent.hook(interceptors.output(output)).build().unwrap(), records)
}

/// Polls a future so many times, and then drops it, or interrupts it.
async fn polled<T>(future: impl Future<Output = T>, times: usize, mut then: impl FnMut() -> bool) {
    let mut future = pin!(future);
    let mut left = times;
    poll_fn(move |cx| {
        if left == 0 && then() {
            return Poll::Ready(());
        }
        left = left.saturating_sub(1);
        future.as_mut().poll(cx).map(drop)
    })
    .await;
}

async fn run(agent: ReActAgent, ending: Ending) {
    let options = CallOptions::new();
    match ending {
        Ending::Itself => drop(agent.call_with(options, "Go").await),
        Ending::Dropped(times) => polled(agent.call_with(options, "Go"), times, || true).await,
        Ending::Interrupted(times) => {
            let interrupt = hooks_agent_core::call::Interrupt::new();
            let call = agent.call_with(options.interrupt(interrupt.clone()), "Go");
            let then = || {
                interrupt.interrupt();
                false
            };
            polled(call, times, then).await;
        }
        Ending::Panics(results) => {
            let left = AtomicUsize::new(results);
            let panics = on(move |_: &mut PostActing<'_>| {
                assert!(left.fetch_sub(1, Ordering::Relaxed) != 0, "on purpose");
            });
            let agent = Arc::new(agent.with_agent_hook(panics));
            let call = tokio::spawn(agent.call_owned(options, "Go"));
            drop(call.await);
        }
    }
}

/// What is wrong with the records of one session.
fn check(records: &[&InterceptionRecord]) {
    let points: Vec<_> = records.iter().map(|it| it.interception_point).collect();
    let sequences: Vec<_> =
        records.iter().map(|it| usize::try_from(it.sequence).unwrap()).collect();
    assert_eq!(sequences, (0..records.len()).collect::<Vec<_>>(), "no gaps: {points:?}");
    assert_eq!(points.first(), Some(&InterceptionPoint::AgentStartup), "{points:?}");
    assert_eq!(points.last(), Some(&InterceptionPoint::AgentShutdown), "{points:?}");
    for once in [InterceptionPoint::AgentStartup, InterceptionPoint::AgentShutdown] {
        assert_eq!(points.iter().filter(|it| **it == once).count(), 1, "{points:?}");
    }
    let permitted =
        |point| records.iter().filter(|it| it.interception_point == point && it.proceeds()).count();
    let all = |point| points.iter().filter(|it| **it == point).count();
    assert_eq!(
        permitted(InterceptionPoint::PreToolCall),
        all(InterceptionPoint::PostToolCall),
        "each tool that was let run has its pair: {points:?}"
    );
    assert!(permitted(InterceptionPoint::PreModelCall) >= all(InterceptionPoint::PostModelCall));
}

fn tools() -> impl Strategy<Value = Tool> {
    prop::sample::select(vec![
        Tool::Returns,
        Tool::Fails,
        Tool::Panics,
        Tool::Unknown,
        Tool::BadInput,
        Tool::Agent,
    ])
}

fn rounds() -> impl Strategy<Value = Vec<Round>> {
    let round = prop_oneof![
        8 => prop::collection::vec(tools(), 1..4).prop_map(Round::Tools),
        1 => proptest::strategy::Just(Round::Fails),
        1 => proptest::strategy::Just(Round::Breaks),
    ];
    prop::collection::vec(round, 0..4)
}

fn endings() -> impl Strategy<Value = Ending> {
    prop_oneof![
        proptest::strategy::Just(Ending::Itself),
        (0_usize..60).prop_map(Ending::Dropped),
        (0_usize..60).prop_map(Ending::Interrupted),
        (0_usize..4).prop_map(Ending::Panics),
    ]
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 200, ..Default::default() })]

    #[test]
    fn the_trail_of_each_session_is_complete_however_its_call_ends(
        rounds in rounds(),
        ending in endings(),
        // Most points are permitted.
        mask in prop_oneof![proptest::strategy::Just(0_u64), any::<[u64; 4]>().prop_map(|it| it.iter().fold(u64::MAX, |all, one| all & one))],
        is_buffered in any::<bool>(),
        at_once in any::<bool>(),
    ) {
        let output = if is_buffered { Output::Buffered } else { Output::incremental() };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let records = runtime.block_on(async {
            let (agent, records) = agent(rounds, mask, output, at_once);
            run(agent, ending).await;
            // Sessions that were dropped end on the runtime.
            for _ in 0..100 {
                yield_now().await;
            }
            records
        });
        let mut sessions: BTreeMap<String, Vec<InterceptionRecord>> = BTreeMap::new();
        for record in records.all() {
            sessions.entry(record.session_id.clone()).or_default().push(record);
        }
        for session in sessions.values() {
            check(&session.iter().collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_call_that_is_dropped_with_its_runtime_has_its_end() {
    let (interceptors, records) = with(intercept(|_| Verdict::allow()));
    let waits = FunctionTool::new("look", "Waits.", async |_: Value| -> String {
        std::future::pending().await
    });
    let model = crate::support::looking(json!({}));
    let agent = ReActAgent::builder("bot").model(model).tool(waits).hook(interceptors);
    let agent = Arc::new(agent.build().unwrap());
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let call = runtime.spawn(agent.call_owned(CallOptions::new(), "Go"));
    while !records.points().contains(&"pre_tool_call".to_owned()) {
        std::thread::yield_now();
    }
    runtime.shutdown_timeout(std::time::Duration::from_secs(10));
    drop(call);
    let all = records.all();
    check(&all.iter().collect::<Vec<_>>());
    let last = all.last().unwrap();
    assert_eq!(last.verdict.message.as_deref(), Some("dropped"));
}

#[tokio::test]
async fn records_are_lines_of_json() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let lines = JsonLines::append(file.path()).unwrap();
    let interceptors = hooks_agent_interceptors::Interceptors::new(Profile::RunAll)
        .add("allow", intercept(|_| Verdict::allow()))
        .records(lines);
    saying("Hello.", interceptors).call("my secret").await.unwrap();
    let text = std::fs::read_to_string(file.path()).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 6);
    assert_eq!(lines[1]["interception_point"], "input");
    assert_eq!(lines[1]["composition"], json!({ "profile": "sequential/run_all" }));
    assert_eq!(lines[1]["verdicts"], json!([{ "index": 0, "decision": "allow", "name": "allow" }]));
    assert!(!text.contains("secret"), "records have no content");
}

#[tokio::test]
async fn a_sink_that_panics_changes_nothing() {
    struct Panics;

    impl hooks_agent_interceptors::RecordSink for Panics {
        fn record(&self, _: &InterceptionRecord) {
            panic!("on purpose");
        }
    }

    let (interceptors, records) = with(intercept(|_| Verdict::allow()));
    let agent = ReActAgent::builder("bot").model(crate::support::looking(json!({}))).tool(look());
    let agent = agent.hook(interceptors.records(Panics)).build().unwrap();
    assert_eq!(agent.call("Go").await.unwrap().text(), "I read: {}");
    assert_eq!(records.points().len(), 10);
}
