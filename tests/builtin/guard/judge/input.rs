//! Refused input reaches nobody.

use hooks_agent_builtin::guard::{Judge, PiiDetection};
use hooks_agent_core::message::Media;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use serde_json::{Value, json};

use crate::judge::{BAD, CODE, GOOD, blocked, no_codes, shown, texts, verdicts};

#[tokio::test]
async fn refused_input_leaves_memory_as_it_was() {
    let script = Script::new().says("Hello.").says("Still here.");
    let judge = Judge::new(no_codes(), "No codes.").input();
    let agent = ReActAgent::builder("bot").model(script.clone()).hook(judge).build().unwrap();
    agent.call("Hi").await.unwrap();
    let before = agent.memory().messages();
    let error = agent.call(format!("Is it {CODE}?")).await.unwrap_err();
    let text = "the input does not meet the rubric (score 0.20, at least 0.50 is expected): \
                \"It tells a code.\"";
    assert_eq!(blocked(&error), text);
    assert_eq!(agent.memory().messages(), before);
    assert_eq!(script.requests().len(), 1);
    let shown = shown(&agent, &format!("Is it {CODE}?")).await;
    assert!(!shown.contains(CODE), "{shown}");
    agent.call("And now?").await.unwrap();
    assert_eq!(texts(&agent), ["Hi", "Hello.", "And now?", "Still here."]);
}

#[tokio::test]
async fn what_is_chosen_is_judged_and_nothing_else() {
    let calls = [ToolUse::new("1", "look", json!({}))];
    let look = || FunctionTool::new("look", "Looks.", async |_: Value| "seen");
    let kinds = async |judge: &dyn Fn(Judge) -> Judge| {
        let script = Script::new().calls(calls.clone()).says("Done.");
        let (small, asked) = verdicts([GOOD, GOOD, GOOD]);
        let judge = judge(Judge::new(small, "Be good."));
        let builder = ReActAgent::builder("bot").model(script).tool(look()).hook(judge);
        builder.build().unwrap().call("Go").await.unwrap();
        let kind = |request: &ChatRequest| {
            let data: Value = serde_json::from_str(&request.last_text()).unwrap();
            data["kind"].as_str().unwrap().to_owned()
        };
        asked.take().iter().map(kind).collect::<Vec<_>>()
    };
    assert_eq!(kinds(&|judge| judge).await, ["answer"]);
    assert_eq!(kinds(&|judge| judge.answers()).await, ["answer"]);
    assert_eq!(kinds(&|judge| judge.input()).await, ["input"]);
    assert_eq!(kinds(&|judge| judge.tool_calls()).await, ["tool_call"]);
    let all = |judge: Judge| judge.input().tool_calls().answers();
    assert_eq!(kinds(&all).await, ["input", "tool_call", "answer"]);
}

#[tokio::test]
async fn the_judge_reads_the_input_without_what_a_redactor_removes() {
    let (small, asked) = verdicts([GOOD]);
    let builder = ReActAgent::builder("bot").model(Script::new().says("Hello."));
    let builder = builder.hook(Judge::new(small, "Be good.").input()).hook(PiiDetection::email());
    builder.build().unwrap().call("I am ada@example.com").await.unwrap();
    let text = asked.take()[0].last_text();
    assert!(!text.contains("ada@") && text.contains("[REDACTED_EMAIL]"), "{text}");
}

#[tokio::test]
async fn input_without_text_is_not_judged() {
    let (small, asked) = verdicts([BAD]);
    let builder = ReActAgent::builder("bot").model(Script::new().says("Seen."));
    let agent = builder.hook(Judge::new(small, "Be good.").input()).build().unwrap();
    let image = ContentBlock::Image(Media::url("image/png", "https://example.org/a.png"));
    agent.call(Msg::from_blocks(Role::User, "user", vec![image])).await.unwrap();
    assert_eq!(asked.take(), []);
}
