//! A law: after each call the store has what memory has, in its order, whatever was done to memory.

use hooks_agent_core::memory::Memory;
use hooks_agent_core::message::Messages;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{Store, ThreadKey};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::backend;

/// What is done to the memory of a thread between two calls.
#[derive(Clone, Debug)]
enum Change {
    Add(u8),
    /// Replaces the messages of a range by so many new ones, as a compression does.
    Replace(usize, usize, usize),
    Clear,
    Value(u8),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        any::<u8>().prop_map(Change::Add),
        (0_usize..12, 0_usize..12, 0_usize..5)
            .prop_map(|(from, to, new)| Change::Replace(from, to, new)),
        Just(Change::Clear),
        any::<u8>().prop_map(Change::Value),
    ]
}

fn apply(memory: &Memory, change: &Change, number: usize) {
    match change {
        Change::Add(text) => memory.add(Msg::user(format!("added {text} {number}"))),
        Change::Replace(from, to, new) => {
            let before = memory.messages();
            let (from, to) = ((*from).min(before.len()), (*to).min(before.len()));
            let (from, to) = (from.min(to), from.max(to));
            let mut messages: Vec<_> = before.into_iter().collect();
            let new = (0..*new).map(|at| Msg::user(format!("new {at} {number}")).into());
            messages.splice(from..to, new);
            // Tool calls must keep their results: this conversation has none.
            memory.replace(Messages::from(messages));
        }
        Change::Clear => memory.clear(),
        Change::Value(value) => {
            let mut values = memory.values();
            values.insert(format!("v{}", value % 3), json!(value));
            memory.set_values(values);
        }
    }
}

fn live(rows: Vec<hooks_agent_core::store::HistoryRow>) -> Vec<Value> {
    let mut live: Vec<_> = rows.into_iter().filter(|row| row.archived.is_none()).collect();
    live.sort_by_key(|row| row.place);
    let body = |row: hooks_agent_core::store::HistoryRow| {
        let mut body = row.message;
        body.as_object_mut().unwrap().remove("v");
        body
    };
    live.into_iter().map(body).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn the_store_has_what_memory_has(rounds in proptest::collection::vec(proptest::collection::vec(change(), 0..4), 1..6)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let database = backend::sqlite();
            let store = database.store().await;
            let model = ScriptedModel::new("fixed", |_| "Yes.");
            let agent =
                ReActAgent::builder("bot").model(model).store(store.clone()).build().unwrap();
            let options = || CallOptions::new().thread("t");
            agent.call_with(options(), "first").await.unwrap();
            let key = ThreadKey::new("bot", "t").unwrap();
            let mut versions = 0;
            for (number, changes) in rounds.iter().enumerate() {
                let memory = agent.threads().memory("t").unwrap();
                for change in changes {
                    apply(&memory, change, number);
                }
                agent.call_with(options(), format!("call {number}")).await.unwrap();
                let rows = store.history(&key).await.unwrap();
                assert!(rows.len() >= versions, "no row is lost");
                versions = rows.len();
                let kept: Vec<_> =
                    memory.messages().iter().map(|msg| serde_json::to_value(msg).unwrap()).collect();
                assert_eq!(live(rows), kept);
                assert_eq!(store.values(&key).await.unwrap(), memory.values());
            }
            // Another process reads the same.
            let model = ScriptedModel::new("count", |request| request.messages.len().to_string());
            let store = database.store().await;
            let other = ReActAgent::builder("bot").model(model).store(store).build().unwrap();
            let before = agent.threads().memory("t").unwrap().messages().len();
            let reply = other.call_with(options(), "and now?").await.unwrap();
            assert_eq!(reply.text(), (before + 1).to_string());
        });
    }
}
