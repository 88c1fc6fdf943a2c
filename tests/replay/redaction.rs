//! Texts that must not be on a tape are nowhere on it.

use hooks_agent_core::message::Usage;
use hooks_agent_core::model::{ChatChunk, ModelError};
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_replay::{Found, Patterns, Redact, Tape, TapeError};
use serde_json::{Value, json};

use crate::program::Program;

/// RP-07.
#[tokio::test]
async fn an_address_in_the_prompt_is_a_placeholder_and_the_replay_matches() {
    let program = Program::new();
    let message = "I am ada@example.com, my friend is bob@example.com. Write to ada@example.com.";
    program.record_of(program.agent(), message).await;
    assert!(!program.text().contains("example.com"));
    let text = program.lines("call")[0]["messages"][0]["content"][0]["text"].clone();
    assert_eq!(text, "I am <email:1>, my friend is <email:2>. Write to <email:1>.");
    assert_eq!(program.lines("header")[0]["redacted"], json!(["email", "secret"]));
    program.replay_of(program.agent(), message).await.assert_no_drift();
    // Another address at the same place is the same text.
    let other = message.replace("ada@", "eve@");
    program.replay_of(program.agent(), &other).await.assert_no_drift();
}

#[tokio::test]
async fn a_placeholder_that_a_text_has_is_not_given_to_another_text() {
    let program = Program::new();
    let message = "The log says <email:2> and <email:7>. I am ada@example.com.";
    program.record_of(program.agent(), message).await;
    let text = program.lines("call")[0]["messages"][0]["content"][0]["text"].clone();
    assert_eq!(text, "The log says <email:2> and <email:7>. I am <email:8>.");
    program.replay_of(program.agent(), message).await.assert_no_drift();
}

#[tokio::test]
async fn a_placeholder_in_a_streamed_answer_is_not_given_to_another_text() {
    let program = Program::new();
    let model = || {
        ScriptedModel::new("m", |_| {
            let parts = ["Ask <email", ":4> or bob@exam", "ple.com."];
            let mut chunks: Vec<_> = parts.map(|part| Ok(ChatChunk::Text(part.to_owned()))).into();
            chunks.push(Ok(ChatChunk::end(Usage::default())));
            ScriptedAnswer::Stream(chunks)
        })
    };
    let agent = || ReActAgent::builder("assistant").model(model());
    program.record_of(agent(), "Whom?").await;
    let chunks = program.lines("model")[0]["chunks"].to_string();
    assert!(chunks.contains("<email:5>") && !chunks.contains("<email:1>"), "{chunks}");
}

const SECRETS: [&str; 8] = [
    "sk-proj-PROMPTq7Zr2LtXw9KpN7cV4m",
    "sk-ant-api03-INPUTq7Zr2LtXw9KpN7cV4m",
    "AKIAOUTPUTQ7ZR2LTXW5",
    "ghp_ERRORTEXTq7Zr2LtXw9KpN7cV4mBd",
    "thread-of-ada@example.org",
    "xoxb-SYSTEM-q7Zr2LtXw9KpN7",
    "sk_live_SCHEMAq7Zr2LtXw9KpN7c",
    "eyJSTREAMEDxx.eyJzdWIiOiIxMjM0.SIGNATURE_abc",
];

fn secretive() -> ReActAgentBuilder {
    let [_, input, output, error, _, system, schema, streamed] = SECRETS;
    let model = ScriptedModel::new("script", move |request| -> ScriptedAnswer {
        match request.messages.iter().flat_map(Msg::tool_results).count() {
            0 => ["reads", "fails"]
                .map(|name| {
                    ToolUse::new(name, name, json!({ "key": input, "password": "correct horse" }))
                })
                .map(ContentBlock::ToolUse)
                .to_vec()
                .into(),
            _ => {
                // In chunks that cut it.
                let texts = [&streamed[..5], &streamed[5..20], &streamed[20..], " is it"];
                let chunks = texts.map(|text| Ok(ChatChunk::Text(text.to_owned())));
                ScriptedAnswer::Stream(chunks.into()).costing(Usage::default())
            }
        }
    });
    let reads =
        FunctionTool::new("reads", format!("Reads {schema}."), move |_: Value| async move {
            json!({ "found": [output], "password": "correct horse", "n": 1 })
        });
    let fails = FunctionTool::new("fails", "Fails.", move |_: Value| async move {
        Err::<String, _>(format!("no {error}"))
    });
    let guard = on(move |event: &mut PreActing<'_>| {
        event.tool_use_mut().input[input] = 1.into();
        Flow::Continue
    });
    ReActAgent::builder("assistant")
        .system_prompt(format!("The key is {system}."))
        .model(model)
        .tool(reads)
        .tool(fails)
        .hook(guard.named("guard"))
}

#[tokio::test]
async fn a_secret_is_nowhere_on_the_tape() {
    let program = Program::new();
    let call = async |tape: Tape| {
        let agent = secretive().hook(tape.clone()).build().unwrap();
        let options = CallOptions::new().thread(SECRETS[4]);
        agent.call_with(options, format!("Use {}", SECRETS[0])).await.unwrap();
        tape.finish().unwrap()
    };
    call(Tape::record(program.path()).open().unwrap()).await;
    let text = program.text();
    for secret in SECRETS {
        assert!(!text.contains(secret), "{secret} is in {text}");
        assert!(!text.contains(&secret[4..16]), "a part of {secret} is in {text}");
    }
    assert!(!text.contains("correct horse") && text.contains("<secret:1>"));
    assert!(program.lines("decision")[0]["changed"][0].as_str().unwrap().contains("<secret:"));
    // The chunks of the answer are as many as they were.
    let chunks = program.lines("model")[1]["chunks"].clone();
    assert_eq!(chunks.as_array().unwrap().len(), 5, "{chunks}");
    assert_eq!(chunks[1][1], "");
    let drift = call(Tape::replay(program.path()).open().unwrap()).await;
    assert!(drift.verdict <= hooks_agent_replay::Verdict::Cosmetic, "{drift}");
}

#[tokio::test]
async fn the_value_of_a_secret_field_is_not_on_the_tape_whatever_its_form() {
    let program = Program::new();
    let agent = || {
        let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
            match request.messages.iter().flat_map(Msg::tool_results).count() {
                0 => ToolUse::new(
                    "1",
                    "login",
                    json!({ "password": 87_654_321, "passphrase": "<hunter2:1>" }),
                )
                .into(),
                _ => "Done.".into(),
            }
        });
        let login = FunctionTool::new(
            "login",
            "Logs in.",
            async |_: Value| json!({ "api_key": [11_112_222] }),
        );
        ReActAgent::builder("assistant").model(model).tool(login)
    };
    program.record_of(agent(), "Log in").await;
    let text = program.text();
    for secret in ["87654321", "hunter2", "11112222"] {
        assert!(!text.contains(secret), "{secret} is in {text}");
    }
    program.replay_of(agent(), "Log in").await.assert_no_drift();
}

#[tokio::test]
async fn a_secret_in_the_error_of_a_call_is_not_on_the_tape() {
    let program = Program::new();
    let agent = || {
        let model = ScriptedModel::new("script", |_| -> ScriptedAnswer {
            ModelError::blocked(format!("it has {}", SECRETS[0])).into()
        });
        ReActAgent::builder("assistant").model(model)
    };
    let tape = Tape::record(program.path()).open().unwrap();
    agent().hook(tape.clone()).build().unwrap().call("Hi").await.unwrap_err();
    tape.finish().unwrap();
    assert!(!program.text().contains("PROMPTq7Zr"));
    assert!(program.lines("end")[0]["error"].as_str().unwrap().contains("<secret:1>"));
    let tape = Tape::replay(program.path()).open().unwrap();
    agent().hook(tape.clone()).build().unwrap().call("Hi").await.unwrap_err();
    tape.finish().unwrap().assert_no_drift();
}

#[tokio::test]
async fn a_replay_with_other_finders_is_refused() {
    let program = Program::new();
    program.record().await;
    for tape in [
        Tape::replay(program.path()).keep_texts(),
        Tape::once(program.path()).redact(|_: &str| -> Vec<Found> { Vec::new() }),
        Tape::append(program.path()).keep_texts(),
    ] {
        assert!(matches!(tape.open().unwrap_err(), TapeError::Redaction { .. }));
    }
}

#[tokio::test]
async fn a_finder_that_fails_fails_a_replay() {
    let program = Program::new();
    let names = |text: &str| -> Vec<Found> {
        text.find("Eve").map(|_| Found::new(0..9999, "name")).into_iter().collect()
    };
    let tape = Tape::record(program.path()).redact(names).open().unwrap();
    program.agent().hook(tape.clone()).build().unwrap().call("Ada").await.unwrap();
    tape.finish().unwrap();
    let tape = Tape::replay(program.path()).redact(names).open().unwrap();
    let agent = program.agent().hook(tape.clone()).build().unwrap();
    agent.call("Eve").await.unwrap_err();
    assert!(matches!(tape.finish().unwrap_err(), TapeError::Finder { .. }));
}

#[test]
fn patterns_find_keys_and_addresses_and_leave_prose() {
    let found = |finder: Patterns, text: &str| {
        finder.find(text).into_iter().map(|found| text[found.range].to_owned()).collect::<Vec<_>>()
    };
    let secrets = |text: &str| found(Patterns::secrets(), text);
    for (text, secret) in [
        ("password: hunter2-hunter2", "hunter2-hunter2"),
        (r#"{"api_key": "k7Gz2mQp9XvB4nRt"}"#, "k7Gz2mQp9XvB4nRt"),
        (r#"{\"api_key\":\"k7Gz2mQp9XvB4nRt\"}"#, "k7Gz2mQp9XvB4nRt"),
        ("Authorization: Bearer abc.def-123456", "abc.def-123456"),
        ("the password is opensesame!", "opensesame"),
    ] {
        assert_eq!(secrets(text), [secret], "{text}");
    }
    let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----";
    assert_eq!(found(Patterns::secrets(), &format!("a {key} b")), [key]);
    for text in ["ask-me-anything", "The secretary is out.", "a token of love", "sky-high"] {
        assert!(secrets(text).is_empty(), "{text}: {:?}", secrets(text));
    }
    assert_eq!(
        found(Patterns::emails(), "to Ada <ada.b+c@mail.example.org>."),
        ["ada.b+c@mail.example.org"]
    );
    assert!(found(Patterns::emails(), "@everyone at 5@6").is_empty());
}
