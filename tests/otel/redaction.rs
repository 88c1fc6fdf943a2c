//! Content that is not recorded: by default all texts, and always those that redactors removed.

use futures::StreamExt;
use hooks_agent_builtin::guard::pii::PiiStrategy;
use hooks_agent_builtin::guard::{PiiDetection, Vault};
use hooks_agent_core::message::GenerateReason;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Calls, Script};
use hooks_agent_otel::Capture;
use serde_json::{Value, json};

use crate::content::{ARGUMENTS, INPUT, OUTPUT, RESULT, everything, json_of, script};
use crate::recorded::{Recorded, text};

// OT-03
#[tokio::test]
async fn by_default_nothing_that_was_said_is_recorded() {
    let recorded = Recorded::new();
    let failing = Calls::new("broken").fails("error-secret");
    let call = |id: &str, name: &str| ToolUse::new(id, name, json!({ "text": "argument-secret" }));
    let script = Script::new()
        .calls([call("1", "t"), call("2", "broken"), call("3", "name-secret")])
        .thinks("thought-secret", "answer-secret");
    let rewrite =
        on(|event: &mut PostCall<'_>| event.final_message_mut().push_text("rewrite-secret"));
    let agent = ReActAgent::builder("a")
        .model(script)
        .system_prompt("system-secret")
        .tool(Calls::new("t").answers("result-secret"))
        .tool(failing)
        .hook(rewrite.named("sign"))
        .hook(recorded.hook())
        .build()
        .unwrap();
    agent.call("prompt-secret").await.unwrap();

    assert_eq!(recorded.spans().len(), 6);
    let everything = everything(&recorded);
    assert!(everything.contains("execute_tool broken"));
    assert!(!everything.contains("secret"), "{everything}");
}

#[tokio::test]
async fn by_default_the_text_of_an_error_is_not_recorded() {
    let recorded = Recorded::new();
    let fails = on(|_: &mut PostCall<'_>| -> HookResult { Err("error-secret".into()) });
    let model = ScriptedModel::new("m", |_| "Done.");
    let agent = ReActAgent::builder("a").model(model).hook(fails).hook(recorded.hook());
    assert!(agent.build().unwrap().call("Go").await.is_err());
    assert!(!everything(&recorded).contains("secret"));
    assert_eq!(text(&recorded.span("invoke_agent a"), "error.type").unwrap(), "hook");
}

fn guarded(recorded: &Recorded, script: Script, tool: Calls) -> ReActAgent {
    let pii = PiiDetection::all().output(true).tool_results(true).tool_arguments(true);
    ReActAgent::builder("a")
        .model(script)
        .tool(tool)
        .hook(recorded.builder().capture(Capture::Both).build())
        .hook(pii.strategy(PiiStrategy::Redact))
        .build()
        .unwrap()
}

// OT-04
#[tokio::test]
async fn with_a_redactor_only_what_it_left_is_recorded() {
    for streams in [false, true] {
        let recorded = Recorded::new();
        let script = script("argument@example.com", "answer@example.com is it");
        let tool = Calls::new("t").answers("result@example.com");
        let agent = guarded(&recorded, script, tool);
        if streams {
            agent.stream("input@example.com").for_each(|_| async {}).await;
        } else {
            agent.call("input@example.com").await.unwrap();
        }
        let everything = everything(&recorded);
        assert!(!everything.contains("example.com"), "{everything}");
        let spans = recorded.spans();
        let masked =
            |span: usize, key| text(&spans[span], key).unwrap().contains("[REDACTED_EMAIL]");
        assert!(masked(1, INPUT) && masked(1, OUTPUT), "the arguments are in the answer");
        assert!(masked(2, ARGUMENTS) && masked(2, RESULT));
        assert!(masked(3, INPUT) && masked(3, OUTPUT));
        assert_eq!(recorded.tree().lines().count(), 4);
    }
}

// OT-04
#[tokio::test]
async fn the_error_of_a_tool_is_recorded_as_a_redactor_left_it() {
    let recorded = Recorded::new();
    let tool = Calls::new("t").fails("no mail to error@example.com");
    guarded(&recorded, script("Rome", "sorry"), tool).call("Go").await.unwrap();
    assert!(!everything(&recorded).contains("example.com"));
    let tool = recorded.span("execute_tool t");
    assert_eq!(json_of(&tool, RESULT), "no mail to [REDACTED_EMAIL]");
    assert_eq!(text(&tool, "error.type").unwrap(), "tool_failed");
}

// OT-04
#[tokio::test]
async fn an_answer_that_a_redactor_blocks_is_not_recorded() {
    let recorded = Recorded::new();
    let block = on(|event: &mut PostReasoning<'_>| -> HookResult {
        if event.message().text().contains("secret") { Err("blocked".into()) } else { Ok(()) }
    });
    let agent = ReActAgent::builder("a").model(Script::new().says("a secret")).hook(block);
    let agent = agent.hook(recorded.builder().capture(Capture::Both).build()).build().unwrap();
    agent.call("Go").await.unwrap_err();
    assert!(!everything(&recorded).contains("secret"));
    assert_eq!(recorded.tree(), "invoke_agent a !\n  chat script\n");
    assert!(text(&recorded.span("chat script"), INPUT).is_some());
}

// OT-04
#[tokio::test]
async fn what_a_vault_shows_to_a_tool_alone_is_not_recorded() {
    let recorded = Recorded::new();
    let vault = Vault::new();
    let pii = PiiDetection::email().output(true).tool_results(true).vault(vault);
    let script = ScriptedModel::new("m", |request| -> ScriptedAnswer {
        let last = request.messages.last().unwrap();
        match last.tool_results().next() {
            Some(result) => result.output.as_str().into(),
            None => ToolUse::new("1", "t", json!({ "to": last.text() })).into(),
        }
    });
    let tool = FunctionTool::new("t", "Sends a mail.", async |input: Value| {
        assert_eq!(input, json!({ "to": "ada@example.com" }));
        "sent to ada@example.com"
    });
    let agent = ReActAgent::builder("a").model(script).tool(tool).hook(pii);
    let agent = agent.hook(recorded.builder().capture(Capture::Both).build()).build().unwrap();
    agent.call("ada@example.com").await.unwrap();
    assert!(!everything(&recorded).contains("example.com"), "{}", everything(&recorded));
    assert_eq!(text(&recorded.span("execute_tool t"), "error.type"), None);
}

#[tokio::test]
async fn hidden_arguments_are_not_recorded() {
    let recorded = Recorded::new();
    let hide = on(|event: &mut PreActing<'_>| event.tool_use_mut().hide("key", "hidden-secret"));
    let agent = ReActAgent::builder("a").model(script("Rome", "sunny")).hook(hide);
    let agent = agent.tool(Calls::new("t").answers("with hidden-secret"));
    let agent = agent.hook(recorded.builder().capture(Capture::Both).build()).build().unwrap();
    agent.call("Go").await.unwrap();
    assert!(!everything(&recorded).contains("hidden-secret"));
    let arguments = json_of(&recorded.span("execute_tool t"), ARGUMENTS);
    assert_eq!(arguments, json!({ "key": "[hidden]", "text": "Rome" }));
}

#[tokio::test]
async fn a_plan_warns_of_a_redactor_that_comes_later() {
    let recorded = Recorded::new();
    let agent = |capture| {
        let late = PiiDetection::all().output(true).with_priority(700);
        let agent = ReActAgent::builder("a").model(Script::new()).hook(late);
        agent.hook(recorded.builder().capture(capture).build()).build().unwrap()
    };
    assert_eq!(agent(Capture::Nothing).hook_plan().warnings().len(), 0);
    assert!(!agent(Capture::Spans).hook_plan().warnings().is_empty());
}

#[tokio::test]
async fn a_summary_is_recorded_as_hooks_left_it() {
    let recorded = Recorded::new();
    let script = Script::new().calls([ToolUse::new("1", "t", json!({}))]).says("a secret");
    let mask = on(|event: &mut PostSummary<'_>| {
        event.set_message(Msg::assistant("a", "a ***"));
    });
    let agent = ReActAgent::builder("a").model(script).tool(Calls::new("t")).max_iters(1);
    let agent = agent.hook(mask).hook(recorded.builder().capture(Capture::Both).build());
    let reply = agent.build().unwrap().call("Go").await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::MaxIterations));
    assert!(!everything(&recorded).contains("secret"));
    let last = recorded.spans().pop().unwrap();
    assert_eq!(json_of(&last, OUTPUT)[0]["parts"][0]["content"], "a ***");
}
