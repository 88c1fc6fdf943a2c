//! A text that guards removed stays removed.

use futures::executor::block_on;
use hooks_agent_builtin::answer::{Mode, StructuredOutputError, TypedCalls};
use hooks_agent_builtin::guard::PiiDetection;
use hooks_agent_builtin::people::{Gate, HumanInTheLoop};
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Calls, Script};
use serde_json::json;

use crate::structured_output::{GOOD, Invoice, invoice, of_invoices, words};

const ADDRESS: &str = "ada@example.com";

fn redacting(script: &Script, more: impl AgentHook) -> ReActAgent {
    let emails = PiiDetection::email().output(true);
    ReActAgent::builder("bot").model(script.clone()).hook(emails).hook(more).build().unwrap()
}

fn nothing() -> impl AgentHook {
    on(|_: &mut PreCall<'_>| {})
}

#[test]
fn the_value_is_read_from_what_redactors_left() {
    let answer = GOOD.replace("ink", ADDRESS);
    let call = ToolUse::new("1", "final_answer", serde_json::from_str(&answer).unwrap());
    for (mode, script) in [
        (Mode::Format, Script::new().says(answer.as_str())),
        (Mode::Tool, Script::new().calls([call])),
        (Mode::Prompt, Script::new().says(format!("So: {answer}"))),
    ] {
        let agent = redacting(&script, nothing());
        let typed = block_on(of_invoices(mode).call::<Invoice>(&agent, CallOptions::new(), "Go"));
        let typed = typed.unwrap();
        assert_eq!(typed.items[0].name, "[REDACTED_EMAIL]");
        assert!(!format!("{typed:?}").contains(ADDRESS));
        assert!(!format!("{:?}", agent.memory().messages()).contains(ADDRESS));
    }
}

#[test]
fn a_message_that_sends_an_answer_back_has_nothing_that_was_removed() {
    let wrong = json!({ "number": 7, "items": [], "note": [ADDRESS], ADDRESS: 1 }).to_string();
    let script = Script::new().says(wrong.as_str()).says(wrong.as_str()).says(GOOD);
    let agent = redacting(&script, nothing());
    block_on(agent.call_typed::<Invoice>("Go")).unwrap();
    for request in &script.requests()[1..] {
        let text = format!("{:?}", request.messages);
        assert!(text.contains("`note`: ") && !text.contains(ADDRESS), "{text}");
    }
    let script = (0..4).fold(Script::new(), |script, _| script.says(wrong.as_str()));
    let error = block_on(redacting(&script, nothing()).call_typed::<Invoice>("Go")).unwrap_err();
    assert!(!format!("{error} {error:?}").contains(ADDRESS));
}

#[test]
fn a_reply_that_a_hook_signs_is_still_read() {
    let sign = on(|event: &mut PostCall<'_>| event.final_message_mut().push_text("\n-- A."));
    let agent = redacting(&Script::new().says(GOOD), sign);
    let typed = block_on(agent.call_typed::<Invoice>("Go")).unwrap();
    assert_eq!(typed.value, invoice());
    assert!(typed.reply.text().ends_with("-- A."));
}

#[test]
fn a_reply_that_a_hook_spoils_is_a_typed_error() {
    let spoil = on(|event: &mut PostCall<'_>| {
        event.final_message_mut().content = vec![ContentBlock::text(r#"{"number": 7}"#)];
    });
    let agent = redacting(&Script::new().says(GOOD), spoil);
    let error = block_on(agent.call_typed::<Invoice>("Go")).unwrap_err();
    assert!(matches!(error, StructuredOutputError::Changed { .. }), "{error}");
    assert_eq!(words(&error), ["`items`: is required and missing"]);
}

#[test]
fn an_answer_that_no_longer_fits_without_what_was_removed_goes_back() {
    let remove = on(|event: &mut PostReasoning<'_>| {
        let text = event.message().text().replace("secret", "");
        event.set_message(Msg::assistant("bot", text));
    });
    let script = Script::new().says(r#"{"number":secret7,"items":secret}"#).says(GOOD);
    let agent = ReActAgent::builder("bot").model(script).hook(remove.with_priority(10)).build();
    assert_eq!(block_on(agent.unwrap().call_typed::<Invoice>("Go")).unwrap().value, invoice());
}

#[test]
fn nobody_is_asked_about_the_tool_that_takes_the_answer() {
    let people = HumanInTheLoop::new().ask_every_tool(Gate::new());
    let call = ToolUse::new("1", "final_answer", serde_json::from_str(GOOD).unwrap());
    let script = Script::new().calls([call]);
    let builder = ReActAgent::builder("bot").model(script).tool(Calls::new("pay"));
    let agent = builder.hook(people).build().unwrap();
    assert_eq!(block_on(agent.call_typed::<Invoice>("Go")).unwrap().value, invoice());
}

#[test]
fn a_redactor_that_comes_later_is_named_by_the_plan() {
    let warnings = |priority| {
        let emails = PiiDetection::email().output(true).with_priority(priority);
        let builder = ReActAgent::builder("bot").model(Script::new()).hook(emails);
        let agent = builder.hook(of_invoices(Mode::Prompt)).build().unwrap();
        agent.hook_plan().warnings().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(warnings(10), [""; 0]);
    assert!(warnings(120)[0].starts_with("`StructuredOutput` (priority 110) observes"));
}
