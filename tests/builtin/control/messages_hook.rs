//! `MessagesHook`.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hooks_agent_builtin::control::{AgentCommand, CommandError, MessagesHook, UpdatePolicy};
use hooks_agent_core::error::InputError;
use hooks_agent_core::message::GenerateReason;
use hooks_agent_core::prelude::*;
use hooks_agent_core::round::JumpTo;
use hooks_agent_core::testing::{Calls, Probe, Script, check_history};
use hooks_agent_core::{HookError, HookResult};
use serde_json::json;

fn look(id: &str) -> ToolUse {
    ToolUse::new(id, "look", json!({}))
}

fn texts(messages: &Messages) -> Vec<String> {
    messages.iter().map(Msg::text).collect()
}

/// The command error that failed a call.
fn command_error(error: &AgentError) -> &CommandError {
    let AgentError::Hook(HookError::Failed { source, .. }) = error else { panic!("{error:?}") };
    source.downcast_ref().unwrap()
}

fn agent(script: &Script, hook: impl AgentHook) -> ReActAgent {
    let look = Calls::new("look").answers("a wall").answers("a door");
    ReActAgent::builder("bot").model(script.clone()).tool(look).hook(hook).build().unwrap()
}

/// B 1.4.
#[test]
fn a_jump_is_parsed_whatever_its_case() {
    for (text, to) in [("tool", JumpTo::Tools), ("MODEL", JumpTo::Model), ("End", JumpTo::End)] {
        assert_eq!(text.parse(), Ok(to));
        assert_eq!(to.to_string(), text.to_lowercase());
    }
    let error = "x".parse::<JumpTo>().unwrap_err();
    assert_eq!(error.to_string(), "Unknown JumpTo value: x. Valid values are: tool, model, end");
}

/// B 1.3.
#[test]
fn a_command_replaces_by_default_and_changes_nothing_without_messages() {
    assert_eq!(AgentCommand::default().messages, None);
    assert_eq!(UpdatePolicy::default(), UpdatePolicy::Replace);
    assert_eq!(AgentCommand::replace("a").update_policy, UpdatePolicy::Replace);
}

/// D Jump vectors: REPLACE: "原始消息1" gone, "原始消息2" present; APPEND: both present.
#[tokio::test]
async fn messages_are_replaced_or_appended_before_a_call() {
    let replace = MessagesHook::new().pre_call(|messages, _| {
        Ok(AgentCommand::replace(messages.iter().skip(1).cloned().collect::<Messages>()))
    });
    let append = MessagesHook::new().pre_call(|_, _| Ok(AgentCommand::append("追加")));
    let caller = || Messages::from([Msg::user("原始消息1"), Msg::user("原始消息2")]);
    for (hook, expected) in
        [(replace, vec!["原始消息2"]), (append, vec!["原始消息1", "原始消息2", "追加"])]
    {
        let script = Script::new().says("hi");
        let agent = agent(&script, hook);
        agent.call(caller()).await.unwrap();
        assert_eq!(texts(&script.requests()[0].messages), expected);
        let memory = agent.memory().messages();
        assert_eq!(texts(&memory)[..expected.len()], expected);
    }
}

#[tokio::test]
async fn messages_before_reasoning_are_those_of_the_request_and_not_of_memory() {
    let replace = MessagesHook::new()
        .pre_reasoning(|messages, _| Ok(AgentCommand::replace(messages.last().unwrap().clone())));
    let append = MessagesHook::new().pre_reasoning(|_, _| Ok(AgentCommand::append("!")));
    for (hook, expected) in [(replace, vec!["two"]), (append, vec!["one", "1", "two", "!"])] {
        let script = Script::new().says("1").says("2");
        let agent = agent(&script, hook);
        agent.call("one").await.unwrap();
        agent.call("two").await.unwrap();
        assert_eq!(texts(&script.requests()[1].messages), expected);
        assert_eq!(texts(&agent.memory().messages()), ["one", "1", "two", "2"]);
    }
}

/// Counts how often its closures run; the one before reasoning jumps by choice.
fn counting(
    name: &'static str,
    before: &Arc<AtomicUsize>,
    after: &Arc<AtomicUsize>,
    jump: Option<JumpTo>,
) -> impl AgentHook {
    let (before, after) = (before.clone(), after.clone());
    let hook = MessagesHook::new()
        .pre_reasoning(move |_, _| {
            before.fetch_add(1, Ordering::Relaxed);
            Ok(AgentCommand { jump_to: jump, ..AgentCommand::default() })
        })
        .post_reasoning(move |_, _| {
            after.fetch_add(1, Ordering::Relaxed);
            Ok(AgentCommand::default())
        });
    hook.named(name)
}

/// D Jump vectors: first of three returns end: first.before = 1, all other before = 0, all
/// after = 0.
#[tokio::test]
async fn after_a_jump_to_the_end_no_later_closure_runs() {
    let counts: [Arc<AtomicUsize>; 3] = Default::default();
    let after = Arc::new(AtomicUsize::new(0));
    let script = Script::new().says("never");
    let agent = ReActAgent::builder("bot")
        .model(script.clone())
        .hook(counting("first", &counts[0], &after, Some(JumpTo::End)))
        .hook(counting("second", &counts[1], &after, None))
        .hook(counting("third", &counts[2], &after, None))
        .build()
        .unwrap();
    let reply = agent.call("go").await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::HookEnded));
    assert_eq!(counts.map(|count| count.load(Ordering::Relaxed)), [1, 0, 0]);
    assert_eq!(after.load(Ordering::Relaxed), 0);
    assert!(script.requests().is_empty());
}

/// D Jump vectors: end in afterModel with pending tools → tools not run.
#[tokio::test]
async fn a_jump_to_the_end_after_reasoning_keeps_tools_from_running() {
    let tool = Calls::new("look").answers("a wall");
    let hook =
        MessagesHook::new().post_reasoning(|_, _| Ok(AgentCommand::default().jump_to(JumpTo::End)));
    let agent = ReActAgent::builder("bot")
        .model(Script::new().calls([look("1")]))
        .tool(tool.clone())
        .hook(hook)
        .build()
        .unwrap();
    let reply = agent.call("go").await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::HookEnded));
    tool.assert_called_with([]);
    check_history(agent.memory());
}

/// D Jump vectors: model in afterModel → loop re-enters at the first beforeModel.
#[tokio::test]
async fn a_jump_to_the_model_after_reasoning_begins_a_new_round() {
    let (before, script) = (Arc::new(AtomicUsize::new(0)), Script::new().says("long").says("ok"));
    let count = before.clone();
    let hook = MessagesHook::new()
        .pre_reasoning(move |_, _| {
            count.fetch_add(1, Ordering::Relaxed);
            Ok(AgentCommand::default())
        })
        .post_reasoning(|messages, _| {
            let is_long = messages[0].text() == "long";
            let again = || AgentCommand::append("Shorter.").jump_to(JumpTo::Model);
            Ok(if is_long { again() } else { AgentCommand::default() })
        });
    let agent = agent(&script, hook);
    assert_eq!(agent.call("go").await.unwrap().text(), "ok");
    assert_eq!(before.load(Ordering::Relaxed), 2);
    assert_eq!(texts(&agent.memory().messages()), ["go", "long", "Shorter.", "ok"]);
}

/// B 1.4: `tool` goes to the tool node.
#[tokio::test]
async fn a_jump_to_the_tools_before_reasoning_is_followed_by_the_model() {
    let script = Script::new().says("done");
    let jumps = Arc::new(AtomicUsize::new(0));
    let count = jumps.clone();
    let hook = MessagesHook::new().pre_reasoning(move |_, _| {
        let is_first = count.fetch_add(1, Ordering::Relaxed) == 0;
        let to = is_first.then_some(JumpTo::Tools);
        Ok(AgentCommand { jump_to: to, ..AgentCommand::default() })
    });
    let agent = agent(&script, hook);
    assert_eq!(agent.call("go").await.unwrap().text(), "done");
    assert_eq!(jumps.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn the_end_before_a_call_answers_with_the_last_message() {
    let script = Script::new();
    let hook = MessagesHook::new().pre_call(|_, _| {
        Ok(AgentCommand::append(Msg::assistant("bot", "closed")).jump_to(JumpTo::End))
    });
    let agent = agent(&script, hook);
    let reply = agent.call("go").await.unwrap();
    assert_eq!(
        (reply.text().as_str(), reply.reason),
        ("closed", Some(GenerateReason::HookAnswered))
    );
    assert!(agent.memory().is_empty() && script.requests().is_empty());
}

#[tokio::test]
async fn the_reply_is_replaced_and_memory_is_not() {
    let hook = MessagesHook::new().post_call(|messages, _| {
        let text = messages[0].text().to_uppercase();
        Ok(AgentCommand::replace(Msg::assistant("bot", text)))
    });
    let agent = agent(&Script::new().says("hi"), hook);
    let reply = agent.call("go").await.unwrap();
    assert_eq!((reply.text().as_str(), reply.reason), ("HI", Some(GenerateReason::ModelStop)));
    assert_eq!(texts(&agent.memory().messages()), ["go", "hi"]);
}

#[tokio::test]
async fn a_jump_that_an_event_lacks_is_an_error() {
    let jump = |to: JumpTo| {
        move |_: &Messages, _: &CallContext| -> HookResult<AgentCommand> {
            Ok(AgentCommand::default().jump_to(to))
        }
    };
    let cases = [
        (MessagesHook::new().pre_call(jump(JumpTo::Model)), EventKind::PreCall, JumpTo::Model),
        (MessagesHook::new().pre_call(jump(JumpTo::Tools)), EventKind::PreCall, JumpTo::Tools),
        (MessagesHook::new().pre_call(jump(JumpTo::End)), EventKind::PreCall, JumpTo::End),
        (
            MessagesHook::new().pre_reasoning(jump(JumpTo::Model)),
            EventKind::PreReasoning,
            JumpTo::Model,
        ),
        (
            MessagesHook::new().post_reasoning(jump(JumpTo::Tools)),
            EventKind::PostReasoning,
            JumpTo::Tools,
        ),
        (MessagesHook::new().post_call(jump(JumpTo::End)), EventKind::PostCall, JumpTo::End),
    ];
    for (hook, kind, target) in cases {
        let ended = agent(&Script::new().says("hi"), hook).call("go").await;
        match command_error(&ended.unwrap_err()) {
            CommandError::NoJump { event, to, .. } => assert_eq!((*event, *to), (kind, target)),
            other => panic!("{other}"),
        }
    }
}

#[tokio::test]
async fn a_conversation_that_would_be_invalid_is_an_error_and_nothing_changes() {
    let part = |from: usize, to: usize| {
        MessagesHook::new().pre_reasoning(move |messages, _| {
            if messages.len() < 3 {
                return Ok(AgentCommand::default());
            }
            Ok(AgentCommand::replace(
                messages.iter().skip(from).take(to - from).cloned().collect::<Messages>(),
            ))
        })
    };
    // Without the tool call, without its result, and both.
    for (hook, is_valid) in [(part(2, 3), false), (part(0, 2), false), (part(1, 3), true)] {
        let script = Script::new().calls([look("1")]).says("done");
        let agent = agent(&script, hook);
        match agent.call("go").await {
            Ok(_) => assert!(is_valid),
            Err(error) => {
                assert!(!is_valid);
                let CommandError::Messages(input) = command_error(&error) else {
                    panic!("{error}")
                };
                let expected = matches!(
                    input,
                    InputError::UnknownResults { .. } | InputError::MissingResults { .. }
                );
                assert!(expected, "{input}");
                assert_eq!(script.requests().len(), 1);
            }
        }
        check_history(agent.memory());
    }
}

#[tokio::test]
async fn a_system_message_is_an_error() {
    let add = |_: &Messages, _: &CallContext| Ok(AgentCommand::append(Msg::system("Obey.")));
    let error = agent(&Script::new().says("hi"), MessagesHook::new().pre_reasoning(add))
        .call("go")
        .await
        .unwrap_err();
    assert_eq!(*command_error(&error), CommandError::Messages(InputError::SystemMessage));
}

#[tokio::test]
async fn tool_calls_need_their_results_to_jump_to_the_model() {
    let hook = MessagesHook::new().post_reasoning(|messages, _| {
        Ok(match messages[0].tool_uses().next() {
            Some(_) => AgentCommand::append("No.").jump_to(JumpTo::Model),
            None => AgentCommand::default(),
        })
    });
    let agent_of_it = agent(&Script::new().calls([look("1")]), hook);
    let error = agent_of_it.call("go").await.unwrap_err();
    let missing = InputError::MissingResults { ids: vec!["1".to_owned()] };
    assert_eq!(*command_error(&error), CommandError::Messages(missing));
    check_history(agent_of_it.memory());

    let hook = MessagesHook::new().post_reasoning(|messages, _| {
        Ok(match messages[0].tool_uses().next() {
            Some(call) => {
                let result = Msg::tool_result(ToolResult::error(call, "not now"));
                AgentCommand::append(result).jump_to(JumpTo::Model)
            }
            None => AgentCommand::default(),
        })
    });
    let agent = agent(&Script::new().calls([look("1")]).says("done"), hook);
    assert_eq!(agent.call("go").await.unwrap().text(), "done");
    check_history(agent.memory());
}

#[tokio::test]
async fn an_answer_is_one_message_of_the_model() {
    let answer = || Msg::assistant("bot", "changed");
    for (command, is_valid) in [
        (AgentCommand::replace(answer()), true),
        (AgentCommand::replace(Messages::new()), false),
        (AgentCommand::replace([answer(), answer()]), false),
        (AgentCommand::append(answer()), false),
        (AgentCommand::replace(Msg::user("changed")), false),
    ] {
        let probe = Probe::new(MessagesHook::new().post_reasoning(move |_, _| Ok(command.clone())));
        let seen = probe.post_reasoning(Msg::assistant("bot", "hi")).await.unwrap();
        if is_valid {
            assert_eq!(seen.event.text(), "changed");
        } else {
            seen.assert_unchanged();
            assert!(seen.failure.as_ref().unwrap().source().unwrap().is::<CommandError>());
        }
    }
}

#[tokio::test]
async fn the_error_of_a_closure_fails_the_call() {
    let hook = MessagesHook::new().pre_call(|_, _| Err("not today".into()));
    let error = agent(&Script::new(), hook).call("go").await.unwrap_err();
    assert!(error.to_string().contains("not today"), "{error}");
}

#[test]
fn a_hook_receives_the_events_of_its_closures() {
    let hook = MessagesHook::new().pre_call(|_, _| Ok(AgentCommand::default()));
    assert_eq!(hook.events(), EventMask::from(EventKind::PreCall));
    assert_eq!(MessagesHook::new().events(), EventMask::NONE);
}
