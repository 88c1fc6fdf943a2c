//! One gate for every message on its way into memory: a message that would break the conversation
//! is a typed error, and memory stays as it was. Tool calls are run only by the agent that asked
//! for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use hooks_agent_core::agent::{Agent, AgentExt};
use hooks_agent_core::call::CallOptions;
use hooks_agent_core::call::Interrupt;
use hooks_agent_core::error::{AgentError, InputError};
use hooks_agent_core::event::{EventKind, Flow, HookEvent, PostReasoning};
use hooks_agent_core::message::{
    ContentBlock, GenerateReason, Messages, Msg, Role, ToolResult, ToolUse, unanswered_tool_uses,
};
use hooks_agent_core::model::{ModelError, ScriptedAnswer};
use hooks_agent_core::react::{CompressContext, ContextConfig, ReActAgent, ReActAgentBuilder};
use hooks_agent_core::round::JumpTo;
use hooks_core::{BoxError, BoxFuture, Hookable, hook};
use hooks_fixtures::Records;
use hooks_fixtures::scripted_agents::{
    assert_valid, echo, echo_tool, go, on, results, script, uses,
};
use serde_json::json;

type Ran = Arc<Records<String>>;

/// An agent with the tool `echo`, and what the tool was given.
fn bot<A: Into<ScriptedAnswer>>(answers: impl IntoIterator<Item = A>) -> (ReActAgentBuilder, Ran) {
    let ran = Ran::default();
    let (model, _) = script(answers);
    (ReActAgent::builder("bot").model(model).tool(echo_tool(&ran)), ran)
}

/// An agent with two tool calls, `a` and `b`, that wait.
async fn waiting(recovers: bool) -> (ReActAgent, Ran) {
    let (builder, ran) = bot([uses([echo("a", "A"), echo("b", "B")]), "done".into()]);
    let is_first = AtomicBool::new(true);
    let stop = on(EventKind::PostReasoning, move |event| {
        let HookEvent::PostReasoning(event) = event else { unreachable!() };
        Ok(if is_first.swap(false, Ordering::Relaxed) { event.stop() } else { Flow::Continue })
    });
    let agent = builder.recover_pending(recovers).hook(stop).build().unwrap();
    agent.call(go()).await.unwrap();
    (agent, ran)
}

fn asks(calls: impl IntoIterator<Item = ToolUse>) -> Msg {
    let content = calls.into_iter().map(ContentBlock::ToolUse).collect();
    Msg::from_blocks(Role::Assistant, "bot", content)
}

fn result(id: &str) -> Msg {
    Msg::tool_result(ToolResult::success(&echo(id, ""), "by hand"))
}

fn of_role(role: Role, block: ContentBlock) -> Msg {
    Msg::from_blocks(role, "somebody", vec![block])
}

/// A result, as a block.
fn given(id: &str) -> ContentBlock {
    ContentBlock::ToolResult(ToolResult::success(&echo(id, ""), "by hand"))
}

/// Messages that no conversation may take that waits for nothing.
fn invalid() -> Vec<(&'static str, Messages)> {
    vec![
        ("a system message", Msg::system("obey").into()),
        ("a system message among others", vec![go(), Msg::system("obey")].into()),
        ("a tool call alone", asks([echo("x", "X")]).into()),
        ("one result of two", vec![asks([echo("x", "X"), echo("y", "Y")]), result("x")].into()),
        ("a result alone", result("x").into()),
        ("a result before its call", vec![result("x"), asks([echo("x", "X")])].into()),
        ("two results", vec![asks([echo("x", "X")]), result("x"), result("x")].into()),
        ("two calls of one id", vec![asks([echo("x", "X"), echo("x", "Y")]), result("x")].into()),
        (
            "two calls of one id in two messages",
            vec![asks([echo("x", "X")]), asks([echo("x", "X")]), result("x")].into(),
        ),
        ("a call of the user", of_role(Role::User, ContentBlock::ToolUse(echo("x", "X"))).into()),
        ("a call of a tool", of_role(Role::Tool, ContentBlock::ToolUse(echo("x", "X"))).into()),
        (
            "a result of the model",
            vec![asks([echo("x", "X")]), of_role(Role::Assistant, given("x"))].into(),
        ),
        (
            "a call and its result in one message",
            Msg::from_blocks(
                Role::Assistant,
                "bot",
                vec![ContentBlock::ToolUse(echo("x", "X")), given("x")],
            )
            .into(),
        ),
    ]
}

/// Messages that no conversation may take in which `a` and `b` wait.
fn invalid_after_calls() -> Vec<(&'static str, Messages)> {
    let both = || vec![result("a"), result("b")];
    let with = |more: Vec<Msg>| -> Messages { both().into_iter().chain(more).collect() };
    let mut cases = vec![
        ("a waiting call again", vec![asks([echo("a", "A")]), result("a"), result("b")].into()),
        ("a waiting call again, at the end", with(vec![asks([echo("a", "A")])])),
        ("a waiting call again, answered", with(vec![asks([echo("a", "A")]), result("a")])),
        ("a result twice", vec![result("a"), result("a"), result("b")].into()),
        (
            "results of the model",
            Msg::from_blocks(Role::Assistant, "bot", vec![given("a"), given("b")]).into(),
        ),
    ];
    cases.extend(invalid().into_iter().map(|(what, messages)| {
        let messages = messages.iter().map(Msg::clone).collect();
        (what, with(messages))
    }));
    cases
}

fn is_input_error<T: std::fmt::Debug>(ended: &Result<T, AgentError>) -> bool {
    // A hook's own error has the typed one as its source.
    let Err(error) = ended else { return false };
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = source {
        if error.is::<InputError>() {
            return true;
        }
        source = error.source();
    }
    matches!(error, AgentError::Input(_))
}

#[tokio::test]
async fn invalid_messages_of_the_caller_are_refused_and_memory_is_unchanged() {
    for recovers in [false, true] {
        for (what, messages) in invalid() {
            let (builder, _) = bot(["done"]);
            let agent = builder.recover_pending(recovers).build().unwrap();
            let ended = agent.call(messages).await;
            assert!(is_input_error(&ended), "{what}: {ended:?}");
            assert_eq!(agent.memory().messages().len(), 0, "{what}");
        }
        let after = invalid().into_iter().chain(invalid_after_calls());
        for (what, messages) in after {
            let (agent, ran) = waiting(recovers).await;
            let before = agent.memory().messages();
            let ended = agent.call(messages).await;
            assert!(is_input_error(&ended), "{what}: {ended:?}");
            assert_eq!(agent.memory().messages(), before, "{what}");
            assert_eq!(ran.take(), [] as [String; 0], "{what}");
        }
    }
}

#[tokio::test]
async fn results_are_moved_to_their_calls_and_none_to_those_of_another() {
    let (agent, _) = waiting(false).await;
    let mixed = Msg::from_blocks(Role::User, "user", vec![given("x"), given("a"), given("b")]);
    let ended = agent.call(vec![asks([echo("x", "X")]), mixed]).await;
    assert!(ended.is_ok() || is_input_error(&ended), "{ended:?}");
    if ended.is_ok() {
        assert_valid(&agent);
        assert_in_order(&agent.memory().messages());
    }
}

/// Each result follows its call.
fn assert_in_order(messages: &Messages) {
    let mut known = Vec::new();
    for msg in messages {
        for result in msg.tool_results() {
            assert!(known.contains(&result.id), "{} comes too early", result.id);
        }
        known.extend(msg.tool_uses().map(|call| call.id.clone()));
    }
}

#[tokio::test]
async fn what_an_agent_observes_is_checked() {
    for (what, messages) in invalid() {
        if messages.len() > 1 {
            continue;
        }
        let (builder, _) = bot(["done"]);
        let agent = builder.build().unwrap();
        let ended =
            agent.observe(agent.context(CallOptions::new()), Msg::clone(&messages[0])).await;
        assert!(is_input_error(&ended), "{what}: {ended:?}");
        assert_eq!(agent.memory().messages().len(), 0, "{what}");
    }
}

#[tokio::test]
async fn an_agent_that_observes_while_calls_wait_does_not_take_their_results() {
    let (agent, _) = waiting(false).await;
    let before = agent.memory().messages();
    let ended = agent.observe(agent.context(CallOptions::new()), result("a")).await;
    assert!(is_input_error(&ended), "{ended:?}");
    assert_eq!(agent.memory().messages(), before);
    agent.observe(agent.context(CallOptions::new()), Msg::user("by the way")).await.unwrap();
    agent.resume(CallOptions::new()).await.unwrap();
    assert_valid(&agent);
}

/// What a hook puts in the place of an answer.
fn no_answers() -> Vec<(&'static str, Msg)> {
    vec![
        ("of the user", Msg::user("done")),
        ("of the system", Msg::system("done")),
        ("of a tool", result("x")),
        ("of the user, with a call", of_role(Role::User, ContentBlock::ToolUse(echo("x", "X")))),
        ("of a tool, with a call", of_role(Role::Tool, ContentBlock::ToolUse(echo("x", "X")))),
        ("with a result", of_role(Role::Assistant, given("x"))),
    ]
}

#[tokio::test]
async fn an_answer_of_a_hook_is_one_of_the_model_or_an_error() {
    for (what, msg) in no_answers() {
        for kind in [EventKind::PreReasoning, EventKind::PostReasoning, EventKind::Error] {
            for stops in [false, true] {
                let msg = msg.clone();
                let failed = ModelError::Cut { model: "m".to_owned() };
                let is_error = kind == EventKind::Error;
                let first = if is_error { failed.into() } else { "fine".into() };
                let (builder, ran) = bot([first, ScriptedAnswer::from("unreached")]);
                let hook = on(kind, move |event| {
                    Ok(match event {
                        HookEvent::PreReasoning(event) => event.answer(msg.clone()),
                        HookEvent::Error(event) => event.recover(msg.clone()),
                        HookEvent::PostReasoning(event) => {
                            event.set_message(msg.clone());
                            if stops { event.stop() } else { Flow::Continue }
                        }
                        _ => unreachable!(),
                    })
                });
                let agent = builder.hook(hook).build().unwrap();
                let ended = agent.call(go()).await;
                let texts: Vec<_> = agent
                    .memory()
                    .messages()
                    .iter()
                    .map(hooks_agent_core::message::Msg::text)
                    .collect();
                // A saved error is a reply of the hook if the round ends after it.
                if is_error && ended.is_ok() {
                    assert_valid(&agent);
                    continue;
                }
                assert!(is_input_error(&ended), "{what} {kind}: {ended:?}");
                assert_eq!(texts, ["go"], "{what} {kind}");
                assert_eq!(ran.take(), [] as [String; 0]);
                // The conversation goes on.
                agent.remove_agent_hook(&format!("on {kind}")).unwrap();
                agent.call(Msg::user("again")).await.unwrap();
                assert_valid(&agent);
            }
        }
    }
}

#[tokio::test]
async fn a_summary_of_a_hook_is_one_of_the_model_or_an_error() {
    for (what, msg) in no_answers() {
        for kind in [EventKind::PreSummary, EventKind::PostSummary] {
            let msg = msg.clone();
            let (builder, _) = bot([uses([echo("1", "one")]), "sum".into(), "next".into()]);
            let hook = on(kind, move |event| {
                Ok(match event {
                    HookEvent::PreSummary(event) => event.answer(msg.clone()),
                    HookEvent::PostSummary(event) => {
                        event.set_message(msg.clone());
                        Flow::Continue
                    }
                    _ => unreachable!(),
                })
            });
            let agent = builder.max_iters(1).hook(hook).build().unwrap();
            let ended = agent.call(go()).await;
            assert!(is_input_error(&ended), "{what} {kind}: {ended:?}");
            assert_eq!(agent.memory().messages().len(), 3, "{what} {kind}");
            assert_valid(&agent);
        }
    }
}

#[tokio::test]
async fn tool_calls_of_a_summary_do_not_run_and_have_results() {
    let (builder, ran) = bot([uses([echo("1", "one")]), "sum".into()]);
    let hook = on(EventKind::PostSummary, |event| {
        let HookEvent::PostSummary(event) = event else { unreachable!() };
        event.set_message(asks([echo("x", "X"), echo("x", "Y"), echo("", "Z")]));
        Ok(Flow::Continue)
    });
    let agent = builder.max_iters(1).hook(hook).build().unwrap();
    agent.call(go()).await.unwrap();
    assert_eq!(ran.take(), ["one"]);
    assert_valid(&agent);
}

/// The flow of a jump that is not checked, by a method hook.
fn jump(agent: &ReActAgent, messages: Messages) {
    let is_first = AtomicBool::new(true);
    agent.register_instance_hook(
        ReActAgent::POST_REASONING,
        "jump",
        hook!(ReActAgent::POST_REASONING, async move |_, _, output| {
            if is_first.swap(false, Ordering::Relaxed) {
                output.control.jump(JumpTo::Model, messages.clone());
            }
        }),
    );
}

#[tokio::test]
async fn messages_of_a_jump_are_checked_in_events() {
    let after_calls = invalid_after_calls().into_iter().map(|case| (case, true));
    for ((what, messages), has_calls) in
        invalid().into_iter().map(|case| (case, false)).chain(after_calls)
    {
        let first = if has_calls { uses([echo("a", "A"), echo("b", "B")]) } else { "hm".into() };
        let (builder, ran) = bot([first, "done".into(), "later".into()]);
        let hook = on(EventKind::PostReasoning, move |event| {
            let HookEvent::PostReasoning(event) = event else { unreachable!() };
            Ok(event.jump_to_model(messages.clone())?)
        });
        let agent = builder.hook(hook).build().unwrap();
        let ended = agent.call(go()).await;
        assert!(is_input_error(&ended), "{what}: {ended:?}");
        assert_eq!(agent.memory().messages().len(), 1, "{what}");
        assert_eq!(ran.take(), [] as [String; 0], "{what}");
        assert_valid(&agent);
    }
}

#[tokio::test]
async fn messages_of_a_jump_are_checked_in_hooks_of_methods() {
    let after_calls = invalid_after_calls().into_iter().map(|case| (case, true));
    for ((what, messages), has_calls) in
        invalid().into_iter().map(|case| (case, false)).chain(after_calls)
    {
        let first = if has_calls { uses([echo("a", "A"), echo("b", "B")]) } else { "hm".into() };
        let (builder, ran) = bot([first, "done".into(), "later".into()]);
        let agent = builder.build().unwrap();
        jump(&agent, messages);
        let ended = agent.call(go()).await;
        assert!(is_input_error(&ended), "{what}: {ended:?}");
        assert_eq!(agent.memory().messages().len(), 1, "{what}");
        assert_eq!(ran.take(), [] as [String; 0], "{what}");
        agent.call(Msg::user("again")).await.unwrap();
        assert_valid(&agent);
    }
}

#[tokio::test]
async fn messages_of_a_jump_at_a_tool_are_checked() {
    for (what, messages) in invalid() {
        for is_pre in [false, true] {
            let messages = messages.clone();
            let (builder, _) = bot([uses([echo("a", "A"), echo("b", "B")]), "done".into()]);
            let agent = builder.build().unwrap();
            if is_pre {
                agent.register_instance_hook(
                    ReActAgent::PRE_ACTING,
                    "jump",
                    hook!(ReActAgent::PRE_ACTING, async move |_, args| {
                        args.input.control.jump(JumpTo::Model, messages.clone());
                    }),
                );
            } else {
                agent.register_instance_hook(
                    ReActAgent::POST_ACTING,
                    "jump",
                    hook!(ReActAgent::POST_ACTING, async move |_, _, output| {
                        output.control.jump(JumpTo::Model, messages.clone());
                    }),
                );
            }
            let ended = agent.call(go()).await;
            assert!(is_input_error(&ended), "{what}: {ended:?}");
            // The calls have results, and nothing of the hook is there.
            assert_eq!(results(&agent).len(), 2, "{what}");
            assert_eq!(agent.memory().messages().len(), 4, "{what}");
            assert_valid(&agent);
        }
    }
}

#[tokio::test]
async fn a_jump_may_answer_calls_and_bring_calls_with_results() {
    let (builder, ran) = bot([uses([echo("a", "A"), echo("b", "B")]), "done".into()]);
    let agent = builder.build().unwrap();
    let messages = vec![
        Msg::user("listen"),
        asks([echo("x", "X")]),
        result("x"),
        Msg::from_blocks(Role::User, "user", vec![given("b")]),
    ];
    jump(&agent, messages.into());
    assert_eq!(agent.call(go()).await.unwrap().text(), "done");
    assert_eq!(ran.take(), [] as [String; 0]);
    assert_valid(&agent);
    assert_in_order(&agent.memory().messages());
}

/// Results that answer calls of the message and of the jump in one message.
#[tokio::test]
async fn a_jump_with_results_of_several_calls_in_one_message_leaves_memory_valid() {
    let (builder, _) = bot([uses([echo("a", "A"), echo("b", "B")]), "done".into()]);
    let agent = builder.build().unwrap();
    let mixed = Msg::from_blocks(Role::User, "user", vec![given("x"), given("a"), given("b")]);
    jump(&agent, vec![asks([echo("x", "X")]), mixed].into());
    let _ = agent.call(go()).await;
    assert_valid(&agent);
    assert_in_order(&agent.memory().messages());
}

/// Runs a hook on an answer with a call, and returns the agent.
async fn after_reasoning(
    react: fn(&mut PostReasoning<'_>) -> Flow,
) -> (ReActAgent, Ran, Result<Msg, AgentError>) {
    let (builder, ran) = bot([uses([echo("a", "A")]), "done".into(), "later".into()]);
    let is_first = AtomicBool::new(true);
    let hook = on(EventKind::PostReasoning, move |event| {
        let HookEvent::PostReasoning(event) = event else { unreachable!() };
        Ok(if is_first.swap(false, Ordering::Relaxed) { react(event) } else { Flow::Continue })
    });
    let agent = builder.hook(hook).build().unwrap();
    let ended = agent.call(go()).await;
    (agent, ran, ended)
}

#[tokio::test]
async fn a_message_of_the_user_with_a_call_does_not_wait_for_the_next_call() {
    let (agent, ran, ended) = after_reasoning(|event| {
        event.set_message(of_role(Role::User, ContentBlock::ToolUse(echo("x", "X"))));
        event.stop()
    })
    .await;
    assert!(is_input_error(&ended), "{ended:?}");
    assert_eq!(agent.memory().pending(), []);
    agent.resume(CallOptions::new()).await.unwrap();
    assert_eq!(ran.take(), [] as [String; 0]);
    assert_valid(&agent);
}

#[tokio::test]
async fn calls_that_a_hook_named_alike_are_told_apart() {
    let (agent, ran, ended) = after_reasoning(|event| {
        event.set_message(asks([echo("x", "1"), echo("x", "2"), echo("", "3"), echo("", "4")]));
        Flow::Continue
    })
    .await;
    assert_eq!(ended.unwrap().text(), "done");
    assert_eq!(ran.take(), ["1", "2", "3", "4"]);
    assert_valid(&agent);
}

/// Returns what it was made with.
struct Fixed(Vec<Msg>);

impl CompressContext for Fixed {
    fn compress<'a>(
        &'a self,
        _: Messages,
        _: &'a ContextConfig,
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Messages, BoxError>> {
        Box::pin(async { Ok(self.0.clone().into()) })
    }
}

#[tokio::test]
async fn what_a_compressor_returns_is_checked() {
    for (what, messages) in invalid() {
        let config = ContextConfig::new(0);
        let (builder, _) = bot(["done"]);
        let messages: Vec<_> = messages.iter().map(Msg::clone).collect();
        let agent = builder.compressor(Fixed(messages.clone()), config).build().unwrap();
        let ended = agent.call(go()).await;
        let is_typed = is_input_error(&ended) || matches!(ended, Err(AgentError::Compression(_)));
        assert!(is_typed, "{what}: {ended:?}");
        let texts: Vec<_> =
            agent.memory().messages().iter().map(hooks_agent_core::message::Msg::text).collect();
        assert_eq!(texts, ["go"], "{what}");

        // The same by a hook.
        let (builder, _) = bot(["done"]);
        let agent = builder.compressor(Fixed(vec![go()]), config).build().unwrap();
        agent.register_instance_hook(
            ReActAgent::POST_COMPRESS_CONTEXT,
            "compress",
            hook!(ReActAgent::POST_COMPRESS_CONTEXT, async move |_, _, output| {
                *output = messages.clone().into();
            }),
        );
        let ended = agent.call(go()).await;
        let is_typed = is_input_error(&ended) || matches!(ended, Err(AgentError::Compression(_)));
        assert!(is_typed, "{what}: {ended:?}");
        assert_eq!(agent.memory().messages().len(), 1, "{what}");
    }
}

#[tokio::test]
async fn recovery_takes_no_tool_call_in() {
    let (agent, ran) = waiting(true).await;
    let before = agent.memory().messages();
    let ended = agent.call(asks([echo("x", "X")])).await;
    assert!(is_input_error(&ended), "{ended:?}");
    assert_eq!(agent.memory().messages(), before);
    agent.call(Msg::user("never mind")).await.unwrap();
    assert_eq!(ran.take(), [] as [String; 0]);
    assert_valid(&agent);
}

/// An agent that is stopped with open calls, and one that observes it.
async fn stopped_and_its_observer() -> (ReActAgent, Arc<ReActAgent>, Ran, Ran) {
    let (a, ran_a) = bot([uses([echo("1", "of a")])]);
    let stop = on(EventKind::PostReasoning, |event| {
        let HookEvent::PostReasoning(event) = event else { unreachable!() };
        event.message_mut().push_text("let me see");
        Ok(event.stop())
    });
    let a = a.hook(stop).build().unwrap();
    let (b, ran_b) = bot(["done", "done again"]);
    let b = Arc::new(b.build().unwrap());
    let observer: Arc<dyn Agent> = b.clone();
    a.state().subscribe(&observer);
    (a, b, ran_a, ran_b)
}

#[tokio::test]
async fn a_subscriber_gets_a_stopped_reply_without_its_calls_and_runs_none() {
    let (a, b, ran_a, ran_b) = stopped_and_its_observer().await;
    let reply = a.call(go()).await.unwrap();
    assert_eq!(reply.pending().len(), 1);
    let seen = b.memory().messages();
    assert_eq!((seen.len(), seen[0].text().as_str()), (1, "let me see"));
    assert_eq!((seen[0].tool_uses().count(), seen[0].pending().len()), (0, 0));
    assert_eq!(b.memory().pending(), []);
    b.resume(CallOptions::new()).await.unwrap();
    assert_eq!((ran_a.take(), ran_b.take()), (vec![], vec![]));
    // The one that asked runs it.
    a.remove_agent_hook(&format!("on {}", EventKind::PostReasoning)).unwrap();
    let _ = a.resume(CallOptions::new()).await;
    assert_eq!((ran_a.take(), ran_b.take()), (vec!["of a".to_owned()], vec![]));
}

#[tokio::test]
async fn the_open_calls_of_one_agent_cannot_be_given_to_another() {
    let (a, b, ran_a, ran_b) = stopped_and_its_observer().await;
    let reply = a.call(go()).await.unwrap();
    b.memory().clear();
    let ended = b.call(reply.clone()).await;
    assert!(is_input_error(&ended), "{ended:?}");
    let ended = b.observe(b.context(CallOptions::new()), reply).await;
    assert!(is_input_error(&ended), "{ended:?}");
    assert!(b.memory().messages().is_empty());
    b.resume(CallOptions::new()).await.unwrap();
    assert_eq!((ran_a.take(), ran_b.take()), (vec![], vec![]));
}

/// A sub-agent was asked and got no answer; its caller gets on with another task of the same id.
#[tokio::test]
async fn a_new_task_for_a_sub_agent_is_not_taken_for_the_one_that_waits() {
    let ran = Ran::default();
    let (model, requests) = script([uses([echo("x", "old task")]), "new task done".into()]);
    let ask = on(EventKind::PreActing, |event| {
        let HookEvent::PreActing(event) = event else { unreachable!() };
        Ok(event.ask("is it right?"))
    });
    let worker =
        ReActAgent::builder("worker").model(model).tool(echo_tool(&ran)).hook(ask).build().unwrap();
    let task = |task: &str| ToolUse::new("1", "worker", json!({ "task": task }));
    let (model, _) = script([uses([task("old")]), uses([task("new")]), "done".into()]);
    let boss =
        ReActAgent::builder("boss").model(model).tool(worker.to_tool("Works.")).build().unwrap();
    let reply = boss.call(go()).await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::PermissionAsking));
    // The person answers in place of the worker.
    let answer = ToolResult::success(&task("old"), "I did it myself");
    let reply = boss.call(Msg::tool_result(answer)).await.unwrap();
    assert_eq!((reply.text().as_str(), reply.reason), ("done", Some(GenerateReason::ModelStop)));
    assert_eq!(ran.take(), [] as [String; 0]);
    assert_eq!(requests.take().last().unwrap().last_text(), "new");
    assert_valid(&boss);
    assert_valid(&worker);
}

#[tokio::test]
async fn the_same_message_after_a_call_that_failed_is_not_remembered_twice() {
    let failed = || ModelError::Cut { model: "m".to_owned() };
    let (model, requests) =
        script([failed().into(), failed().into(), ScriptedAnswer::from("done")]);
    let agent = ReActAgent::builder("bot").model(model).build().unwrap();
    agent.call(go()).await.unwrap_err();
    agent.call(go()).await.unwrap_err();
    assert_eq!(agent.call(go()).await.unwrap().text(), "done");
    assert_eq!(requests.take().last().unwrap().messages.len(), 1);
    let texts: Vec<_> =
        agent.memory().messages().iter().map(hooks_agent_core::message::Msg::text).collect();
    assert_eq!(texts, ["go", "done"]);
}

#[tokio::test]
async fn another_message_after_a_call_that_failed_is_added() {
    let failed = ModelError::Cut { model: "m".to_owned() };
    let (builder, _) = bot([failed.into(), ScriptedAnswer::from("done"), "again".into()]);
    let agent = builder.build().unwrap();
    agent.call(go()).await.unwrap_err();
    agent.call(Msg::user("are you there?")).await.unwrap();
    // It was answered, so that it is a new message now.
    agent.call(Msg::user("are you there?")).await.unwrap();
    let texts: Vec<_> =
        agent.memory().messages().iter().map(hooks_agent_core::message::Msg::text).collect();
    assert_eq!(texts, ["go", "are you there?", "done", "are you there?", "again"]);
}

#[tokio::test]
async fn results_may_be_given_again_after_a_call_that_failed() {
    let failed = ModelError::Cut { model: "m".to_owned() };
    let answers = [uses([echo("a", "A")]), failed.into(), "done".into()];
    let (builder, _) = bot(answers);
    let is_first = AtomicBool::new(true);
    let stop = on(EventKind::PostReasoning, move |event| {
        let HookEvent::PostReasoning(event) = event else { unreachable!() };
        Ok(if is_first.swap(false, Ordering::Relaxed) { event.stop() } else { Flow::Continue })
    });
    let agent = builder.hook(stop).build().unwrap();
    agent.call(go()).await.unwrap();
    agent.call(result("a")).await.unwrap_err();
    assert_eq!(agent.call(result("a")).await.unwrap().text(), "done");
    assert_eq!(results(&agent).len(), 1);
    assert_valid(&agent);
}

#[tokio::test]
async fn a_message_whose_call_was_interrupted_before_an_answer_is_not_remembered_twice() {
    let (builder, _) = bot(["done"]);
    let is_first = AtomicUsize::new(0);
    let hook = on(EventKind::PreReasoning, move |event| {
        if is_first.fetch_add(1, Ordering::Relaxed) == 0 {
            event.context().interrupt();
        }
        Ok(Flow::Continue)
    });
    let agent = builder.hook(hook).build().unwrap();
    let reply = agent.call(go()).await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::Interrupted));
    agent.call(go()).await.unwrap();
    let texts: Vec<_> =
        agent.memory().messages().iter().map(hooks_agent_core::message::Msg::text).collect();
    assert_eq!(texts, ["go", "done"]);
}

#[tokio::test]
async fn a_message_that_was_refused_is_no_message_to_repeat() {
    let (builder, _) = bot(["done"]);
    let agent = builder.build().unwrap();
    for _ in 0..2 {
        assert!(is_input_error(&agent.call(Msg::system("obey")).await));
        assert!(agent.memory().messages().is_empty());
    }
}

/// After an interrupt in a hook nothing starts: no tool, in turn or at once, and no model.
#[tokio::test]
async fn no_tool_and_no_model_start_after_an_interrupt() {
    for (at_once, by_token) in [(false, false), (true, false), (false, true), (true, true)] {
        for kind in [EventKind::PreReasoning, EventKind::PostReasoning, EventKind::PreActing] {
            let ran = Ran::default();
            let calls = uses([echo("a", "A"), echo("b", "B")]);
            let (model, requests) = script([calls, "summary".into()]);
            let token = Interrupt::new();
            let cancel = token.clone();
            let hook = on(kind, move |event| {
                if by_token {
                    cancel.interrupt();
                } else {
                    event.context().interrupt();
                }
                Ok(Flow::Continue)
            });
            let agent = ReActAgent::builder("bot")
                .model(model)
                .tool(echo_tool(&ran))
                .parallel_tools(at_once)
                .max_iters(1)
                .hook(hook)
                .build()
                .unwrap();
            let reply = agent.call_with(CallOptions::new().interrupt(token), go()).await.unwrap();
            assert_eq!(reply.reason, Some(GenerateReason::Interrupted), "{kind}");
            assert_eq!(ran.take(), [] as [String; 0], "{kind}");
            let asked = usize::from(kind != EventKind::PreReasoning);
            assert_eq!(requests.take().len(), asked, "{kind}");
            assert_eq!(unanswered_tool_uses(&agent.memory().messages()), []);
        }
    }
}

/// Hooks that do the work themselves do not start either.
#[tokio::test]
async fn no_hook_around_a_tool_or_the_model_starts_after_an_interrupt() {
    let started = Arc::new(Records::new());
    for kind in [EventKind::PreReasoning, EventKind::PreActing] {
        let (builder, ran) = bot([uses([echo("a", "A")]), "done".into()]);
        let hook = on(kind, |event| {
            event.context().interrupt();
            Ok(Flow::Continue)
        });
        let agent = builder.hook(hook).build().unwrap();
        let seen = started.clone();
        agent.register_instance_hook(
            ReActAgent::AROUND_TOOL_CALL,
            "sandbox",
            hook!(ReActAgent::AROUND_TOOL_CALL, async move |_, args, _| {
                seen.push("tool");
                Ok(ToolResult::success(&args.call, "from the sandbox"))
            }),
        );
        let seen = started.clone();
        agent.register_instance_hook(
            ReActAgent::AROUND_MODEL_CALL,
            "model",
            hook!(ReActAgent::AROUND_MODEL_CALL, async move |_, args, next| {
                seen.push("model");
                next.run(args).await
            }),
        );
        agent.call(go()).await.unwrap();
        let expected: &[&str] = if kind == EventKind::PreReasoning { &[] } else { &["model"] };
        assert_eq!(started.take(), expected, "{kind}");
        assert_eq!(ran.take(), [] as [String; 0]);
    }
}

#[tokio::test]
async fn nothing_starts_in_a_sub_agent_after_an_interrupt_of_its_caller() {
    let ran = Ran::default();
    let (model, requests) = script([uses([echo("x", "X")])]);
    let worker = ReActAgent::builder("worker").model(model).tool(echo_tool(&ran)).build().unwrap();
    let call = ToolUse::new("1", "worker", json!({ "task": "work" }));
    let (model, _) = script([uses([call])]);
    let boss = ReActAgent::builder("boss").model(model).tool(worker.to_tool("Works."));
    let boss = boss.build().unwrap();
    boss.register_instance_hook(
        ReActAgent::PRE_TOOL_CALL,
        "interrupt",
        hook!(ReActAgent::PRE_TOOL_CALL, async |_, args| args.cx.interrupt()),
    );
    let reply = boss.call(go()).await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::Interrupted));
    assert_eq!((requests.take().len(), ran.take().len()), (0, 0));
    assert_valid(&boss);
}
