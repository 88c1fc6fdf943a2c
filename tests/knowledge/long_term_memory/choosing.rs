//! The choice of entries: by a model or by a rule.

use futures::executor::block_on;
use hooks_agent_core::hook::HookModel;
use hooks_agent_core::model::ModelError;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use hooks_agent_knowledge::{Keep, LongTermMemory, Memories, Origin, ProcessMemories};
use hooks_fixtures::Reports;
use tracing::Level;

use crate::long_term_memory::{agent, listed, on};

/// Calls an agent whose memory is chosen by this script. Returns what is kept and what is reported.
fn kept(chooser: Script) -> (Vec<String>, Vec<String>) {
    let memories = ProcessMemories::new();
    let keep = Keep::by_model(HookModel::new(chooser));
    let memory = LongTermMemory::new(memories.clone(), keep);
    let (agent, _) = agent(&memory, 1);
    let (subscriber, reports) = Reports::up_to(Level::WARN);
    tracing::subscriber::with_default(subscriber, || {
        block_on(agent.call_with(on("ada", "one"), "I have a cat.")).unwrap();
    });
    let origins = block_on(memories.list("ada")).unwrap();
    assert!(origins.iter().all(|entry| entry.origin == Origin::Model));
    (listed(&memories, "ada"), reports.take())
}

#[test]
fn a_model_names_what_is_kept() {
    let chooser = Script::new().says(r#"[" Ada has a cat. ", "", "Ada lives in Rome."]"#);
    let (entries, reports) = kept(chooser.clone());
    assert_eq!(entries, ["Ada has a cat.", "Ada lives in Rome."]);
    assert_eq!(reports, [""; 0]);
    let requests = chooser.requests();
    let [system, said] = [0, 1].map(|index| requests[0].messages[index].text());
    assert!(system.contains("JSON array of strings") && system.contains("data"));
    assert!(said.contains("I have a cat.") && said.contains("done"));
    assert!(requests[0].tools.is_empty());
}

#[test]
fn a_fence_around_the_answer_is_read_over() {
    for text in [
        "```json\n[\"a\"]\n```",
        "```\n[\"a\"]```",
        " [\"a\"]\n",
        "```json title=\"x\"\n[\"a\"]\n```",
        "```json title=\"[x]\"\n[\"a\"]```",
        "```JSON\r\n[\"a\"]\n```",
        "```[\n\"a\"\n]```",
        "```json [\"a\"]```",
        "```json [\n\"a\"]\n```",
    ] {
        assert_eq!(kept(Script::new().says(text)).0, ["a"]);
    }
    assert_eq!(kept(Script::new().says("[]")), (Vec::new(), Vec::new()));
}

#[test]
fn a_bad_answer_keeps_nothing_and_is_reported() {
    let many = serde_json::to_string(&vec!["a"; 17]).unwrap();
    let tool = ToolUse::new("1", "keep", serde_json::json!({}));
    for chooser in [
        Script::new().says("The user has a cat."),
        Script::new().says(r#"{"facts": ["a"]}"#),
        Script::new().says(r#"["a", 1]"#),
        Script::new().says(r#"["a""#),
        Script::new().says(many),
        Script::new().calls([tool]),
        Script::new().fails(ModelError::status("small", 503)),
        Script::new().cut_after("[\"a\"]"),
    ] {
        let (entries, reports) = kept(chooser);
        assert_eq!((entries.len(), reports.len()), (0, 1), "{reports:?}");
        assert!(reports[0].contains("nothing is remembered"), "{reports:?}");
        assert!(!reports[0].contains("cat"), "no content is reported: {reports:?}");
    }
}

#[test]
fn a_text_that_is_too_long_is_left_out_and_reported() {
    let long = serde_json::to_string(&["a".repeat(2049), "b".to_owned()]).unwrap();
    let (entries, reports) = kept(Script::new().says(long));
    assert_eq!((entries, reports.len()), (vec!["b".to_owned()], 1));
}

#[test]
fn a_rule_that_panics_keeps_nothing_and_is_reported() {
    let memories = ProcessMemories::new();
    let keep = Keep::by_rule(|_| panic!("a rule panics"));
    let (agent, _) = agent(&LongTermMemory::new(memories.clone(), keep), 1);
    let (subscriber, reports) = Reports::up_to(Level::WARN);
    tracing::subscriber::with_default(subscriber, || {
        block_on(agent.call_with(on("ada", "one"), "hello")).unwrap();
    });
    assert!(reports.take()[0].contains("the rule panicked"));
    assert_eq!(listed(&memories, "ada"), [""; 0]);
}

#[test]
fn the_call_of_the_chooser_is_not_a_model_call_of_the_agent() {
    let memories = ProcessMemories::new();
    let chooser = Script::new().says("[\"a\"]");
    let keep = Keep::by_model(HookModel::new(chooser));
    let limit = hooks_agent_builtin::limit::ModelCallLimit::builder().run(1).build().unwrap();
    let builder = ReActAgent::builder("bot").model(Script::new().says("done"));
    let memory = LongTermMemory::new(memories.clone(), keep);
    let agent = builder.hook(memory).hook(limit).build().unwrap();
    block_on(async {
        use futures::StreamExt;
        let messages = Messages::from([Msg::user("hello")]);
        let mut events = agent.stream_with(on("ada", "one"), messages);
        while let Some(event) = events.next().await {
            let shown = serde_json::to_string(&event.unwrap()).unwrap();
            assert!(!shown.contains("[\\\"a\\\"]"), "{shown}");
        }
    });
    assert_eq!(listed(&memories, "ada"), ["a"]);
}
