//! Whatever a thread has: an export of its import is the export.

use hooks_agent_core::message::{ContentBlock, Msg, Role, ToolResult, ToolUse};
use hooks_agent_core::store::{Filter, HistoryRow, Store, export, import};
use hooks_agent_core::thread::MemoryStore;
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop, prop_oneof, proptest};
use serde_json::{Map, Value};

use crate::backend::sqlite;
use crate::suite::steps::key;

/// Some JSON.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// A round of a conversation: a text, or a tool call with its result.
fn round() -> impl Strategy<Value = Vec<Msg>> {
    let text = any::<String>().prop_map(|text| vec![Msg::user(text)]);
    let call = (any::<String>(), value(), any::<String>()).prop_map(|(name, input, output)| {
        let call = ToolUse::new("1", name, input);
        let result = Msg::tool_result(ToolResult::success(&call, output));
        let answer = Msg::from_blocks(Role::Assistant, "bot", vec![ContentBlock::ToolUse(call)]);
        vec![answer, result]
    });
    prop_oneof![text, call]
}

fn messages() -> impl Strategy<Value = Vec<Msg>> {
    prop::collection::vec(round(), 1..5).prop_map(|rounds| rounds.into_iter().flatten().collect())
}

fn values() -> impl Strategy<Value = Map<String, Value>> {
    let values = prop::collection::btree_map("[^\0]{1,20}", value(), 0..4);
    values.prop_map(|values| values.into_iter().collect())
}

fn rows(messages: &[Msg]) -> Vec<HistoryRow> {
    let body = |msg| serde_json::to_value(msg).unwrap();
    (0..).zip(messages).map(|(seq, msg)| HistoryRow::new(seq, seq, None, body(msg))).collect()
}

async fn exported(store: &dyn Store) -> Vec<u8> {
    let mut lines = Vec::new();
    export(store, &key("ada"), &mut lines).await.unwrap();
    lines
}

/// Exports the thread, removes it, imports it and exports it again.
async fn stays_the_same(store: &dyn Store) {
    let lines = exported(store).await;
    assert_eq!(store.forget(Filter::all()).await.unwrap(), 1);
    import(store, &*lines).await.unwrap();
    assert_eq!(exported(store).await, lines);
    store.forget(Filter::all()).await.unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_export_of_an_import_is_the_export(
        messages in messages(),
        replaced in prop::collection::vec((value(), any::<bool>()), 0..3),
        values in values(),
        user in prop::option::of("[^\0]{1,20}"),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let memory = MemoryStore::new();
            memory.import(&key("ada"), rows(&messages), values.clone(), None).await.unwrap();
            stays_the_same(&memory).await;

            let mut all = rows(&messages);
            for (extra, is_archived) in replaced {
                let seq = all.len() as u64;
                let mut message = serde_json::to_value(Msg::user("before")).unwrap();
                message["of_later"] = extra;
                all.push(HistoryRow::new(seq, seq, is_archived.then_some(1), message));
            }
            let backend = sqlite();
            let file = backend.store().await;
            file.import(&key("ada"), all, values, user.map(Into::into)).await.unwrap();
            stays_the_same(&*file).await;
        });
    }
}
