//! Invariants of any call, whatever the model answered and the hooks did: each tool call has
//! exactly one result, unless the call was stopped and says so; each call is settled once; the next
//! call works.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

use futures::executor::block_on;
use hooks_agent_core::agent::{AgentExt, CallOutcome};
use hooks_agent_core::call::CallOptions;
use hooks_agent_core::event::{EventMask, Flow, HookEvent};
use hooks_agent_core::hook::AgentHook;
use hooks_agent_core::message::{
    ContentBlock, GenerateReason, Messages, Msg, Role, ToolResult, ToolUse, Usage,
    unanswered_tool_uses,
};
use hooks_agent_core::model::{ChatChunk, ChatModel, ChatRequest, ChatStream, ModelError};
use hooks_agent_core::react::ReActAgent;
use hooks_agent_core::tool::{FunctionTool, Permission};
use hooks_core::HookResult;
use hooks_fixtures::Records;
use hooks_fixtures::scripted_agents::go;
use proptest::prelude::{
    Just, ProptestConfig, Strategy, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest,
};
use proptest::test_runner::TestCaseError;
use serde_json::{Value, json};

/// What the model does when it is asked.
#[derive(Clone, Debug)]
enum Answer {
    Text,
    Calls(Vec<Call>),
    Fails,
    BreaksOff,
    IsCut,
    IsEmpty,
}

/// A tool call of the model.
#[derive(Clone, Debug)]
enum Call {
    Works,
    Fails,
    Panics,
    Waits,
    Asks,
    Unknown,
    Malformed,
    SameId,
}

/// What a hook does when its time has come.
#[derive(Clone, Copy, Debug)]
enum React {
    Fail,
    Stop,
    JumpToModel,
    JumpToEnd,
    Answer,
    Interrupt,
    Wait,
}

/// A whole story.
#[derive(Clone, Debug)]
struct Story {
    answers: Vec<Answer>,
    /// At which event, counted, a hook does what.
    reactions: Vec<(usize, React)>,
    at_once: bool,
    max_iters: usize,
    /// After how many polls the future is dropped, if it has not ended.
    dropped_after: usize,
    recovers: bool,
}

fn story() -> impl Strategy<Value = Story> {
    let call = prop_oneof![
        6 => Just(Call::Works),
        1 => Just(Call::Fails),
        1 => Just(Call::Panics),
        1 => Just(Call::Waits),
        1 => Just(Call::Asks),
        1 => Just(Call::Unknown),
        1 => Just(Call::Malformed),
        1 => Just(Call::SameId),
    ];
    let answer = prop_oneof![
        2 => Just(Answer::Text),
        5 => prop::collection::vec(call, 1..4).prop_map(Answer::Calls),
        1 => Just(Answer::Fails),
        1 => Just(Answer::BreaksOff),
        1 => Just(Answer::IsCut),
        1 => Just(Answer::IsEmpty),
    ];
    let react = prop::sample::select(vec![
        React::Fail,
        React::Stop,
        React::JumpToModel,
        React::JumpToEnd,
        React::Answer,
        React::Interrupt,
        React::Wait,
    ]);
    let reactions = prop::collection::vec((0_usize..25, react), 0..3);
    let answers = prop::collection::vec(answer, 1..5);
    (answers, reactions, any::<bool>(), 1_usize..4, 1_usize..6, any::<bool>()).prop_map(
        |(answers, reactions, at_once, max_iters, dropped_after, recovers)| Story {
            answers,
            reactions,
            at_once,
            max_iters,
            dropped_after,
            recovers,
        },
    )
}

/// Answers as the story says, then with text.
struct Teller {
    answers: Vec<Answer>,
    next: AtomicUsize,
}

impl ChatModel for Teller {
    fn name(&self) -> &'static str {
        "teller"
    }

    fn stream(&self, _: ChatRequest) -> ChatStream {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let text = |text: &str| Ok(ChatChunk::Text(text.to_owned()));
        let end = || Ok(ChatChunk::end(Usage::default()));
        let error =
            || Err(ModelError::Failed { model: "m".to_owned(), reason: "broke".to_owned() });
        let chunks = match self.answers.get(number) {
            Some(Answer::Calls(calls)) => {
                let calls = calls.iter().enumerate().map(|(index, call)| {
                    Ok(ChatChunk::ToolUse(tool_use(&format!("{number}-{index}"), call)))
                });
                [text("let me see ")].into_iter().chain(calls).chain([end()]).collect()
            }
            Some(Answer::Fails) => vec![error()],
            Some(Answer::BreaksOff) => vec![text("half "), text("an "), error()],
            Some(Answer::IsCut) => vec![text("half "), text("an ")],
            Some(Answer::IsEmpty) => vec![end()],
            Some(Answer::Text) | None => vec![text("the "), text("end"), end()],
        };
        Box::pin(futures::stream::iter(chunks))
    }
}

fn tool_use(id: &str, call: &Call) -> ToolUse {
    let name = match call {
        Call::Works | Call::Malformed | Call::SameId => "works",
        Call::Fails => "fails",
        Call::Panics => "panics",
        Call::Waits => "waits",
        Call::Asks => "asks",
        Call::Unknown => "unknown",
    };
    match call {
        Call::Malformed => ToolUse::invalid(id, name, "{"),
        Call::SameId => ToolUse::new("same", name, json!({})),
        _ => ToolUse::new(id, name, json!({})),
    }
}

/// Does what the story says, counting the events that it sees.
struct Meddler {
    reactions: Vec<(usize, React)>,
    seen: AtomicUsize,
    calls: Arc<Records<(bool, CallOutcome)>>,
}

impl AgentHook for Meddler {
    fn events(&self) -> EventMask {
        EventMask::ALL
    }

    async fn on_event(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        if let HookEvent::Settled(event) = event {
            self.calls.push((true, event.outcome().clone()));
            return Ok(Flow::Continue);
        }
        let number = self.seen.fetch_add(1, Ordering::Relaxed);
        let Some((_, react)) = self.reactions.iter().find(|(at, _)| *at == number) else {
            return Ok(Flow::Continue);
        };
        match react {
            React::Fail => Err("meddled".into()),
            React::Wait => {
                tokio::task::yield_now().await;
                Ok(Flow::Continue)
            }
            React::Interrupt => {
                event.context().interrupt();
                Ok(Flow::Continue)
            }
            react => Ok(flow(event, *react)),
        }
    }
}

/// The flow, where the event has it.
fn flow(event: &HookEvent<'_>, react: React) -> Flow {
    let msg = || Msg::assistant("meddler", "by a hook");
    match (event, react) {
        (HookEvent::PreCall(event), React::Answer) => event.answer(msg()),
        (HookEvent::PreReasoning(event), React::Answer) => event.answer(msg()),
        (HookEvent::PreReasoning(event), React::Stop) => event.stop(),
        (HookEvent::PreReasoning(event), React::JumpToEnd) => event.jump_to_end(),
        (HookEvent::PreReasoning(event), React::JumpToModel) => event.jump_to_tools(),
        (HookEvent::PostReasoning(event), React::Stop) => event.stop(),
        (HookEvent::PostReasoning(event), React::JumpToEnd) => event.jump_to_end(),
        (HookEvent::PostReasoning(event), React::JumpToModel) => {
            event.jump_to_model(Messages::new()).unwrap_or_default()
        }
        (HookEvent::PreActing(event), React::Answer) => event.refuse("by a hook"),
        (HookEvent::PreActing(event), React::Stop) => event.stop(),
        (HookEvent::PreActing(event), React::JumpToEnd) => event.jump_to_end(),
        (HookEvent::PreActing(event), React::JumpToModel) => event.jump_to_model(),
        (HookEvent::PostActing(event), React::Stop) => event.stop(),
        (HookEvent::PostActing(event), React::JumpToEnd) => event.jump_to_end(),
        (HookEvent::PostActing(event), React::JumpToModel) => event.jump_to_model(),
        (HookEvent::PreSummary(event), React::Answer) => event.answer(msg()),
        (HookEvent::PreSummary(event), React::Stop) => event.stop(),
        (HookEvent::Error(event), React::Answer) => event.recover(msg()),
        _ => Flow::Continue,
    }
}

fn tools() -> Vec<FunctionTool> {
    vec![
        FunctionTool::new("works", "Works.", async |_: Value| "worked"),
        FunctionTool::new("fails", "Fails.", async |_: Value| -> Result<String, std::io::Error> {
            Err(std::io::Error::other("failed"))
        }),
        FunctionTool::new("panics", "Panics.", async |_: Value| -> String { panic!("as told") }),
        FunctionTool::new("waits", "Waits.", async |_: Value| {
            tokio::task::yield_now().await;
            "waited"
        }),
        FunctionTool::new("asks", "Asks.", async |_: Value| "asked")
            .permission(|_| Permission::Ask),
    ]
}

/// Every tool call has one result; those of one answer in the order of the calls, unless some had
/// to wait while others ran.
fn check_history(messages: &Messages, may_wait: bool, waited: bool) -> Result<(), TestCaseError> {
    let open = unanswered_tool_uses(messages);
    prop_assert!(may_wait || open.is_empty(), "unanswered: {open:?} in {messages:#?}");
    for (index, msg) in messages.iter().enumerate() {
        let ids: Vec<_> = msg.tool_uses().map(|call| &call.id).collect();
        // An id may come again in a later answer.
        let rest = messages.iter().skip(index + 1);
        let answers: Vec<_> = rest
            .take_while(|msg| msg.role != Role::Assistant)
            .flat_map(hooks_agent_core::message::Msg::tool_results)
            .map(|result| &result.id)
            .filter(|id| ids.contains(id))
            .collect();
        let mut unique = answers.clone();
        unique.dedup();
        if !waited && !ids.iter().any(|id| *id == "same") {
            prop_assert_eq!(answers, ids);
        } else {
            prop_assert_eq!(unique.len(), answers.len());
        }
    }
    Ok(())
}

fn play(story: &Story) -> Result<(), TestCaseError> {
    let calls = Arc::new(Records::new());
    let meddler = Meddler {
        reactions: story.reactions.clone(),
        seen: AtomicUsize::new(0),
        calls: calls.clone(),
    };
    let mut builder = ReActAgent::builder("bot")
        .model(Teller { answers: story.answers.clone(), next: AtomicUsize::new(0) })
        .max_iters(story.max_iters)
        .parallel_tools(story.at_once)
        .recover_pending(story.recovers)
        .hook(meddler);
    for tool in tools() {
        builder = builder.tool(tool);
    }
    let agent = builder.build().expect("it has a model");

    let mut call = Box::pin(agent.call(go()));
    let mut cx = Context::from_waker(Waker::noop());
    let mut ended = None;
    for _ in 0..story.dropped_after {
        if let Poll::Ready(reply) = call.as_mut().poll(&mut cx) {
            ended = Some(reply);
            break;
        }
    }
    drop(call);
    let settled = calls.take();
    prop_assert_eq!(settled.len(), 1, "{:?}", settled);
    let reason = match (&ended, &settled[0].1) {
        (None, outcome) => {
            prop_assert!(matches!(outcome, CallOutcome::Cancelled | CallOutcome::Interrupted));
            None
        }
        (Some(Err(error)), CallOutcome::Failed(text)) => {
            prop_assert_eq!(&error.to_string(), &**text);
            None
        }
        (Some(Ok(reply)), CallOutcome::Finished(reason)) => {
            prop_assert_eq!(&reply.reason, reason);
            *reason
        }
        (Some(Ok(reply)), CallOutcome::Interrupted) => {
            prop_assert_eq!(reply.reason, Some(GenerateReason::Interrupted));
            reply.reason
        }
        (ended, outcome) => panic!("{ended:?} was settled as {outcome}"),
    };
    let waits = matches!(
        reason,
        Some(
            GenerateReason::ReasoningStopRequested
                | GenerateReason::ActingStopRequested
                | GenerateReason::PermissionAsking
        )
    );
    let history = agent.memory().messages();
    // One that was to wait while others ran is answered last if the call fails in the end.
    let is_late = story.at_once && !matches!(settled[0].1, CallOutcome::Finished(_));
    let mut waited = waits || is_late;
    check_history(&history, waits, waited)?;

    // The next calls work, whatever happened: at most the rest of the script goes wrong.
    agent.remove_agent_hook("Meddler").expect("it is there");
    let pending = unanswered_tool_uses(&history);
    let input: Messages = if pending.is_empty() || story.recovers {
        go().into()
    } else {
        pending.iter().map(|call| Msg::tool_result(ToolResult::success(call, "by hand"))).collect()
    };
    let mut reply = block_on(agent.call(input));
    for _ in 0..story.answers.len() + 2 {
        let history = agent.memory().messages();
        let open = unanswered_tool_uses(&history);
        let waits =
            matches!(&reply, Ok(reply) if reply.reason == Some(GenerateReason::PermissionAsking));
        waited |= waits;
        check_history(&history, waits, waited)?;
        let confirmed =
            open.iter().fold(CallOptions::new(), |options, call| options.confirm(&*call.id));
        let input = if open.is_empty() { go().into() } else { Messages::new() };
        reply = block_on(agent.call_with(confirmed, input));
    }
    let reply = reply.expect("the script is over");
    let has_text = reply.content.iter().any(|block| matches!(block, ContentBlock::Text { .. }));
    prop_assert!(has_text);
    check_history(&agent.memory().messages(), false, waited)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_memory_is_valid_and_calls_are_settled_once(story in story()) {
        // The tools that panic need not fill the page.
        play(&story)?;
    }
}
