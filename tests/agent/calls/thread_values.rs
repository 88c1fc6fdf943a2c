//! Values that hooks keep with a thread.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use futures::executor::block_on;
use futures::future::join_all;
use hooks_agent_core::memory::ThreadValueError;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use proptest::collection::vec;
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A hook that counts the calls of a thread before they run.
fn counter() -> impl AgentHook {
    on(|event: &mut PreCall<'_>| -> HookResult {
        event.context().update_thread_value("calls", count)?;
        Ok(())
    })
}

fn count(calls: &mut Option<u32>) {
    *calls = Some(calls.unwrap_or_default() + 1);
}

fn echo() -> ScriptedModel {
    ScriptedModel::new("echo", ChatRequest::last_text)
}

fn calls(agent: &ReActAgent, thread: &str) -> Option<u32> {
    let cx = agent.context(CallOptions::new().thread(thread));
    cx.thread_value("calls").unwrap()
}

#[test]
fn calls_on_two_threads_never_share_a_value() {
    let agent = ReActAgent::builder("bot").model(echo()).hook(counter()).build().unwrap();
    let on_thread = |thread: &'static str| agent.call_with(CallOptions::new().thread(thread), "hi");
    block_on(async {
        let both = (0..64).map(|number| on_thread(if number % 4 == 0 { "ada" } else { "bob" }));
        for reply in join_all(both).await {
            reply.unwrap();
        }
    });
    assert_eq!((calls(&agent, "ada"), calls(&agent, "bob")), (Some(16), Some(48)));
    assert_eq!(calls(&agent, "default"), None);
}

#[test]
fn a_failed_call_keeps_what_it_counted() {
    let agent = ReActAgent::builder("bot").model(Script::new()).hook(counter()).build().unwrap();
    assert!(block_on(agent.call_with(CallOptions::new().thread("ada"), "hi")).is_err());
    assert_eq!(calls(&agent, "ada"), Some(1));
}

#[test]
fn removed_messages_leave_the_values_and_a_forgotten_thread_takes_them() {
    let agent = ReActAgent::builder("bot").model(echo()).hook(counter()).build().unwrap();
    for thread in ["default", "ada"] {
        block_on(agent.call_with(CallOptions::new().thread(thread), "hi")).unwrap();
        agent.threads().memory(thread).unwrap().clear();
        agent.threads().restore(thread, vec![Msg::user("before")]).unwrap();
        assert_eq!(calls(&agent, thread), Some(1), "{thread}");
        agent.threads().forget(thread);
        assert_eq!(calls(&agent, thread), None, "{thread}");
    }
}

#[test]
fn a_call_keeps_its_thread_while_the_thread_is_forgotten() {
    let script = Script::new().calls([ToolUse::new("1", "forget", json!({}))]).says("done");
    let (cell, known) = (Arc::new(OnceLock::<Arc<ReActAgent>>::new()), Arc::new(OnceLock::new()));
    let (agents, forgotten) = (cell.clone(), known.clone());
    let forget = move |event: &mut PreActing<'_>| {
        forgotten.set(agents.get().unwrap().threads().forget("ada")).unwrap();
        event.context().update_thread_value("calls", count).unwrap();
        event.refuse("forgotten")
    };
    let look = on(|event: &mut PostCall<'_>| {
        let calls: Option<u32> = event.context().thread_value("calls").unwrap();
        let known = event.agent().memory_of(event.context()).unwrap().messages().len();
        event.final_message_mut().push_text(&format!(" {calls:?} {known}"));
    });
    let tool = hooks_agent_core::testing::Calls::new("forget");
    let agent =
        ReActAgent::builder("bot").model(script).tool(tool).hook(counter()).hook(on(forget));
    let agent = Arc::new(agent.hook(look).build().unwrap());
    let _ = cell.set(agent.clone());
    let reply = block_on(agent.call_with(CallOptions::new().thread("ada"), "hi")).unwrap();
    assert_eq!(reply.text(), "done Some(2) 4");
    assert_eq!(known.get(), Some(&true));
}

#[test]
fn values_of_another_type_are_an_error_and_stay() {
    let cx = CallContext::default();
    cx.set_thread_value("calls", "many").unwrap();
    let read = cx.thread_value::<u32>("calls").unwrap_err();
    assert!(matches!(&read, ThreadValueError::Read { name, .. } if name == "calls"), "{read}");
    let updated = cx.update_thread_value("calls", |_: &mut Option<u32>| unreachable!());
    assert!(updated.is_err());
    assert_eq!(cx.thread_value::<String>("calls").unwrap().as_deref(), Some("many"));
}

#[test]
fn a_value_that_becomes_none_is_removed() {
    let cx = CallContext::default();
    cx.set_thread_value("calls", &1).unwrap();
    cx.update_thread_value("calls", |calls: &mut Option<u32>| *calls = None).unwrap();
    assert_eq!(cx.thread_value::<u32>("calls").unwrap(), None);
}

#[test]
fn a_thread_moves_to_another_process_with_its_values() {
    let first = ReActAgent::builder("bot").model(echo()).hook(counter()).build().unwrap();
    block_on(first.call_with(CallOptions::new().thread("ada"), "hi")).unwrap();
    let saved = first.threads().memory("ada").unwrap();
    let (messages, values) = (saved.messages(), serde_json::to_string(&saved.values()).unwrap());

    let second = ReActAgent::builder("bot").model(echo()).hook(counter()).build().unwrap();
    second.threads().restore("ada", messages).unwrap();
    let memory = second.threads().memory("ada").unwrap();
    memory.set_values(serde_json::from_str(&values).unwrap());
    block_on(second.call_with(CallOptions::new().thread("ada"), "again")).unwrap();
    assert_eq!(calls(&second, "ada"), Some(2));
}

#[test]
fn a_hook_counts_for_the_whole_task_in_the_thread_of_the_caller() {
    let total = on(|event: &mut PreCall<'_>| -> HookResult {
        let cx = event.context();
        let top = std::iter::successors(Some(cx), |cx| cx.parent()).last().unwrap_or(cx);
        top.update_thread_value("calls", count)?;
        Ok(())
    });
    let helper = ReActAgent::builder("helper").model(echo()).build().unwrap();
    let script = Script::new().calls([ToolUse::new("1", "helper", json!({ "task": "x" }))]);
    let boss = ReActAgent::builder("boss").model(script.says("done")).tool(helper.to_tool("Helps"));
    let boss = boss.hook(total.inherited(true)).build().unwrap();
    block_on(boss.call("go")).unwrap();
    assert_eq!(calls(&boss, "default"), Some(2));
}

#[test]
fn an_agent_without_memory_refuses_to_keep_values() {
    let user = hooks_agent_core::user::UserAgent::builder("ada").build();
    let cx = user.context(CallOptions::new());
    let refused = cx.set_thread_value("calls", &1).unwrap_err();
    assert!(matches!(refused, ThreadValueError::NoMemory { .. }), "{refused}");
}

#[test]
fn a_call_resumes_a_run_if_it_answers_or_confirms_what_waits() {
    let (sender, resumed) = std::sync::mpsc::channel();
    let note = on(move |event: &mut PreCall<'_>| sender.send(event.resumes()).unwrap());
    let ask = on(|event: &mut PreActing<'_>| event.ask("may I?"));
    let call = |id: &str| ToolUse::new(id, "none", json!({}));
    let script = ["1", "2", "3"]
        .into_iter()
        .fold(Script::new(), |script, id| script.calls([call(id)]).says("done"));
    let agent = ReActAgent::builder("bot").model(script).hook(note).hook(ask);
    let agent = agent.recover_pending(true).build().unwrap();
    block_on(agent.call("go")).unwrap();
    block_on(agent.resume(CallOptions::new().confirm("1"))).unwrap();
    let reply = block_on(agent.call("go")).unwrap();
    block_on(agent.call(reply.pending()[0].answered("42"))).unwrap();
    block_on(agent.call("go")).unwrap();
    block_on(agent.call("something else")).unwrap();
    let resumed: Vec<_> = resumed.try_iter().collect();
    assert_eq!(resumed, [false, true, false, true, false, false]);
}

/// A count as hooks keep it, and as another version of the hook reads it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Count {
    calls: u32,
    #[serde(default)]
    names: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Narrow {
    calls: u8,
}

#[test]
fn a_value_is_read_as_each_type_that_its_json_fits() {
    let cx = CallContext::default();
    let value = Count { calls: 3, names: vec!["ada".to_owned()] };
    cx.update_thread_value("count", |kept: &mut Option<Count>| *kept = Some(value.clone()))
        .unwrap();
    assert_eq!(cx.thread_value("count").unwrap(), Some(value.clone()));
    assert_eq!(cx.thread_value("count").unwrap(), Some(Narrow { calls: 3 }));
    let refused = cx.thread_value::<u32>("count").unwrap_err();
    assert!(matches!(refused, ThreadValueError::Read { .. }), "{refused}");
    assert_eq!(cx.thread_value("count").unwrap(), Some(value));

    cx.update_thread_value("count", |kept: &mut Option<Narrow>| kept.as_mut().unwrap().calls += 1)
        .unwrap();
    assert_eq!(cx.thread_value("count").unwrap(), Some(Count { calls: 4, names: Vec::new() }));
    let json = cx.memory().unwrap().values();
    assert_eq!(serde_json::to_value(json).unwrap(), json!({ "count": { "calls": 4 } }));
}

#[test]
fn a_value_that_is_no_json_is_refused_and_the_one_before_stays() {
    type Pairs = BTreeMap<(u8, u8), u8>;
    let cx = CallContext::default();
    let set = |pairs: Pairs| cx.update_thread_value("pairs", |kept| *kept = Some(pairs));
    set(Pairs::new()).unwrap();
    let refused = set(Pairs::from([((1, 2), 3)])).unwrap_err();
    assert!(
        matches!(&refused, ThreadValueError::Write { name, .. } if name == "pairs"),
        "{refused}"
    );
    assert_eq!(cx.thread_value("pairs").unwrap(), Some(Pairs::new()));
}

#[test]
fn a_change_that_panics_changes_nothing() {
    let cx = CallContext::default();
    cx.update_thread_value("calls", count).unwrap();
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        cx.update_thread_value("calls", |calls: &mut Option<u32>| {
            *calls = Some(99);
            panic!("the hook is broken");
        })
    }));
    assert!(panicked.is_err());
    assert_eq!(cx.thread_value("calls").unwrap(), Some(1_u32));
    cx.update_thread_value("calls", count).unwrap();
    assert_eq!(cx.thread_value("calls").unwrap(), Some(2_u32));
}

/// What a hook keeps, changes, removes and reads, as its type and as another.
#[derive(Clone, Debug)]
enum Change {
    Count(u32),
    Narrow(u8),
    Json(u32),
    Remove,
    Look,
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        any::<u32>().prop_map(Change::Count),
        any::<u8>().prop_map(Change::Narrow),
        any::<u32>().prop_map(Change::Json),
        Just(Change::Remove),
        Just(Change::Look),
    ]
}

proptest! {
    /// Where a value is kept as its type, hooks see what they see of one that is JSON each time.
    #[test]
    fn values_are_those_that_json_would_be(changes in vec(change(), 0..24)) {
        let (cx, mut json) = (CallContext::default(), None::<Value>);
        for change in changes {
            match change {
                Change::Count(calls) => {
                    let new = Count { calls, names: vec![calls.to_string()] };
                    json = Some(serde_json::to_value(&new).unwrap());
                    cx.set_thread_value("count", &Count::default()).unwrap();
                    cx.update_thread_value("count", |kept| *kept = Some(new)).unwrap();
                }
                Change::Narrow(calls) => {
                    let updated = cx.update_thread_value("count", |kept| *kept = Some(Narrow { calls }));
                    let fits = json.as_ref().is_none_or(|json| Narrow::deserialize(json).is_ok());
                    prop_assert_eq!(updated.is_ok(), fits);
                    if fits {
                        json = Some(json!({ "calls": calls }));
                    }
                }
                Change::Json(calls) => {
                    json = Some(json!({ "calls": calls }));
                    cx.set_thread_value("count", &json).unwrap();
                }
                Change::Remove => {
                    json = None;
                    cx.memory().unwrap().thread_values().remove("count");
                }
                Change::Look => {}
            }
            let read = json.as_ref().map(|json| Count::deserialize(json).unwrap());
            prop_assert_eq!(cx.thread_value::<Count>("count").unwrap(), read);
            let all = serde_json::to_value(cx.memory().unwrap().values()).unwrap();
            prop_assert_eq!(all.get("count"), json.as_ref());
        }
    }
}
