//! Our own agent as host runs our own guest: it decides what the same hooks decide in process.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_policy::command::{CommandEntry, CommandHooks, Layer};
use hooks_agent_policy::policy::{Policy, PolicyFile};
use hooks_fixtures::Records;
use hooks_fixtures::scripted_agents::{go, script, uses};
use proptest::prelude::RngExt;
use proptest::test_runner::{RngAlgorithm, TestRng};
use serde_json::{Value, json};

use crate::program::PROGRAM;

const POLICY: &str = r#"
version = 1

[[hook]]
use = "pii_detection"
with = { kinds = ["email"], tool_results = true }

[[hook]]
use = "sanitize"
with = { patterns = [{ pattern = "token-[0-9]+", replacement = "<token>" }] }

[[hook]]
use = "tool_call_limit"
with = { tool = "search", thread = 40 }

[[hook]]
use = "rule_of_two"
with = { untrusted_input = ["fetch"], private_data = ["mail"], changes_state = ["send"], harmless = ["search", "delete"], action = "refuse" }

[limits]
deny_tools = ["delete"]
"#;

const TOOLS: [&str; 5] = ["search", "delete", "fetch", "mail", "send"];

/// Random tool calls, in calls of several rounds.
fn calls(seed: u8, count: usize) -> Vec<ToolUse> {
    let mut random = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let texts = ["ada@example.com", "token-42", "nothing", "two ada@example.com token-7 texts"];
    (0..count)
        .map(|id| {
            let tool = TOOLS[random.random_range(0..TOOLS.len())];
            let text = texts[random.random_range(0..texts.len())];
            ToolUse::new(id.to_string(), tool, json!({ "text": text }))
        })
        .collect()
}

/// The tools, which give their text back, and what they got.
fn tools(ran: &Arc<Records<String>>) -> Vec<Arc<dyn Tool>> {
    let tool = |name: &&'static str| -> Arc<dyn Tool> {
        let (ran, name) = (ran.clone(), *name);
        Arc::new(FunctionTool::new(name, "Gives its text back.", move |input: Value| {
            let text = input["text"].as_str().unwrap_or_default().to_owned();
            ran.push(format!("{name}: {text}"));
            async move { text }
        }))
    };
    TOOLS.iter().map(tool).collect()
}

/// The results of tool calls on one thread, and what the tools got.
async fn results(
    seed: u8,
    count: usize,
    with: impl FnOnce(ReActAgentBuilder) -> ReActAgentBuilder,
) -> (Vec<(String, bool, String)>, Vec<String>) {
    let rounds: Vec<_> = calls(seed, count).into_iter().map(|call| uses([call])).collect();
    let (model, _) = script(rounds.into_iter().chain(["done".into()]));
    let ran = Arc::new(Records::new());
    let builder = ReActAgent::builder("coding-agent").model(model).tools(tools(&ran));
    let agent = with(builder.max_iters(count + 1)).build().unwrap();
    let options = CallOptions::new().thread(format!("thread-{seed}"));
    let reply = agent.call_with(options, go()).await.unwrap();
    assert_eq!(reply.text(), "done");
    let history = agent.threads().memory(&format!("thread-{seed}")).unwrap().messages();
    let results = history
        .iter()
        .flat_map(Msg::tool_results)
        .map(|result| (result.id.clone(), result.is_error, result.output.to_string()));
    (results.collect(), ran.take())
}

fn commands(folder: &Path) -> CommandHooks {
    let policy = folder.join("policy.toml");
    let state = folder.join("threads.db");
    let guard = |event: &str| {
        let [policy, state] = [&policy, &state].map(|path| path.to_str().unwrap());
        CommandEntry::exec(event, [PROGRAM, "guard", "--policy", policy, "--state", state])
            .timeout(Duration::from_mins(1))
            .layer(Layer::Managed)
    };
    let builder = CommandHooks::builder(folder).entry(guard("PreToolUse"));
    builder.entry(guard("PostToolUse")).open().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_decides_what_the_hooks_decide_in_process() {
    let mut events = 0;
    for seed in 0..4 {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("policy.toml"), POLICY).unwrap();
        let policy = Policy::builder().project(PolicyFile::text("policy", POLICY)).open().unwrap();

        let (here, got_in_process) =
            results(seed, 100, |builder| builder.hook_source(policy)).await;
        let commands = commands(folder.path());
        let (there, tools_got) = results(seed, 100, |builder| builder.hook(commands)).await;

        for (here, there) in here.iter().zip(&there) {
            assert_eq!(here, there);
        }
        assert_eq!((here.len(), &got_in_process), (there.len(), &tools_got));
        let (refused, replaced) = (
            here.iter().filter(|(_, is_error, _)| *is_error).count(),
            here.iter().filter(|(.., text)| text.contains("REDACTED")).count(),
        );
        assert!(refused > 10 && replaced > 10, "{refused} refused, {replaced} replaced");
        events += 100 + tools_got.len();
    }
    println!("{events} events");
    assert!(events >= 500);
}
