//! Replaced texts are not searched again: over calls, in a reopened store, through several hooks.

use std::fmt::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};

use futures::StreamExt;
use hooks_agent_builtin::guard::pii::{PiiHashKey, PiiPattern, PiiStrategy};
use hooks_agent_builtin::guard::{PiiDetection, SensitiveWords, WordList};
use hooks_agent_core::model::ChatRequest;
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::Limits;
use hooks_agent_core::stream::AgentEventKind;
use hooks_agent_core::testing::Script;
use hooks_agent_sql::store::SqliteStore;
use proptest::prelude::{Strategy, prop, prop_assert, prop_assert_eq, proptest};
use proptest::test_runner::Config;
use serde_json::json;

use super::cuts::{cases, glued, with_strategies};
use crate::vault::{noting, vault};

#[derive(Clone, Copy, Debug)]
enum With {
    Redact,
    Mask,
    Hash,
    Vault,
    /// Several hooks, each with a strategy of its own.
    Each,
    /// A detector of the program.
    Pattern,
}

const ALL: [With; 6] =
    [With::Redact, With::Mask, With::Hash, With::Vault, With::Each, With::Pattern];

impl With {
    /// The hooks, as each process makes them.
    fn hooks(self) -> Vec<PiiDetection> {
        let all = PiiDetection::all().everywhere();
        match self {
            Self::Redact => vec![all],
            Self::Mask => vec![all.strategy(PiiStrategy::Mask)],
            Self::Hash => {
                vec![all.strategy(PiiStrategy::Hash).hash_key(PiiHashKey::new(*b"key"))]
            }
            Self::Vault => vec![all.vault(vault())],
            Self::Each => with_strategies(),
            Self::Pattern => {
                // Finds a part of its own replacement.
                let dates = PiiPattern::new("dated", r"[A-Z]+_DATED|\d{4}-\d\d").unwrap();
                vec![PiiDetection::custom("dated", dates).everywhere(), all]
            }
        }
    }
}

/// The texts that come in: of the user, in arguments of the model, of a tool, and of the model.
type Texts = [String; 4];

/// Opens the store, as a process does, and calls its agent; returns what the stream showed.
async fn process(file: &Path, with: With, script: &Script, texts: &Texts, says: &[&str]) -> Seen {
    let store = SqliteStore::open(file).await.unwrap();
    let returned = texts[2].clone();
    let (tool, _) = noting("send", move |_| Ok(returned.clone()));
    let builder = ReActAgent::builder("bot").model(script.clone()).tool(tool).store(store.clone());
    // Some results are cut where a part of them looks like personal data.
    let builder = builder.limits(Limits::new().result(44));
    let hooks = with.hooks().into_iter();
    let agent = hooks.fold(builder, |builder, hook| builder.hook(hook)).build().unwrap();
    let mut streamed = String::new();
    for says in says {
        streamed.clear();
        let mut stream = agent.stream((*says).to_owned());
        while let Some(event) = stream.next().await {
            match event.unwrap().kind {
                AgentEventKind::ReasoningChunk(ContentBlock::Text { text }) => {
                    streamed.push_str(&text);
                }
                AgentEventKind::ToolStarted(_) => streamed.clear(),
                _ => {}
            }
        }
    }
    let history = agent.threads().history("default").await.unwrap();
    agent.shutdown().await;
    Seen { streamed, history: history.iter().map(content).collect() }
}

#[derive(Debug)]
struct Seen {
    streamed: String,
    history: Vec<String>,
}

/// The role and the blocks.
fn content(msg: &Msg) -> String {
    format!("{:?} {}", msg.role, serde_json::to_string(&msg.content).unwrap())
}

/// Two calls, a restart, and a third one.
fn conversation(with: With, texts: &Texts) -> (Vec<ChatRequest>, Seen, Seen) {
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("agents.db");
    let [asked, argued, _, answered] = texts;
    let call = ToolUse::new("1", "send", json!({ "text": argued }));
    let script = Script::new().calls([call]).says(answered.clone());
    let script = script.says(answered.clone()).says("done");
    let run = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    run.block_on(async {
        let first = process(&file, with, &script, texts, &[asked, "and?"]).await;
        let second = process(&file, with, &script, texts, &["and then?"]).await;
        (script.requests(), first, second)
    })
}

/// What memory has is what the stream showed and what the model reads, in each later request.
fn is_one_text(with: With, texts: &Texts) -> Result<(), String> {
    let (requests, first, second) = conversation(with, texts);
    if !first.history.last().unwrap().contains(&json!(first.streamed).to_string()) {
        return Err(format!("streamed: {first:?}"));
    }
    if !second.history.starts_with(&first.history) {
        return Err(format!("stored: {first:?} {second:?}"));
    }
    for (index, request) in requests.iter().enumerate() {
        let read: Vec<_> = request.messages.iter().map(content).collect();
        if !second.history.starts_with(&read) {
            return Err(format!("request {index} has {read:?}, memory {:?}", second.history));
        }
    }
    Ok(())
}

#[test]
fn a_text_with_a_replacement_is_the_same_in_memory_stream_and_each_later_request() {
    for text in [
        // The number is no word of its own before the address is gone, and is one afterwards.
        "so 77-A0-9D-87-0B-E7/03-2975-6695",
        "so 03-2975-6695/77-A0-9D-87-0B-E7",
        "on 2024-05 A",
    ] {
        for with in ALL {
            let said = is_one_text(with, &[text; 4].map(str::to_owned));
            assert_eq!(said, Ok(()), "{with:?} {text}");
        }
    }
}

/// Another search decides for itself.
#[test]
fn a_search_for_more_finds_it_in_what_an_earlier_process_replaced() {
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("agents.db");
    let run = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let call = |hook: PiiDetection, says: &'static str| {
        let file = file.clone();
        run.block_on(async move {
            let store = SqliteStore::open(file).await.unwrap();
            let script = Script::new().says("done");
            let builder = ReActAgent::builder("bot").model(script.clone()).store(store.clone());
            let agent = builder.hook(hook).build().unwrap();
            agent.call(says).await.unwrap();
            agent.shutdown().await;
            script.requests().pop().unwrap().messages[0].text()
        })
    };
    let dates = |pattern| PiiDetection::custom("x", PiiPattern::new("x", pattern).unwrap());
    assert_eq!(call(dates("[A-Z]+_X|7+"), "of 77 and 88"), "of [REDACTED_X] and 88");
    assert_eq!(call(dates("[A-Z]+_X|7+"), "next"), "of [REDACTED_X] and 88");
    assert_eq!(call(dates("8+"), "next"), "of [REDACTED_X] and [REDACTED_X]");
}

#[test]
fn a_text_with_a_masked_word_is_the_same_after_a_restart() {
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("agents.db");
    let run = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let text = "机密ab 机密 ab机密";
    let words = || SensitiveWords::new(WordList::new(["机密", "ab"]).unwrap());
    for _ in 0..2 {
        run.block_on(async {
            let store = SqliteStore::open(&file).await.unwrap();
            let script = Script::new().says(text);
            let builder = ReActAgent::builder("bot").model(script.clone()).store(store.clone());
            let agent = builder.hook(words()).build().unwrap();
            agent.call(text).await.unwrap();
            agent.shutdown().await;
            let read = script.requests().pop().unwrap();
            let read: Vec<_> = read.messages.iter().map(content).collect();
            let history = agent.threads().history("default").await.unwrap();
            let history: Vec<_> = history.iter().map(content).collect();
            assert!(history.starts_with(&read), "{history:?} {read:?}");
        });
    }
}

/// A tool gives back the data, beside what its replacement makes a word of its own.
#[test]
fn the_result_of_a_tool_that_received_data_is_searched_once() {
    let hook = PiiDetection::all().vault(vault());
    let text = "so 77-A0-9D-87-0B-E7/03-2975-6695";
    let (tool, inputs) = noting("send", |input| Ok(input["to"].as_str().unwrap()[3..].to_owned()));
    let call = ToolUse::new("1", "send", json!({ "to": text }));
    let script = Script::new().calls([call]).says("done");
    let agent = ReActAgent::builder("bot").model(script.clone()).tool(tool).hook(hook);
    let agent = agent.build().unwrap();
    futures::executor::block_on(agent.call("go")).unwrap();
    assert_eq!(*inputs.lock().unwrap(), [json!({ "to": text })]);
    let history = futures::executor::block_on(agent.threads().history("default")).unwrap();
    let token = vault().token_of("default", "mac_address", "77-A0-9D-87-0B-E7");
    let said = format!("{token}/03-2975-6695");
    let result = history.iter().flat_map(Msg::tool_results).next().unwrap();
    assert_eq!(result.output.as_str(), said);
    assert_eq!(
        script.requests()[1].messages.iter().next_back().map(content),
        history.get(2).map(content)
    );
}

/// A token before another one, in what looks like a URL.
#[test]
fn a_match_has_all_of_the_tokens_that_it_has_a_part_of() {
    let text = "so https://+49 30 901820]77-A0-9D-87-0B-E7";
    let vault = vault();
    let of = |kind, value| vault.token_of("default", kind, value);
    let (phone, mac) = (of("phone", "+49 30 901820"), of("mac_address", "77-A0-9D-87-0B-E7"));
    let tokens = format!("so https://{phone}]{mac}");
    let (returned, logged) = (text.to_owned(), tokens.clone());
    let (send, inputs) = noting("send", move |_| Ok(returned.clone()));
    let (log, _) = noting("log", move |_| Ok(logged.clone()));
    let calls = [("1", "send"), ("2", "log")];
    let calls = calls.map(|(id, name)| ToolUse::new(id, name, json!({ "text": text })));
    let script = Script::new().calls(calls).says(tokens);
    let hook = PiiDetection::all().vault(vault.clone()).reveal_only_to(["send"]);
    let agent = ReActAgent::builder("bot").model(script).tool(send).tool(log).hook(hook);
    let agent = agent.build().unwrap();
    let reply = futures::executor::block_on(agent.call(text)).unwrap();
    let shown = |said: &str| vault.reveal_in(agent.id(), "default", said);
    assert_eq!(shown(&reply.text()), text);
    let history = futures::executor::block_on(agent.threads().history("default")).unwrap();
    for result in history.iter().flat_map(Msg::tool_results) {
        assert_eq!(shown(result.output.as_str()), text, "{}", result.name);
    }
    assert_eq!(*inputs.lock().unwrap(), [json!({ "text": text })]);
}

/// Values with blanks around them, so that each is found.
fn planted() -> impl Strategy<Value = Vec<&'static str>> {
    let values = [
        "ada.lovelace@example.com",
        "4532015112830366",
        "192.168.17.23",
        "00:1A:2B:3C:4D:5E",
        "DE89370400440532013000",
        "+49 30 901820",
        "https://example.com/ada?token=1",
        "[EMAIL_1]",
        "words",
    ];
    prop::collection::vec(prop::sample::select(values.to_vec()), 1..6)
}

proptest! {
    #![proptest_config(Config::with_cases(cases(64)))]

    #[test]
    fn memory_stream_and_requests_are_one_text_over_calls_and_restarts(
        with in prop::sample::select(ALL.to_vec()),
        texts in prop::array::uniform4(glued()),
    ) {
        let said = is_one_text(with, &texts);
        prop_assert!(said.is_ok(), "{with:?} {said:?}");
    }

    #[test]
    fn a_tool_receives_after_a_restart_what_the_model_never_sees(planted in planted()) {
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("agents.db");
        let text = planted.join(" , ");
        let read = Arc::new(Mutex::new(String::new()));
        let mut received = Vec::new();
        let run = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        for says in [&*text, "send it"] {
            let (tool, inputs) = noting("send", |input| Ok(input.to_string()));
            let read = read.clone();
            let model = ScriptedModel::new("model", move |request| -> ScriptedAnswer {
                write!(read.lock().unwrap(), "{request:?}").unwrap();
                let first = request.messages.iter().find(|msg| msg.role == Role::User).unwrap();
                match request.last_text().as_str() {
                    "send it" => ToolUse::new("1", "send", json!({ "text": first.text() })).into(),
                    _ => first.text().into(),
                }
            });
            run.block_on(async {
                let store = SqliteStore::open(&file).await.unwrap();
                let agent = ReActAgent::builder("bot").model(model).tool(tool).store(store.clone());
                let hook = PiiDetection::all().vault(vault());
                let agent = agent.hook(hook).build().unwrap();
                agent.call(says.to_owned()).await.unwrap();
                agent.shutdown().await;
            });
            received.extend(inputs.lock().unwrap().clone());
        }
        prop_assert_eq!(received, [json!({ "text": text })]);
        let read = read.lock().unwrap();
        for value in planted.iter().filter(|value| !["[EMAIL_1]", "words"].contains(*value)) {
            prop_assert!(!read.contains(value), "{read}");
        }
    }
}
