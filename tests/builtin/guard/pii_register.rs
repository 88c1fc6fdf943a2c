//! Counts of what was found where.

use futures::executor::block_on;
use hooks_agent_builtin::guard::pii::{PiiRegister, PiiStrategy};
use hooks_agent_builtin::guard::{PiiDetection, Secrets, Vault};
use hooks_agent_core::model::{ChatRequest, TextPlace};
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Calls, Script};
use serde_json::json;

use crate::recognizer::Names;

/// The counts as lines.
fn lines(register: &PiiRegister) -> Vec<String> {
    let line = |it: &hooks_agent_builtin::guard::pii::PiiCount| {
        let tool = it.tool.as_deref().unwrap_or("-");
        format!("{} {:?} {tool} {} {} {}", it.agent, it.place, it.kind, it.is_blocked, it.count)
    };
    register.counts().iter().map(line).collect()
}

/// A call with data in every place, twice on one thread.
async fn busy(hook: PiiDetection) {
    let call = || ToolUse::new("1", "send", json!({ "to": "ada@example.com", "ip": ["10.0.0.1"] }));
    let script = Script::new();
    let script =
        script.calls([call()]).thinks("ada@example.com", "To ada@example.com. And 10.0.0.1");
    let script = script.calls([call()]).says("done");
    let tool = Calls::new("send").answers("sent to bob@example.com, cc ada@example.com");
    let agent = ReActAgent::builder("bot").model(script).tool(tool).hook(hook).build().unwrap();
    agent.call("I am ada@example.com").await.unwrap();
    agent.call("again").await.unwrap();
}

#[tokio::test]
async fn each_finding_counts_once_where_it_is() {
    let expected = [
        "bot Input - email false 1",
        "bot Output - email false 1",
        "bot Output - ip false 1",
        "bot Thinking - email false 1",
        "bot ToolArguments send email false 2",
        "bot ToolArguments send ip false 2",
        "bot ToolResult send email false 2",
    ];
    let register = PiiRegister::new();
    busy(PiiDetection::all().everywhere().register(&register)).await;
    assert_eq!(lines(&register), expected);
    // One that asks tries first, and counts what it does.
    let asking = PiiRegister::new();
    busy(PiiDetection::all().recognizer(NoNames).everywhere().register(&asking)).await;
    assert_eq!(lines(&asking), expected);
    assert_eq!(register.take().len(), expected.len());
    assert!(register.counts().is_empty());
}

/// Recognizes nothing.
struct NoNames;

impl hooks_agent_core::model::Recognizer for NoNames {
    fn name(&self) -> &'static str {
        "none"
    }

    fn recognize<'a>(
        &'a self,
        texts: &'a [&'a str],
    ) -> hooks_agent_core::model::RecognizeFuture<'a> {
        Box::pin(async move { Ok(texts.iter().map(|_| Vec::new()).collect()) })
    }
}

#[tokio::test]
async fn what_a_recognizer_finds_counts_under_its_kind() {
    let register = PiiRegister::new();
    let hook = PiiDetection::all().recognizer(Names).everywhere().register(&register);
    let model = ScriptedModel::new("fixed", |_| "By zoe. And Zoe Barnes.");
    let agent = ReActAgent::builder("bot").model(model).hook(hook).build().unwrap();
    agent.call("I am ada, ada@example.com").await.unwrap();
    let expected =
        ["bot Input - email false 1", "bot Input - person false 1", "bot Output - person false 2"];
    assert_eq!(lines(&register), expected);
}

#[test]
fn a_blocked_text_counts_what_blocked_it() {
    let register = PiiRegister::new();
    let hook = PiiDetection::all().strategy(PiiStrategy::Block).register(&register);
    let agent =
        ReActAgent::builder("bot").model(Script::new().says("x")).hook(hook).build().unwrap();
    block_on(agent.call("ada@example.com and 10.0.0.1")).unwrap_err();
    assert_eq!(lines(&register), ["bot Input - email true 1"]);
}

#[test]
fn the_kinds_of_a_vault_and_of_secrets_count_and_values_are_not_in_it() {
    let register = PiiRegister::new();
    let hook = PiiDetection::all().vault(Vault::new()).register(&register);
    let secrets = Secrets::new().register(&register);
    let model = ScriptedModel::new("echo", ChatRequest::last_text);
    let agent = ReActAgent::builder("bot").model(model).hook(hook).hook(secrets).build().unwrap();
    block_on(agent.call("ada@example.com, password=hunter2-Xy9")).unwrap();
    let counts = register.counts();
    let kinds: Vec<_> = counts.iter().map(|it| (it.place, it.kind.as_str(), it.count)).collect();
    assert_eq!(kinds, [(TextPlace::Input, "email", 1), (TextPlace::Input, "password", 1)]);
    let shown = format!("{register:?} {}", serde_json::to_string(&counts).unwrap());
    assert!(!shown.contains("ada@") && !shown.contains("hunter2"), "{shown}");
}

#[test]
fn names_of_tools_that_a_model_invents_do_not_fill_the_memory() {
    let register = PiiRegister::new();
    let hook = PiiDetection::email().everywhere().register(&register);
    let call =
        |at: usize| ToolUse::new(at.to_string(), format!("tool{at}"), json!({ "to": "a@b.de" }));
    let script = Script::new().calls((0..12_000).map(call)).says("done");
    let agent = ReActAgent::builder("bot").model(script).hook(hook).build().unwrap();
    block_on(agent.call("go")).unwrap();
    let counts = register.counts();
    assert!(counts.len() <= 10_002, "{}", counts.len());
    assert_eq!(counts.iter().map(|it| it.count).sum::<u64>(), 12_000);
}
