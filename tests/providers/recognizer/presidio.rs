//! The analyzer of Presidio, as others wrote it.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::{Command as Shell, Stdio};

use hooks_agent_builtin::guard::PiiDetection;
use hooks_agent_core::model::{Recognized, Recognizer};
use hooks_agent_core::prelude::*;
use hooks_agent_providers::RemoteRecognizer;
use hooks_fixtures::tell;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

const PYTHON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/presidio/bin/python");
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/recognizer/analyzer.py");

/// A JSON array of texts, or of objects with a `full_text`, to ask about beside those of this file.
const SET: &str = "HOOKS_RECOGNIZER_SET";

fn is_installed() -> bool {
    let is_installed = Path::new(PYTHON).exists();
    if !is_installed {
        tell("skipped: no analyzer of Presidio, `.ci/servers` installs one");
    }
    is_installed
}

/// The analyzer behind its HTTP form. Dropping it kills the process.
async fn start() -> (RemoteRecognizer, Child) {
    let mut process = Command::new(PYTHON)
        .arg(SCRIPT)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut output = BufReader::new(process.stdout.take().unwrap()).lines();
    let line = output.next_line().await.unwrap().expect("the analyzer listens");
    let port = line.strip_prefix("port ").unwrap();
    (RemoteRecognizer::new(format!("http://127.0.0.1:{port}"), "en").unwrap(), process)
}

/// Asks the analyzer directly: each entity with what stands before it, and its value.
fn direct(texts: &[&str], entities: &Value) -> Vec<BTreeSet<(String, String, String)>> {
    let mut process = Shell::new(PYTHON)
        .args([SCRIPT, "direct"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let asked = json!({ "texts": texts, "entities": entities }).to_string();
    process.stdin.take().unwrap().write_all(asked.as_bytes()).unwrap();
    let output = process.wait_with_output().unwrap().stdout;
    let answers: Vec<Vec<(String, String, String, f64)>> = serde_json::from_slice(&output).unwrap();
    let of = |answer: Vec<(String, String, String, f64)>| {
        answer
            .into_iter()
            .map(|(entity, before, value, _)| (kind(&entity), before, value))
            .collect()
    };
    answers.into_iter().map(of).collect()
}

fn kind(entity: &str) -> String {
    match entity {
        "EMAIL_ADDRESS" => "email".to_owned(),
        "PHONE_NUMBER" => "phone".to_owned(),
        "IP_ADDRESS" => "ip".to_owned(),
        "IBAN_CODE" => "iban".to_owned(),
        "CRYPTO" => "crypto_address".to_owned(),
        _ => entity.to_lowercase(),
    }
}

fn texts() -> Vec<String> {
    let mut texts: Vec<String> = [
        "Zo\u{eb} M\u{fc}ller and \u{674e}\u{5c0f}\u{9f8d} wrote to ada@example.com from Z\u{fc}rich on May 3",
        "Ada Lovelace, 12 Baker Street: card 4111111111111111, call +1 212-555-0123 \u{1f600} Ada Lovelace",
        "IBAN DE89370400440532013000, 192.168.0.1, https://example.com/?a=b",
        "Nothing is here.",
        "\u{1f469}\u{200d}\u{1f4bb} Ada Lovelace\u{301}",
    ]
    .map(ToOwned::to_owned)
    .into();
    if let Some(path) = std::env::var_os(SET) {
        let set: Vec<Value> = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let of =
            |value: &Value| value.get("full_text").unwrap_or(value).as_str().unwrap().to_owned();
        texts.extend(set.iter().map(of));
    }
    texts
}

#[tokio::test]
async fn through_the_door_the_analyzer_answers_as_it_does_directly() {
    if !is_installed() {
        return;
    }
    let (recognizer, _process) = start().await;
    let texts = texts();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    for (recognizer, entities) in [
        (recognizer.clone().all_entities(), Value::Null),
        (recognizer, json!(["PERSON", "LOCATION"])),
    ] {
        let directly = direct(&texts, &entities);
        let mut count = 0;
        for (texts, directly) in texts.chunks(32).zip(directly.chunks(32)) {
            let found = recognizer.recognize(texts).await.unwrap();
            for ((text, found), directly) in texts.iter().zip(found).zip(directly) {
                let found = found.into_iter().map(|Recognized { kind, range, .. }| {
                    let (before, value) = (&text[..range.start], &text[range]);
                    (kind.into_owned(), before.to_owned(), value.to_owned())
                });
                let found: BTreeSet<_> = found.collect();
                count += found.len();
                assert_eq!(found, *directly, "{text}");
            }
        }
        assert!(count >= 6, "{count}");
        tell(format!(
            "Presidio: {count} entities in {} texts, the same through the door",
            texts.len()
        ));
    }
}

#[tokio::test]
async fn names_of_the_analyzer_are_kept_from_the_model_and_from_the_stream() {
    if !is_installed() {
        return;
    }
    let (recognizer, _process) = start().await;
    let model = ScriptedModel::new("echo", |request| {
        format!("You said: {}. I know Ada Lovelace.", request.last_text())
    });
    let hook = PiiDetection::all().recognizer(recognizer).everywhere();
    let agent = ReActAgent::builder("bot").model(model).hook(hook).build().unwrap();
    let reply =
        agent.call("I am Zo\u{eb} M\u{fc}ller of Z\u{fc}rich, z@example.com").await.unwrap();
    assert_eq!(
        reply.text(),
        "You said: I am [REDACTED_PERSON] of [REDACTED_LOCATION], [REDACTED_EMAIL]. I know [REDACTED_PERSON]."
    );
}
