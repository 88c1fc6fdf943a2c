//! A large tape.

use std::process::Command;
use std::time::Instant;

use hooks_agent_core::hook::DynAgentHook;
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_replay::Tape;
use serde_json::{Value, json};

use crate::program::Program;

const PATH: &str = "HOOKS_TAPE_LARGE";

const CALLS: usize = 1_000;

/// Rounds of a call.
const ROUNDS: usize = 10;

/// The most memory of the process that replays, of which a tenth is that of a process that does
/// nothing.
const KILOBYTES: u64 = 96 * 1024;

fn agent() -> ReActAgentBuilder {
    let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
        let results = request.messages.iter().flat_map(Msg::tool_results).count();
        if results == ROUNDS - 1 {
            return "I have read all of it.".into();
        }
        ToolUse::new(format!("call-{results}"), "read", json!({ "page": results })).into()
    });
    let read = FunctionTool::new("read", "Reads a page.", async |input: Value| {
        format!("The text of page {}. {}", input["page"], "It goes on and on. ".repeat(5))
    });
    ReActAgent::builder("reader").model(model).tool(read).max_iters(ROUNDS)
}

async fn call_all(tape: Tape) {
    let agent = agent().hook(tape.clone()).build().unwrap();
    for call in 0..CALLS {
        let options = CallOptions::new().thread(format!("thread-{call}"));
        agent.call_with(options, "Read it").await.unwrap();
    }
    tape.finish().unwrap().assert_no_drift();
}

/// Records a call of so many rounds, replays it, and returns the size of its tape.
async fn size_of(rounds: usize, hook: impl Fn() -> Box<dyn DynAgentHook>) -> usize {
    let program = Program::new();
    let agent = || {
        let model = ScriptedModel::new("script", move |request| -> ScriptedAnswer {
            let results = request.messages.iter().flat_map(Msg::tool_results).count();
            if results == rounds - 1 {
                return "I have read all of it.".into();
            }
            ToolUse::new(format!("call-{results}"), "read", json!({ "page": results })).into()
        });
        let read = FunctionTool::new("read", "Reads a page.", async |input: Value| {
            format!("The text of page {}.", input["page"])
        });
        let agent = ReActAgent::builder("reader").model(model).tool(read).max_iters(rounds);
        agent.system_prompt("Read all of it.").hook(hook())
    };
    program.record_of(agent(), "Go").await;
    program.replay_of(agent(), "Go").await.assert_no_drift();
    program.text().len()
}

#[tokio::test]
async fn a_tape_grows_with_the_rounds_and_not_with_their_square() {
    let nothing = || -> Box<dyn DynAgentHook> { Box::new(on(|_: &mut PreCall<'_>| ())) };
    // A part of the request that is another one in each round, before what stays.
    let counts = || -> Box<dyn DynAgentHook> {
        let counted = std::sync::atomic::AtomicUsize::new(0);
        Box::new(on(move |event: &mut PreReasoning<'_>| {
            let count = counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            event.append_system(format!("This is round {count}."));
        }))
    };
    for hook in [&nothing as &dyn Fn() -> Box<dyn DynAgentHook>, &counts] {
        let (small, large) = (size_of(20, hook).await, size_of(80, hook).await);
        assert!(large < 5 * small, "{small} bytes of 20 rounds, {large} of 80");
    }
}

/// More calls than a replay keeps requests of.
#[tokio::test]
async fn calls_that_take_turns_replay_identical() {
    let program = Program::new();
    let agent = || {
        let turns = hooks_agent_core::on!(async move |_: &mut PreReasoning<'_>| {
            tokio::task::yield_now().await;
        });
        agent().hook(turns)
    };
    for tape in [Tape::record(program.path()), Tape::replay(program.path())] {
        let tape = tape.open().unwrap();
        let agent = agent().hook(tape.clone()).build().unwrap();
        let calls = (0..100).map(|call| {
            agent.call_with(CallOptions::new().thread(format!("thread-{call}")), "Read it")
        });
        let replies = futures::future::join_all(calls).await;
        assert!(replies.iter().all(Result::is_ok));
        tape.finish().unwrap().assert_no_drift();
    }
    // They did take turns.
    let rounds = program.lines("model");
    assert!(rounds.windows(2).any(|two| two[0]["run"] != two[1]["run"] && two[1]["round"] != 0));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn ten_thousand_rounds_replay_in_little_memory() {
    let program = Program::new();
    let start = Instant::now();
    call_all(Tape::record(program.path()).open().unwrap()).await;
    println!("recorded {} bytes in {:?}", program.text().len(), start.elapsed());
    assert_eq!(program.lines("model").len(), CALLS * ROUNDS);
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "size::child", "--nocapture"]).env(PATH, program.path());
    let output = child.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    let (_, peak) = text.split_once("peak memory: ").unwrap();
    let peak: u64 = peak.split_whitespace().next().unwrap().parse().unwrap();
    println!("{text}");
    assert!(peak < KILOBYTES, "{peak} kB");
}

/// What the process that replays does; else nothing.
#[tokio::test]
async fn child() {
    let Some(path) = std::env::var_os(PATH) else { return };
    let start = Instant::now();
    let tape = Tape::replay(path).open().unwrap();
    println!("opened in {:?}", start.elapsed());
    call_all(tape).await;
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    println!("replayed in {:?}, peak memory: {}", start.elapsed(), peak.trim());
}
