//! ST-13: what redactors removed is in no answer of the server, whoever removed it and where.

use hooks_agent_builtin::guard::{PiiDetection, Sanitize, ToolParams, Vault};
use hooks_agent_core::hook::Rewrite;
use hooks_agent_core::model::ChatRequest;
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_studio::Studio;
use serde_json::{Value, json};

use crate::support::{MAIL, SECRET, assert_gone, calls_then, everything, gone, reads, says};

#[tokio::test]
async fn personal_data_of_the_input() {
    for studio in
        [Studio::new(), Studio::new().show_removed(true).show_drafts(true).show_requests(true)]
    {
        let texts = everything(&studio, "Write to ada@example.com", |builder| {
            let echo = ScriptedModel::new("echo", ChatRequest::last_text);
            builder.model(echo).hook(PiiDetection::all())
        })
        .await;
        assert_gone(&texts, MAIL, "[REDACTED_EMAIL]");
    }
}

#[tokio::test]
async fn personal_data_of_answers_arguments_and_results() {
    for studio in
        [Studio::new(), Studio::new().show_removed(true).show_drafts(true).show_requests(true)]
    {
        let texts = everything(&studio, "Read", |builder| {
            let model = calls_then(
                "read",
                json!({ "to": "ada@example.com" }),
                "It is of ada@example.com, she said.",
            );
            builder
                .model(model)
                .tool(reads("from ada@example.com"))
                .hook(PiiDetection::all().everywhere())
        })
        .await;
        assert_gone(&texts, MAIL, "she ");
        assert_gone(&texts, MAIL, "from [REDACTED_EMAIL]");
    }
}

#[tokio::test]
async fn personal_data_behind_a_vault() {
    for studio in
        [Studio::new(), Studio::new().show_removed(true).show_drafts(true).show_requests(true)]
    {
        let texts = everything(&studio, "Write to ada@example.com", |builder| {
            let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
                let answered = request.messages.last().unwrap().tool_results().next().is_some();
                match request.last_text() {
                    _ if answered => "Done.".into(),
                    text => ToolUse::new("1", "read", json!({ "to": text })).into(),
                }
            });
            let echo = FunctionTool::new("read", "Reads.", async |input: Value| {
                assert!(input.to_string().contains(MAIL), "the tool gets the data");
                input.to_string()
            });
            builder
                .model(model)
                .tool(echo)
                .hook(PiiDetection::all().everywhere().vault(Vault::new()))
        })
        .await;
        assert_gone(&texts, MAIL, "tool_finished");
    }
}

#[tokio::test]
async fn texts_that_a_rewrite_blocks() {
    let studio = Studio::new().show_removed(true);
    let texts = everything(&studio, "Say it", |builder| {
        let block = Rewrite::new(64, |text, from| {
            let at = text[from..].find(SECRET)? + from;
            let (range, reason) = (at..at + SECRET.len(), "no keys".to_owned());
            Some(hooks_agent_core::model::Finding::Block { range, reason })
        });
        builder.model(says("The key is sk-9f2c77ab for you.")).hook(block)
    })
    .await;
    assert_gone(&texts, SECRET, "\"state\":\"failed\"");
}

#[tokio::test]
async fn patterns_of_results() {
    let studio = Studio::new().show_removed(true);
    let texts = everything(&studio, "Read", |builder| {
        builder
            .model(calls_then("read", json!({}), "Done."))
            .tool(reads("key sk-9f2c77ab"))
            .hook(Sanitize::new("sk-[0-9a-f]+", "[key]").unwrap())
    })
    .await;
    assert_gone(&texts, SECRET, "key [key]");
}

#[tokio::test]
async fn what_closures_without_a_role_remove() {
    let studio = Studio::new();
    let texts = everything(&studio, "My key is sk-9f2c77ab", |builder| {
        let input = on(|event: &mut PreCall<'_>| {
            let text = gone(&event.messages()[0].text());
            event.set_messages(Msg::user(text));
        });
        let add = on(|event: &mut PreReasoning<'_>| event.append_system("system sk-9f2c77ab"));
        let remove = on(|event: &mut PreReasoning<'_>| {
            let text = event.system_message().map(|msg| gone(&msg.text())).unwrap_or_default();
            event.set_system_message(Msg::system(text));
        });
        let answer = on(|event: &mut PostReasoning<'_>| {
            for block in &mut event.message_mut().content {
                if let ContentBlock::Text { text } = block {
                    *text = gone(text);
                }
                if let ContentBlock::ToolUse(call) = block {
                    call.input = json!({ "path": "a" });
                }
            }
        });
        let before = on(|event: &mut PreActing<'_>| {
            event.tool_use_mut().input = json!({ "path": "b" });
        });
        let after = on(|event: &mut PostActing<'_>| {
            event.tool_result_mut().output.map_text(gone);
        });
        builder
            .model(calls_then(
                "read",
                json!({ "sk-9f2c77ab": "sk-9f2c77ab" }),
                "The key sk-9f2c77ab is yours.",
            ))
            .tool(reads("result sk-9f2c77ab"))
            .hook(input.named("input"))
            .hook(add.named("add"))
            .hook(remove.named("remove"))
            .hook(answer.named("answer"))
            .hook(before.named("before"))
            .hook(after.named("after"))
    })
    .await;
    assert_gone(&texts, SECRET, "The key *** is yours.");
    assert_gone(&texts, SECRET, "result ***");
    assert_gone(&texts, SECRET, "system ***");
    assert_gone(&texts, SECRET, "My key is ***");
}

#[tokio::test]
async fn what_a_hook_of_the_method_removes() {
    let studio = Studio::new();
    let texts = everything(&studio, "Read", |builder| {
        let add = on(|event: &mut PostActing<'_>| {
            event.tool_result_mut().output = "added sk-9f2c77ab".into();
        });
        builder
            .model(calls_then("read", json!({}), "Done."))
            .tool(reads("text"))
            .hook(add.with_priority(1).named("add"))
            .hook(OfMethod)
    })
    .await;
    assert_gone(&texts, SECRET, "tool_finished");
}

/// Replaces the result after all that is watched.
struct OfMethod;

#[agent_hook(priority = 20)]
impl OfMethod {
    fn replace(&self, event: &mut PostActing<'_>) {
        event.tool_result_mut().output = "replaced".into();
    }
}

#[tokio::test]
async fn hidden_arguments() {
    let studio = Studio::new().show_removed(true);
    let texts = everything(&studio, "Read", |builder| {
        let hide = on(|event: &mut PreActing<'_>| event.tool_use_mut().hide("api_key", SECRET));
        let read = FunctionTool::with_context("read", "Reads.", async |input: Value, cx| {
            let cx: ToolContext = cx;
            assert_eq!(input["api_key"], SECRET);
            cx.progress(format!("with {}", input["api_key"]));
            "read".to_owned()
        });
        builder
            .model(calls_then("read", json!({ "path": "a" }), "Done."))
            .tool(read)
            .hook(hide)
            .hook(ToolParams::new().secret("token", format!("{SECRET}-2")))
    })
    .await;
    assert_gone(&texts, SECRET, "[hidden]");
}

#[tokio::test]
async fn texts_of_errors() {
    let studio = Studio::new();
    for build in [
        |builder: ReActAgentBuilder| {
            builder.model(says("Done.")).hook(on(|_: &mut PreReasoning<'_>| -> HookResult {
                Err(format!("no {SECRET}").into())
            }))
        },
        |builder: ReActAgentBuilder| {
            builder.model(ScriptedModel::new("script", |_| -> ScriptedAnswer {
                hooks_agent_core::model::ModelError::status(SECRET, 500).into()
            }))
        },
    ] {
        let texts = everything(&studio, "Go", build).await;
        assert_gone(&texts, SECRET, "\"failed\"");
    }
}

#[tokio::test]
async fn all_content_if_it_is_not_to_be_shown() {
    let studio =
        Studio::new().show_content(false).show_removed(true).show_drafts(true).show_requests(true);
    let texts = everything(&studio, "words of the user", |builder| {
        let ask = on(|event: &mut PreActing<'_>| event.ask("words of a hook"));
        let change = on(|event: &mut PreReasoning<'_>| event.append_system("words of a system"));
        builder
            .system_prompt("words of the program")
            .model(calls_then("read", json!({ "words": "words of the model" }), "Done."))
            .tool(reads("words of a tool"))
            .hook(change)
            .hook(ask)
    })
    .await;
    assert_gone(&texts, "words of", "\"hidden\":true");
    assert!(texts.contains("\"tool\":\"read\""), "{texts}");
}

#[tokio::test]
async fn the_scan_finds_what_is_shown() {
    // Without a redactor the same texts are there, so the other tests look at the right places.
    let texts = everything(&Studio::new(), "My key is sk-9f2c77ab", |builder| {
        builder
            .model(calls_then("read", json!({ "key": SECRET }), "The key sk-9f2c77ab."))
            .tool(reads("result sk-9f2c77ab"))
    })
    .await;
    assert!(texts.matches(SECRET).count() > 8, "{texts}");
}
