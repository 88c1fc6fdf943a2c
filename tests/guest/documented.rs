//! The events that a coding agent documents, as data: each with fields as its documentation has them.

use hooks_agent_builtin::guard::{InjectPrompt, PiiDetection};
use hooks_agent_core::event::{PostReasoning, PreActing};
use hooks_agent_core::hook::{AgentHookExt, on};
use hooks_agent_core::message::Msg;
use hooks_agent_core::prelude::Flow;
use hooks_agent_core::react::HookSet;
use hooks_agent_guest::{Guard, GuestThread};
use serde_json::Value;

use crate::sources::Fixed;

fn house_rules() -> Guard {
    let tools = on(|event: &mut PreActing<'_>| {
        let call = event.tool_use();
        let command = call.input["command"].as_str().unwrap_or_default();
        match call.name.as_str() {
            "Bash" if command.starts_with("rm ") => event.refuse("rm is not allowed"),
            "mcp__bank__pay" => event.ask("payments need approval"),
            _ => Flow::Continue,
        }
    });
    let tests = on(|event: &mut PostReasoning<'_>| match event.message().text().as_str() {
        "Not tested yet." => event.jump_to_model(vec![Msg::user("run the tests")]).unwrap(),
        _ => Flow::Continue,
    });
    let mails = PiiDetection::email().tool_results(true);
    Guard::new(Fixed::of(HookSet::join(&[
        HookSet::of(tools.named("tools")),
        HookSet::of(tests.named("tests")),
        HookSet::of(mails),
        HookSet::of(InjectPrompt::new("Ask before you delete.")),
    ])))
}

#[tokio::test]
async fn each_documented_event_has_its_answer() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("inputs.json")).unwrap();
    let guard = house_rules();
    let mut thread = GuestThread::default();
    for case in &cases {
        let input = serde_json::from_value(case["input"].clone()).unwrap();
        let output = guard.decide(&input, &mut thread).await;
        assert_eq!(serde_json::to_value(&output).unwrap(), case["answer"], "{}", case["input"]);
    }
    assert_eq!(cases.len(), 22);
}
