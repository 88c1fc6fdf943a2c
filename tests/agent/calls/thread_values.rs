//! Values that hooks keep with a thread.

use std::sync::{Arc, OnceLock};

use futures::executor::block_on;
use futures::future::join_all;
use hooks_agent_core::memory::ThreadValueError;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use serde_json::json;

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
