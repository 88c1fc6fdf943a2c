//! Outputs of tools: their JSON, their redaction, their limit.

use futures::StreamExt;
use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::event::PostActing;
use hooks_agent_core::hook::on;
use hooks_agent_core::message::{ContentBlock, Media, Messages, Msg, ToolOutput, ToolUse};
use hooks_agent_core::react::{ContextConfig, Limits, ReActAgent};
use hooks_agent_core::tool::FunctionTool;
use hooks_fixtures::scripted_agents::{echo, go, script, uses};
use proptest::prelude::*;
use serde_json::{Value, json};

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(".{0,4}", inner, 0..4)
                .prop_map(|fields| fields.into_iter().collect::<serde_json::Map<_, _>>().into()),
        ]
    })
}

fn block() -> impl Strategy<Value = ContentBlock> {
    let media = (".{0,6}", ".{0,6}", any::<bool>(), prop::option::of(".{0,4}"));
    let media = media.prop_map(|(mime, text, is_url, name)| {
        let media = if is_url { Media::url(mime, text) } else { Media::bytes(mime, text) };
        name.map_or(media.clone(), |name| media.named(name))
    });
    prop_oneof![
        ".{0,8}".prop_map(ContentBlock::text),
        media.clone().prop_map(ContentBlock::Image),
        media.clone().prop_map(ContentBlock::Audio),
        media.prop_map(ContentBlock::File),
    ]
}

fn output() -> impl Strategy<Value = ToolOutput> {
    let parts = (".{0,8}", prop::collection::vec(block(), 0..3), prop::option::of(json_value()));
    parts.prop_map(|(text, blocks, structured)| {
        let output = blocks.into_iter().fold(ToolOutput::text(text), ToolOutput::with_block);
        structured.into_iter().fold(output, ToolOutput::with_structured)
    })
}

proptest! {
    #[test]
    fn an_output_is_read_from_its_json_as_it_was(output in output()) {
        let written = serde_json::to_string(&output).unwrap();
        prop_assert_eq!(serde_json::from_str::<ToolOutput>(&written).unwrap(), output);
    }

    #[test]
    fn the_json_of_a_value_is_redacted_like_the_value(value in json_value(), secret in "[^\\x00\n]{1,3}") {
        let mut output = ToolOutput::json(value);
        output.map_text(|text| text.replace(&secret, "\u{0}"));
        let written = serde_json::from_str::<Value>(output.as_str());
        if let Ok(written) = written {
            prop_assert!(!says(&written, &secret), "{}", output);
        }
        prop_assert!(!output.as_str().contains(&secret));
        prop_assert!(!says(output.structured().unwrap(), &secret));
    }
}

/// Whether a text or a number of the value contains the secret.
fn says(value: &Value, secret: &str) -> bool {
    match value {
        Value::Null | Value::Bool(_) => false,
        Value::Number(number) => number.to_string().contains(secret),
        Value::String(text) => text.contains(secret),
        Value::Array(values) => values.iter().any(|value| says(value, secret)),
        Value::Object(fields) => {
            fields.iter().any(|(key, value)| key.contains(secret) || says(value, secret))
        }
    }
}

#[test]
fn a_secret_that_json_escapes_is_redacted_in_the_text_too() {
    let mut output = ToolOutput::json(json!({ "password": "p\"w" }));
    output.map_text(|text| text.replace("p\"w", "***"));
    assert_eq!(output, r#"{"password":"***"}"#);
}

#[test]
fn a_secret_number_is_redacted_in_the_value_too() {
    let mut output = ToolOutput::json(json!({ "card": 4111_u64, "year": 2030 }));
    output.map_text(|text| text.replace("4111", "***"));
    assert_eq!(output.structured(), Some(&json!({ "card": "***", "year": 2030 })));
    assert_eq!(output, r#"{"card":"***","year":2030}"#);
}

#[test]
fn a_text_is_mapped_once_if_that_finds_everything() {
    let mut output = ToolOutput::json(json!({ "word": "secret" }));
    output.map_text(|text| text.replace("secret", "<secret>"));
    assert_eq!(output, r#"{"word":"<secret>"}"#);
}

#[test]
fn blocks_that_no_tool_returns_do_not_survive_a_redaction() {
    let inner = ContentBlock::ToolUse(ToolUse::new("1", "echo", json!({ "text": "secret" })));
    let mut output = ToolOutput::text("secret").with_block(inner);
    output = output.with_block(ContentBlock::thinking("secret"));
    output.map_text(|text| text.replace("secret", "***"));
    assert!(!format!("{output:?}").contains("secret"), "{output:?}");
}

#[tokio::test]
async fn what_a_hook_redacts_of_a_value_is_nowhere() {
    let read = FunctionTool::new("echo", "Reads.", async |_: Value| {
        ToolOutput::json(json!({ "a": "sec\"ret", "n": 123_456 }))
            .with_block(ContentBlock::text("sec\"ret 123456"))
    });
    let (model, requests) = script([uses([echo("1", "hi")]), "done".into()]);
    let redact = on(|event: &mut PostActing<'_>| {
        let output = &mut event.tool_result_mut().output;
        output.map_text(|text| text.replace("sec\"ret", "***").replace("123456", "***"));
    });
    let agent = ReActAgent::builder("bot").model(model).tool(read).hook(redact).build().unwrap();
    let events: Vec<_> = agent.stream(go()).map(Result::unwrap).collect().await;
    let memory = serde_json::to_string(&agent.memory().messages()).unwrap();
    let requests = requests.take();
    let sent = serde_json::to_string(&requests[1].messages).unwrap();
    let all = format!("{events:?} {memory} {sent}");
    for secret in ["123456", "ret"] {
        let at = all.replace("secret", "").replace("retry", "").find(secret);
        assert_eq!(at, None, "{all}");
    }
}

#[tokio::test]
async fn a_result_beyond_the_limit_is_cut_with_its_blocks_and_its_value() {
    let long = FunctionTool::new("echo", "Says much.", async |_: Value| {
        ToolOutput::text("12345678")
            .with_block(ContentBlock::text("abcdefgh"))
            .with_block(ContentBlock::Image(Media::bytes("image/png", [0; 64])))
            .with_structured(json!("1234567890123"))
    });
    let (model, _) = script([uses([echo("1", "hi")]), "done".into()]);
    let agent = ReActAgent::builder("bot").model(model).tool(long);
    let agent = agent.limits(Limits::new().result(12)).build().unwrap();
    agent.call(go()).await.unwrap();
    let messages = agent.memory().messages();
    let output = &messages.iter().flat_map(Msg::tool_results).next().unwrap().output;
    assert_eq!(output.as_str(), "12345678");
    let [ContentBlock::Text { text }, ContentBlock::Image(_)] = output.blocks() else {
        panic!("{output:?}")
    };
    assert_eq!(text, "abcd\n[cut: these are the first 4 of 8 bytes]");
    assert_eq!(output.structured(), None);
}

#[test]
fn text_blocks_of_results_count_for_the_context_window() {
    let output = ToolOutput::text("").with_block(ContentBlock::text("x".repeat(400)));
    let call = echo("1", "");
    let result = hooks_agent_core::message::ToolResult::success(&call, output);
    let messages = Messages::from(Msg::tool_result(result));
    assert!(ContextConfig::new(100).is_due(&messages));
}
