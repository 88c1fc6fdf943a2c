//! Summaries of threads in a store.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hooks_agent_core::message::{GenerateReason, Question};
use hooks_agent_core::model::ScriptedAnswer;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{Decision, Filter, Store, ThreadKey};
use hooks_agent_core::testing::{Script, check_history};
use hooks_agent_sql::store::SqliteStore;
use serde_json::{Value, json};

use super::messages;

#[tokio::test]
async fn replaced_messages_stay_in_the_store_as_history() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agents.db");
    let small = Script::new().says("s");
    let store = SqliteStore::open(&path).await.unwrap();
    let agent = |store: SqliteStore| {
        let model = ScriptedModel::new("m", |request| format!("a{}", request.messages.len()));
        let hook = messages(5, 2, &small).build().unwrap();
        ReActAgent::builder("bot").model(model).hook(hook).store(store).build().unwrap()
    };
    let first = agent(store.clone());
    for text in ["1", "2", "3"] {
        first.call(text).await.unwrap();
    }
    drop(first);

    // Another process goes on with the summary.
    let second = agent(SqliteStore::open(&path).await.unwrap());
    second.call("4").await.unwrap();
    let live: Vec<_> = second.memory().messages().iter().map(Msg::text).collect();
    let summary = "Here is a summary of the conversation to date:\n\ns";
    assert_eq!(live, [summary, "a3", "3", "a3", "4", "a5"]);

    let key = ThreadKey::new("bot", CallContext::DEFAULT_THREAD).unwrap();
    let history = store.history(&key).await;
    let history = history.unwrap();
    let text =
        |row: &hooks_agent_core::store::HistoryRow| row.message["content"][0]["text"].to_string();
    let archived: Vec<_> = history.iter().filter(|row| row.archived.is_some()).map(text).collect();
    assert_eq!(archived, [r#""1""#, r#""a1""#, r#""2""#]);
    let mut all: Vec<_> = history.iter().map(|row| row.seq).collect();
    all.dedup();
    assert_eq!(all.len(), 3 + live.len(), "nothing is there twice");
}

#[tokio::test]
async fn questions_that_wait_meet_summaries_messages_and_restarts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agents.db");
    let small = (0..40).fold(Script::new(), |script, number| script.says(format!("s{number}")));
    let rounds = Arc::new(AtomicUsize::new(0));
    let agent = |store: SqliteStore| {
        let rounds = rounds.clone();
        let model = ScriptedModel::new("m", move |_| -> ScriptedAnswer {
            match rounds.fetch_add(1, Ordering::Relaxed) {
                round if round % 2 == 0 => {
                    let call = |name: &str| ToolUse::new(format!("{name}{round}"), name, json!({}));
                    let calls = ["pay", "look"].map(|name| ContentBlock::ToolUse(call(name)));
                    calls.to_vec().into()
                }
                round => format!("answer {round}.").into(),
            }
        });
        let pay = FunctionTool::new("pay", "Pays.", async |_: Value| "paid");
        let look = FunctionTool::new("look", "Looks.", async |_: Value| "looked");
        let ask = on(|event: &mut PostReasoning<'_>| -> HookResult<Flow> {
            let pay = event.message().tool_uses().filter(|call| call.name == "pay");
            let asked: Vec<_> =
                pay.map(|call| (call.id.clone(), Question::new("May I?"))).collect();
            Ok(if asked.is_empty() { Flow::Continue } else { event.ask(asked)? })
        });
        let hook = messages(4, 1, &small).build().unwrap();
        let agent = ReActAgent::builder("bot").model(model).tool(pay).tool(look).hook(hook);
        agent.hook(ask).store(store).build().unwrap()
    };
    for number in 0..8 {
        let store = SqliteStore::open(&path).await.unwrap();
        let asking = agent(store).call(format!("task {number}.")).await.unwrap();
        assert_eq!(asking.reason, Some(GenerateReason::PermissionAsking), "{number}");
        // Another process.
        let store = SqliteStore::open(&path).await.unwrap();
        let other = agent(store.clone());
        let note = Msg::user(format!("note {number}."));
        other.observe(other.context(CallOptions::new()), note).await.unwrap();
        let waiting = store.waiting(Filter::agent("bot")).await.unwrap();
        let decision =
            if number % 2 == 0 { Decision::Approve } else { Decision::Reject("no".to_owned()) };
        let options = CallOptions::new().decide(&*waiting[0].id, decision);
        other.resume(options).await.unwrap();
        check_history(other.memory());
        assert!(other.memory().messages().len() < 8);
    }
    let store = SqliteStore::open(&path).await.unwrap();
    let key = ThreadKey::new("bot", CallContext::DEFAULT_THREAD).unwrap();
    let last = agent(store.clone());
    last.call("the end").await.unwrap();
    let (memory, summarized) = (last.memory().messages(), small.requests());
    let history = store.history(&key).await.unwrap();
    for number in 0..8 {
        for text in [format!("task {number}."), format!("note {number}.")] {
            let kept = memory.iter().filter(|msg| msg.text() == text).count();
            let read = summarized.iter().filter(|it| it.last_text().contains(&text)).count();
            assert_eq!(kept + read, 1, "{text}");
            let rows = history.iter().filter(|row| row.message["content"][0]["text"] == *text);
            let rows: std::collections::BTreeSet<_> = rows.map(|row| row.seq).collect();
            assert!(!rows.is_empty(), "{text}");
        }
    }
}
