//! Answers that do not fit go back to the model.

use futures::executor::block_on;
use hooks_agent_builtin::answer::{Mode, StructuredOutput, StructuredOutputError, TypedCalls};
use hooks_agent_core::message::GenerateReason;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Calls, Script, check_history};
use hooks_agent_sql::store::SqliteStore;
use serde_json::json;

use crate::structured_output::{GOOD, Invoice, bot, invoice, of_invoices, words};

/// Vectors of `StructuredOutputHookTest`: an answer in words goes back, in every mode.
#[test]
fn an_answer_in_words_goes_back_with_what_was_expected() {
    for mode in [Mode::Format, Mode::Tool, Mode::Prompt] {
        let script = Script::new().says("It is invoice 7.").says(GOOD);
        let agent = bot(&script);
        let typed = block_on(of_invoices(mode).call::<Invoice>(&agent, CallOptions::new(), "Go"));
        assert_eq!(typed.unwrap().value, invoice());
        let sent_back = script.requests()[1].messages.last().unwrap().clone();
        assert_eq!(sent_back.role, Role::User);
        assert_eq!(sent_back.metadata[StructuredOutput::METADATA_KEY], "Invoice");
        let how = match mode {
            Mode::Tool => "Call `final_answer` again, with the whole value.",
            _ => "Answer again, with the whole JSON value and nothing else.",
        };
        let why = "- the answer is no JSON, one JSON value is expected";
        assert_eq!(sent_back.text(), format!("Your answer does not fit `Invoice`:\n{why}\n{how}"));
        check_history(agent.memory());
    }
}

/// The problems in the message that sends this answer back.
fn told(answer: &str) -> String {
    let script = Script::new().says(answer).says(GOOD);
    let agent = bot(&script);
    assert_eq!(block_on(agent.call_typed::<Invoice>("Go")).unwrap().value, invoice());
    let text = script.requests()[1].last_text();
    let mut lines: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("- ")).collect();
    lines.sort_unstable();
    lines.join("; ")
}

#[test]
fn the_fields_are_named() {
    let answer = r#"{"number":"7","items":[{"name":"ink","price":1},{"price":"x"}]}"#;
    assert_eq!(
        told(answer),
        "`items[1].name`: is required and missing; `items[1].price`: a number is expected; \
         `number`: an integer is expected"
    );
}

#[test]
fn faults_of_the_text_are_named() {
    assert_eq!(told(" \n"), "the answer is empty, a JSON value is expected");
    assert_eq!(told(&format!("{GOOD}\n{GOOD}")), "the answer has two JSON values, one is expected");
    assert_eq!(
        told(&format!("Either {GOOD} or {GOOD}")),
        "the answer has two JSON values, one is expected"
    );
    assert_eq!(
        told(r#"{"number":7,"items":[],}"#),
        "the answer is no valid JSON: trailing comma at line 1 column 24"
    );
    assert!(told(r#"{"number":7,"items":[{"na"#).contains("EOF while parsing"));
    assert!(told("[1,2]").contains("an object is expected"));
    assert!(told("7").contains("an object is expected"));
}

#[test]
fn what_stands_around_the_json_is_no_fault() {
    for text in [
        format!("```json\n{GOOD}\n```"),
        format!("```\n{GOOD}```"),
        format!("Sure! {GOOD} Is that all?"),
        format!("See [1] and {{x}}.\n\n{GOOD}\n"),
        format!("```json\n{}\n```", GOOD.replace("ink", "```")),
        format!("Well: {} Done.", GOOD.replace("ink", "```")),
        format!("It is ```{GOOD}``` of `7`."),
    ] {
        let agent = bot(&Script::new().says(text.clone()));
        let typed = block_on(agent.call_typed::<Invoice>("Go")).unwrap_or_else(|error| {
            panic!("{text}: {error}");
        });
        assert_eq!(typed.number, 7);
    }
}

#[test]
fn an_answer_that_fits_replaces_its_text_in_memory_and_keeps_other_blocks() {
    let script = Script::new().thinks("Hm.", format!("Sure: {GOOD}"));
    let agent = bot(&script);
    block_on(agent.call_typed::<Invoice>("Go")).unwrap();
    let last = agent.memory().messages().last().unwrap().clone();
    assert_eq!(last.text(), GOOD);
    assert_eq!(last.content.len(), 2);
}

#[test]
fn after_three_retries_the_call_fails_with_what_was_wrong() {
    let script =
        (0..4).fold(Script::new(), |script, _| script.says(r#"{"number":-1,"items":"secret"}"#));
    let agent = bot(&script);
    let error = block_on(agent.call_typed::<Invoice>("Go")).unwrap_err();
    script.finish();
    let StructuredOutputError::Mismatch { attempts, .. } = &error else { panic!("{error}") };
    assert_eq!(*attempts, 4);
    assert_eq!(
        words(&error),
        ["`items`: an array is expected", "`number`: at least 0 is expected"]
    );
    let text = error.to_string();
    assert!(
        text.starts_with("the answer does not fit `Invoice` after 4 attempts, at: `"),
        "{text}"
    );
    assert!(text.contains("`items`") && text.contains("`number`") && !text.contains("secret"));
    // Those that went back stay in memory, the last one does not.
    check_history(agent.memory());
    let kept = agent.memory().messages();
    assert_eq!(kept.iter().filter(|msg| msg.text().contains("secret")).count(), 3);
    assert_eq!(kept.len(), 7);
}

#[test]
fn the_error_of_an_agent_with_the_hook_shows_no_content() {
    let script = (0..4).fold(Script::new(), |script, _| script.says(r#"["secret"]"#));
    let agent = bot(&script).with_agent_hook(of_invoices(Mode::Format));
    let error = block_on(agent.call("Go")).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("secret"));
    let error = StructuredOutputError::from(error);
    assert!(matches!(error, StructuredOutputError::Mismatch { attempts: 4, .. }));
}

#[test]
fn the_number_of_retries_is_a_setting() {
    for retries in [0, 1, 5] {
        let script = (0..=retries).fold(Script::new(), |script, _| script.says("no"));
        let builder = ReActAgent::builder("bot").model(script.clone()).max_jumps(9);
        let agent = builder.build().unwrap();
        let output = StructuredOutput::of::<Invoice>().retries(retries).build().unwrap();
        let error = block_on(output.call::<Invoice>(&agent, CallOptions::new(), "Go")).unwrap_err();
        let is_last = |attempts| attempts == retries + 1;
        assert!(
            matches!(error, StructuredOutputError::Mismatch { attempts, .. } if is_last(attempts))
        );
        script.finish();
    }
}

#[test]
fn each_call_has_its_own_retries() {
    let script = Script::new();
    let script =
        (0..3).fold(script, |script, _| script.says("no").says("no").says("no").says(GOOD));
    let agent = bot(&script);
    for _ in 0..3 {
        assert_eq!(block_on(agent.call_typed::<Invoice>("Go")).unwrap().value, invoice());
    }
    script.finish();
}

/// Two answers do not fit, a tool asks a person, and after that, in another process, two more do not fit.
#[tokio::test]
async fn a_call_that_resumes_goes_on_with_the_count() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agents.db");
    let agent = async |script: &Script| {
        let store = SqliteStore::open(&file).await.unwrap();
        let ask = on(|event: &mut PreActing<'_>| event.ask("may I?"));
        let pay = Calls::new("pay").answers("paid");
        let builder = ReActAgent::builder("bot").model(script.clone()).store(store);
        builder.tool(pay).hook(ask).build().unwrap()
    };
    let pay = ToolUse::new("1", "pay", json!({}));
    let script = Script::new().says("no").says("no").calls([pay]);
    let first = agent(&script).await;
    let error = first.call_typed::<Invoice>("Go").await.unwrap_err();
    drop(first);
    script.finish();
    let StructuredOutputError::NoAnswer { reason, reply, .. } = error else { panic!("{error}") };
    assert_eq!((reason, reply.pending().len()), (GenerateReason::PermissionAsking, 1));

    let script = Script::new().says("no").says("no");
    let second = agent(&script).await;
    let options = CallOptions::new().confirm(reply.pending()[0].id.clone());
    let error = second.call_typed_with::<Invoice>(options, Messages::new()).await.unwrap_err();
    script.finish();
    assert!(matches!(error, StructuredOutputError::Mismatch { attempts: 4, .. }), "{error}");

    // The next call counts anew.
    let script = Script::new().says("no").says("no").says("no").says(GOOD);
    let third = agent(&script).await;
    assert_eq!(third.call_typed::<Invoice>("Again").await.unwrap().value, invoice());
}
