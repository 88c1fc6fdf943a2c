//! Random teams of agents that ask, and random answers: each tool call runs once at most, only if
//! it may, and nothing that waits is lost.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use futures::StreamExt;
use futures::executor::block_on;
use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::call::CallOptions;
use hooks_agent_core::event::{EventKind, Flow, HookEvent};
use hooks_agent_core::message::{
    GenerateReason, Messages, Msg, PendingReason, ToolResult, ToolUse,
};
use hooks_agent_core::model::{ChatRequest, ScriptedAnswer, ScriptedModel};
use hooks_agent_core::react::ReActAgent;
use hooks_agent_core::stream::AgentEventKind;
use hooks_agent_core::tool::{FunctionTool, Permission};
use hooks_fixtures::scripted_agents::{assert_valid, on, uses};
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof, proptest};
use proptest::test_runner::TestCaseError;
use proptest::{collection, option, prop_assert, prop_assert_eq};
use serde_json::json;

/// One tool call of an answer.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// A tool that may run.
    Free,
    /// A tool that asks.
    Asks,
    /// A tool at which a hook asks.
    Hooked,
    /// A tool at which a hook stops until it is confirmed.
    Stopped,
    /// The sub-agent below.
    Below,
}

/// What the caller does about a tool call that waits.
#[derive(Clone, Copy, Debug)]
enum Answer {
    Confirm,
    Deny,
    Leave,
}

/// The answers of one level, each a batch of tool calls, and whether these run at once.
#[derive(Clone, Debug)]
struct Level {
    rounds: Vec<Vec<Step>>,
    at_once: bool,
    approves: bool,
}

fn level() -> impl Strategy<Value = Level> {
    let step = prop_oneof![
        Just(Step::Free),
        Just(Step::Asks),
        Just(Step::Hooked),
        Just(Step::Stopped),
        Just(Step::Below),
        Just(Step::Below),
    ];
    let rounds = collection::vec(collection::vec(step, 1..4), 1..3);
    (rounds, any::<bool>(), any::<bool>()).prop_map(|(rounds, at_once, approves)| Level {
        rounds,
        at_once,
        approves,
    })
}

fn answer() -> impl Strategy<Value = Answer> {
    prop_oneof![2 => Just(Answer::Confirm), 1 => Just(Answer::Deny), 1 => Just(Answer::Leave)]
}

/// What ran, by the key of the tool call, which no two tool calls share.
type Ran = Arc<Mutex<HashMap<String, usize>>>;

fn tool(name: &'static str, ran: &Ran) -> FunctionTool {
    let ran = ran.clone();
    FunctionTool::new(name, "Runs.", move |input: serde_json::Value| {
        let key = input["key"].as_str().unwrap_or_default().to_owned();
        *ran.lock().unwrap().entry(key).or_default() += 1;
        async { "ran" }
    })
    .permission(move |_| if name == "asks" { Permission::Ask } else { Permission::Allow })
}

/// A model that goes through its rounds for each task. Ids are `0`, `1`.. at every level and in
/// every round; each tool call has a key of its own.
fn model(depth: usize, level: &Level) -> ScriptedModel {
    let (rounds, count) = (level.rounds.clone(), Mutex::new(0));
    ScriptedModel::new("random", move |request: &ChatRequest| -> ScriptedAnswer {
        let asked = request.messages.iter().rev();
        let since = asked.take_while(|msg| msg.role != hooks_agent_core::message::Role::User);
        let round = since.filter(|msg| msg.tool_uses().next().is_some()).count();
        let Some(steps) = rounds.get(round) else { return "done".into() };
        uses(steps.iter().enumerate().map(|(id, step)| {
            let mut count = count.lock().unwrap();
            *count += 1;
            let key = format!("{depth}-{count}");
            let name = match step {
                Step::Free => "free",
                Step::Asks => "asks",
                Step::Hooked => "hooked",
                Step::Stopped => "stopped",
                Step::Below => "below",
            };
            ToolUse::new(id.to_string(), name, json!({ "key": key, "task": key }))
        }))
    })
}

/// The agents from the deepest up. Each is the tool `below` of the next.
fn team(levels: &[Level], ran: &Ran) -> Vec<ReActAgent> {
    let mut agents: Vec<ReActAgent> = Vec::new();
    for (depth, level) in levels.iter().enumerate() {
        let approves = level.approves;
        let mut builder = ReActAgent::builder("below")
            .model(model(depth, level))
            .parallel_tools(level.at_once)
            .max_iters(20);
        for name in ["free", "asks", "hooked", "stopped"] {
            builder = builder.tool(tool(name, ran));
        }
        builder = builder.hook(on(EventKind::PreActing, move |event| {
            let is_confirmed = {
                let HookEvent::PreActing(event) = &*event else { unreachable!() };
                event.context().is_confirmed(&event.tool_use().id)
            };
            let HookEvent::PreActing(event) = event else { unreachable!() };
            Ok(match event.tool_use().name.as_str() {
                "hooked" => event.ask("a hook asks"),
                "below" if approves => event.ask("a hook asks"),
                "stopped" if !is_confirmed => event.stop(),
                _ => Flow::Continue,
            })
        }));
        builder = match agents.last() {
            Some(below) => builder.tool(below.to_tool("Works.")),
            None => builder.tool(tool("below", ran)),
        };
        agents.push(builder.build().unwrap());
    }
    agents
}

/// Plays a story: `answers` are those of the caller in order, `drops` say after how many events the
/// streams of the calls are dropped.
async fn play(
    levels: Vec<Level>,
    answers: Vec<Answer>,
    drops: Vec<Option<usize>>,
) -> Result<(), TestCaseError> {
    let ran = Ran::default();
    let agents = team(&levels, &ran);
    let boss = agents.last().unwrap();
    let mut answers = answers.into_iter().chain(std::iter::repeat(Answer::Confirm));
    let (mut confirmed, mut denied) = (HashSet::new(), HashSet::new());
    let (mut drops, mut is_dropped) = (drops.into_iter(), false);
    let mut waited = Vec::new();
    let (mut options, mut messages) = (CallOptions::new(), Messages::from("go"));
    for turn in 0.. {
        prop_assert!(turn < 1000, "it never ends");
        let most = drops.next().flatten();
        let stream = boss.stream_with(options, messages).map(|event| event.unwrap());
        let events: Vec<_> = stream.take(most.unwrap_or(usize::MAX)).collect().await;
        // What starts runs, and only what may.
        for (key, times) in &*ran.lock().unwrap() {
            prop_assert_eq!(*times, 1, "{} ran {} times", key, times);
            prop_assert!(!denied.contains(key), "{} was denied", key);
        }
        for event in &events {
            if let AgentEventKind::ToolStarted(call) = &event.kind {
                let key = call.input["key"].as_str().unwrap().to_owned();
                let depth: usize = key.split('-').next().unwrap().parse().unwrap();
                let is_free =
                    call.name == "free" || call.name == "below" && !levels[depth].approves;
                let may = is_free || confirmed.contains(&key);
                prop_assert!(may, "{:?} runs unconfirmed", call);
            }
        }
        let last = events.last().filter(|event| event.parent.is_none());
        let Some(AgentEventKind::Finished(reply)) = last.map(|event| &event.kind) else {
            // The stream was dropped in the middle. What waited before waits still if the call
            // had not begun, else nothing does.
            prop_assert!(most.is_some());
            let left = boss.memory().pending();
            messages = if left.is_empty() { Messages::from("go") } else { Messages::new() };
            options = CallOptions::new();
            if left.is_empty() {
                assert_valid(boss);
            } else {
                prop_assert_eq!(&left, &waited);
            }
            denied.clear();
            is_dropped = true;
            continue;
        };
        let pending = reply.pending();
        waited = pending.to_vec();
        prop_assert_eq!(pending, boss.memory().pending());
        // The stream asks what the reply asks, and nothing else.
        let asked: Vec<_> = events
            .iter()
            .filter_map(|event| match &event.kind {
                AgentEventKind::PermissionAsked(pending) => Some(pending.clone()),
                _ => None,
            })
            .collect();
        let questions: Vec<_> = pending
            .iter()
            .filter(|it| matches!(it.why, PendingReason::Permission(_)))
            .cloned()
            .collect();
        prop_assert_eq!(asked, questions);
        if pending.is_empty() {
            prop_assert_eq!(reply.reason, Some(GenerateReason::ModelStop));
            break;
        }
        let ids: HashSet<_> = pending.iter().map(|pending| &pending.id).collect();
        prop_assert_eq!(ids.len(), pending.len());
        (options, messages) = (CallOptions::new(), Messages::new());
        for pending in pending {
            let key = pending.call.input["key"].as_str().unwrap().to_owned();
            prop_assert!(!ran.lock().unwrap().contains_key(&key), "{:?} ran and waits", pending);
            prop_assert!(!denied.contains(&key), "{:?} was denied and waits", pending);
            match answers.next().unwrap() {
                Answer::Confirm => {
                    confirmed.insert(key);
                    options = options.confirm(&pending.id);
                }
                Answer::Deny => {
                    denied.insert(key);
                    let mut result = ToolResult::error(&pending.call, "no");
                    result.id.clone_from(&pending.id);
                    messages.push(Msg::tool_result(result));
                }
                Answer::Leave => {}
            }
        }
    }
    for agent in &agents {
        // A question whose caller was dropped is given up with the next task.
        if !is_dropped {
            assert_valid(agent);
            prop_assert!(agent.memory().pending().is_empty());
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn whoever_asks_is_answered_and_each_tool_call_runs_once_if_it_may(
        levels in collection::vec(level(), 1..4),
        answers in collection::vec(answer(), 64),
        drops in collection::vec(option::weighted(0.2, 1_usize..60), 64),
    ) {
        block_on(play(levels, answers, drops))?;
    }
}
