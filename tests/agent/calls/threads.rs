//! The conversations of an agent: listed, restored, forgotten, bounded.

use std::sync::Arc;

use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::call::{CallContext, CallOptions};
use hooks_agent_core::error::InputError;
use hooks_agent_core::event::{PreActing, PreCall};
use hooks_agent_core::hook::{AgentHook, on};
use hooks_agent_core::message::{ContentBlock, Media, Messages, Msg, Role, ToolOutput, ToolResult};
use hooks_agent_core::model::ScriptedModel;
use hooks_agent_core::on;
use hooks_agent_core::react::{ReActAgent, ReActAgentBuilder};
use hooks_fixtures::scripted_agents::{echo, echo_tool, go, script, uses};

fn counter() -> ReActAgentBuilder {
    let model = ScriptedModel::new("counter", |request| request.messages.len().to_string());
    ReActAgent::builder("bot").model(model)
}

async fn call_on(agent: &ReActAgent, thread: &str) -> String {
    agent.call_with(CallOptions::new().thread(thread), go()).await.unwrap().text()
}

fn ids(agent: &ReActAgent) -> Vec<String> {
    let mut ids: Vec<_> = agent.threads().ids().iter().map(ToString::to_string).collect();
    ids.sort();
    ids
}

#[tokio::test]
async fn threads_are_listed_and_the_default_one_if_it_was_used() {
    let agent = counter().build().unwrap();
    call_on(&agent, "b").await;
    call_on(&agent, "a").await;
    assert_eq!(ids(&agent), ["a", "b"]);
    agent.call(go()).await.unwrap();
    assert_eq!(ids(&agent), ["a", "b", CallContext::DEFAULT_THREAD]);
    assert!(agent.threads().forget("a") && !agent.threads().forget("a"));
    assert_eq!(ids(&agent), ["b", CallContext::DEFAULT_THREAD]);
    assert!(agent.threads().memory("a").is_none());
    assert_eq!(agent.threads().memory("b").unwrap().messages().len(), 2);
}

#[tokio::test]
async fn a_restored_conversation_goes_on() {
    let first = counter().build().unwrap();
    call_on(&first, "ada").await;
    let second = counter().build().unwrap();
    for thread in ["ada", CallContext::DEFAULT_THREAD] {
        second
            .threads()
            .restore(thread, first.threads().memory("ada").unwrap().messages())
            .unwrap();
        assert_eq!(call_on(&second, thread).await, "3");
    }
}

#[tokio::test]
async fn tool_calls_of_a_restored_conversation_wait_and_run() {
    let calls = vec![ContentBlock::ToolUse(echo("1", "hi"))];
    let history = [go(), Msg::from_blocks(Role::Assistant, "bot", calls)];
    let (model, _) = script(["done"]);
    let agent = ReActAgent::builder("bot").model(model).tool(echo_tool(&Arc::default()));
    let agent = agent.build().unwrap();
    agent.threads().restore("t", history).unwrap();
    let pending = agent.threads().memory("t").unwrap().pending();
    assert_eq!(pending[0].id, "1");
    agent.resume(CallOptions::new().thread("t")).await.unwrap();
    let history = agent.threads().memory("t").unwrap().messages();
    assert_eq!(history[2].tool_results().next().unwrap().output, "hi");
}

#[tokio::test]
async fn a_history_that_is_not_valid_is_refused_and_changes_nothing() {
    let agent = counter().build().unwrap();
    call_on(&agent, "t").await;
    let asks = |id: &str| {
        Msg::from_blocks(Role::Assistant, "bot", vec![ContentBlock::ToolUse(echo(id, ""))])
    };
    let result = Msg::tool_result(ToolResult::success(&echo("1", ""), "hi"));
    let refused = |messages: Vec<Msg>| agent.threads().restore("t", messages).unwrap_err();
    assert!(matches!(refused(vec![asks("1"), asks("2")]), InputError::MissingResults { .. }));
    assert!(matches!(refused(vec![result.clone()]), InputError::UnknownResults { .. }));
    let twice = vec![asks("1"), result.clone(), result];
    assert!(matches!(refused(twice), InputError::DuplicateResult { .. }));
    assert!(matches!(refused(vec![Msg::system("obey")]), InputError::SystemMessage));
    assert_eq!(agent.threads().memory("t").unwrap().messages().len(), 2);
}

#[tokio::test]
async fn the_longest_unused_threads_are_forgotten_first() {
    let agent = counter().max_idle_threads(3).build().unwrap();
    for thread in ["a", "b", "c", "a", "d"] {
        call_on(&agent, thread).await;
    }
    assert_eq!(ids(&agent), ["a", "c", "d"]);
    agent.call(go()).await.unwrap();
    call_on(&agent, "e").await;
    assert_eq!(ids(&agent), ["a", "d", CallContext::DEFAULT_THREAD, "e"]);
}

#[tokio::test]
async fn a_thread_whose_tool_calls_wait_is_never_forgotten() {
    let answers = [uses([echo("1", "hi")]), "one".into(), "two".into(), "three".into()];
    let (model, _) = script(answers);
    let agent = ReActAgent::builder("bot")
        .model(model)
        .tool(echo_tool(&Arc::default()))
        .hook(on(|event: &mut PreActing<'_>| event.ask("may it?")))
        .max_idle_threads(1)
        .build()
        .unwrap();
    for thread in ["waits", "b", "c"] {
        call_on(&agent, thread).await;
    }
    assert_eq!(ids(&agent), ["c", "waits"]);
    let resume = CallOptions::new().thread("waits").confirm("1");
    assert_eq!(agent.resume(resume).await.unwrap().text(), "three");
}

#[tokio::test]
async fn a_thread_that_somebody_holds_is_not_forgotten() {
    let agent = counter().max_idle_threads(1).build().unwrap();
    call_on(&agent, "held").await;
    let held = agent.threads().memory("held");
    call_on(&agent, "b").await;
    call_on(&agent, "c").await;
    assert_eq!(ids(&agent), ["c", "held"]);
    drop(held);
    call_on(&agent, "d").await;
    assert_eq!(ids(&agent), ["d"]);
}

#[tokio::test]
async fn the_debug_output_of_threads_has_nothing_of_what_was_said() {
    let agent = counter().build().unwrap();
    agent.threads().restore("ada", Msg::user("my secret")).unwrap();
    assert_eq!(format!("{:?}", agent.threads()), "Threads { named: 1, .. }");
}

#[tokio::test]
async fn many_ids_do_not_pile_up() {
    let agent = counter().max_idle_threads(100).build().unwrap();
    for number in 0..2_000 {
        agent.threads().restore(&number.to_string(), go()).unwrap();
        assert!(agent.threads().ids().len() <= 101);
    }
    assert!(agent.threads().memory("1999").is_some() && agent.threads().memory("0").is_none());
}

/// A gate that the hook of one thread waits at.
fn slow_on(thread: &'static str, gate: &Arc<tokio::sync::Notify>) -> impl AgentHook {
    let gate = gate.clone();
    on!(async move |event: &mut PreCall<'_>| {
        if event.context().thread_id() == thread && event.messages()[0].text() == "slow" {
            gate.notified().await;
        }
    })
}

#[tokio::test]
async fn a_thread_is_kept_while_hooks_of_its_call_run_or_its_call_is_queued() {
    let gate = Arc::new(tokio::sync::Notify::new());
    let agent = counter().max_idle_threads(1).hook(slow_on("a", &gate)).build().unwrap();
    call_on(&agent, "a").await;
    let on_a = || CallOptions::new().thread("a");
    let mut slow = Box::pin(agent.call_with(on_a(), Msg::user("slow")));
    let mut queued = Box::pin(agent.call_with(on_a(), Msg::user("slow")));
    assert!(futures::poll!(&mut slow).is_pending() && futures::poll!(&mut queued).is_pending());
    for thread in ["b", "c", "d"] {
        call_on(&agent, thread).await;
    }
    gate.notify_one();
    assert_eq!(slow.await.unwrap().text(), "3");
    assert!(futures::poll!(&mut queued).is_pending());
    for thread in ["b", "c", "d"] {
        call_on(&agent, thread).await;
    }
    gate.notify_one();
    assert_eq!(queued.await.unwrap().text(), "5");
    for thread in ["b", "c", "d"] {
        call_on(&agent, thread).await;
    }
    assert!(agent.threads().memory("a").is_none());
}

#[tokio::test]
async fn without_idle_threads_a_conversation_lasts_until_the_next_one_begins() {
    let agent = counter().max_idle_threads(0).build().unwrap();
    assert_eq!((call_on(&agent, "a").await, call_on(&agent, "a").await), ("1".into(), "3".into()));
    call_on(&agent, "b").await;
    assert_eq!(ids(&agent), ["b"]);
    let history = agent.threads().memory("b").unwrap().messages();
    agent.threads().restore("c", history).unwrap();
    assert_eq!(ids(&agent), ["c"]);
    assert_eq!(call_on(&agent, "c").await, "3");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn threads_of_many_calls_at_once_stay_apart_and_are_bounded() {
    let agent = Arc::new(counter().max_idle_threads(4).build().unwrap());
    let call = |number: usize| {
        let agent = agent.clone();
        tokio::spawn(async move {
            let thread = format!("t{}", number % 64);
            let options = CallOptions::new().thread(&*thread);
            let length = agent.call_with(options, go()).await.unwrap().text();
            assert_eq!(length.parse::<usize>().unwrap() % 2, 1);
            agent.threads().forget(&format!("t{}", (number + 7) % 64));
        })
    };
    for call in (0..640).map(call).collect::<Vec<_>>() {
        call.await.unwrap();
    }
    call_on(&agent, "last").await;
    assert!(agent.threads().ids().len() <= 5, "{}", agent.threads().ids().len());
}

#[tokio::test]
async fn a_named_thread_that_is_restored_during_its_call_keeps_the_restored_conversation() {
    let (model, _) = script([uses([echo("1", "hi")]), "done".into(), "later".into()]);
    let agent = ReActAgent::builder("bot").model(model).tool(echo_tool(&Arc::default()));
    let restored = Arc::new(std::sync::OnceLock::<std::sync::Weak<ReActAgent>>::new());
    let known = restored.clone();
    let restore = on(move |event: &mut PreActing<'_>| {
        let agent = known.get().and_then(std::sync::Weak::upgrade).unwrap();
        agent.threads().restore(event.context().thread_id(), Msg::user("new")).unwrap();
    });
    let agent = Arc::new(agent.hook(restore).build().unwrap());
    restored.set(Arc::downgrade(&agent)).unwrap();
    call_on(&agent, "t").await;
    assert_eq!(agent.threads().memory("t").unwrap().messages().len(), 1);
    assert_eq!(call_on(&agent, "t").await, "later");
}

#[test]
fn a_conversation_with_media_and_results_of_blocks_is_restored_as_it_was() {
    let image = || ContentBlock::Image(Media::bytes("image/png", [1, 2, 3]));
    let call = echo("1", "hi");
    let output = ToolOutput::json(serde_json::Value::Null)
        .with_block(ContentBlock::text("more"))
        .with_block(ContentBlock::File(Media::url("application/pdf", "https://a.b/c").named("c")));
    let history = Messages::from(vec![
        go().with(image()),
        Msg::from_blocks(Role::Assistant, "bot", vec![ContentBlock::ToolUse(call.clone())]),
        Msg::tool_result(ToolResult::success(&call, output)),
    ]);
    let saved = serde_json::to_string(&history).unwrap();
    let agent = counter().build().unwrap();
    agent.threads().restore("t", serde_json::from_str::<Messages>(&saved).unwrap()).unwrap();
    assert_eq!(agent.threads().memory("t").unwrap().messages(), history);
}

#[tokio::test]
async fn the_default_thread_that_is_forgotten_during_its_call_keeps_no_result_without_its_call() {
    let known = Arc::new(std::sync::OnceLock::<std::sync::Weak<ReActAgent>>::new());
    let cell = known.clone();
    let forget = on(move |_: &mut PreActing<'_>| {
        let agent = known.get().and_then(std::sync::Weak::upgrade).unwrap();
        agent.threads().forget(CallContext::DEFAULT_THREAD);
    });
    let (model, _) = script([uses([echo("1", "hi")]), "done".into()]);
    let agent = ReActAgent::builder("bot").model(model).tool(echo_tool(&Arc::default()));
    let agent = Arc::new(agent.hook(forget).build().unwrap());
    cell.set(Arc::downgrade(&agent)).unwrap();
    agent.call(go()).await.unwrap();
    let messages = agent.memory().messages();
    assert_eq!(messages.iter().flat_map(Msg::tool_results).count(), 0, "{messages:?}");
}
