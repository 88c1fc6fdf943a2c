//! Invariants of any calls of agents three deep, whatever their hooks put in and however the calls
//! end: a text that a hook removed is nowhere, and memory has a result for each tool call that does
//! not wait.

use std::cell::Cell;
use std::collections::HashSet;
use std::fmt::Debug;
use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use futures::StreamExt;
use futures::executor::block_on;
use hooks_agent_builtin::observe::JsonlTrace;
use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::call::CallOptions;
use hooks_agent_core::event::{EventKind, EventMask, Flow, HookEvent};
use hooks_agent_core::hook::{AgentHook, priority};
use hooks_agent_core::message::{
    ContentBlock, Messages, Msg, Role, ToolResult, ToolUse, unanswered_tool_uses,
};
use hooks_agent_core::model::{ChatRequest, ScriptedAnswer, ScriptedModel};
use hooks_agent_core::react::{AgentTool, ReActAgent};
use hooks_agent_core::round::JumpTo;
use hooks_agent_core::stream::AgentEventKind;
use hooks_agent_core::tool::{FunctionTool, Permission, Tool, ToolContext, ToolFuture};
use hooks_core::{HookResult, Hookable, hook};
use hooks_fixtures::scripted_agents::go;
use hooks_fixtures::{Page, Records};
use proptest::prelude::{
    Just, ProptestConfig, Strategy, any, prop, prop_assert, prop_oneof, proptest,
};
use proptest::test_runner::TestCaseError;
use serde_json::{Value, json};

const SECRET: &str = "SECRET";

/// What a hook does when its time has come.
#[derive(Clone, Debug)]
enum React {
    Interrupt,
    /// The future is dropped.
    Hang,
    Fail,
    Panic,
    Stop,
    Say(Msg),
    Jump(Messages),
}

/// A whole story.
#[derive(Clone, Debug)]
struct Story {
    /// The tools that the models ask for, round by round; none is an answer.
    rounds: Vec<Vec<&'static str>>,
    /// At which event, counted, a hook does what.
    reactions: Vec<(usize, React)>,
    /// The messages of a jump that no event checks, and the round.
    jump: Option<(usize, Messages)>,
    inputs: Vec<Messages>,
    depth: usize,
    at_once: bool,
    recovers: bool,
    max_iters: usize,
}

fn message() -> impl Strategy<Value = Msg> {
    let id = prop::sample::select(vec!["x0", "x1", "y"]);
    let call = |id: &str| ToolUse::new(id, "works", json!({}));
    let block = (id, 0..3).prop_map(move |(id, kind)| match kind {
        0 => ContentBlock::text("by a hook"),
        1 => ContentBlock::ToolUse(call(id)),
        _ => ContentBlock::ToolResult(ToolResult::success(&call(id), "by a hook")),
    });
    let role = prop_oneof![
        3 => Just(Role::User),
        4 => Just(Role::Assistant),
        2 => Just(Role::Tool),
        1 => Just(Role::System),
    ];
    let blocks = prop::collection::vec(block, 1..3);
    (role, blocks).prop_map(|(role, content)| Msg::from_blocks(role, "meddler", content))
}

fn messages() -> impl Strategy<Value = Messages> {
    prop::collection::vec(message(), 0..4).prop_map(Messages::from)
}

fn story() -> impl Strategy<Value = Story> {
    let tool = prop::sample::select(vec!["works", "leaks", "fails", "asks", "below", "below"]);
    let rounds = prop::collection::vec(prop::collection::vec(tool, 0..3), 1..5);
    let react = prop_oneof![
        Just(React::Interrupt),
        Just(React::Hang),
        Just(React::Fail),
        Just(React::Panic),
        Just(React::Stop),
        message().prop_map(React::Say),
        messages().prop_map(React::Jump),
    ];
    let reactions = prop::collection::vec((0_usize..40, react), 0..4);
    let jump = prop::option::of((0_usize..4, messages()));
    let input =
        prop_oneof![2 => Just(Messages::from(go())), 1 => Just(Messages::new()), 1 => messages()];
    let inputs = prop::collection::vec(input, 1..5);
    let flags = (1_usize..4, any::<bool>(), any::<bool>(), 0_usize..4);
    (rounds, reactions, jump, inputs, flags).prop_map(|(rounds, reactions, jump, inputs, flags)| {
        let (depth, at_once, recovers, max_iters) = flags;
        Story { rounds, reactions, jump, inputs, depth, at_once, recovers, max_iters }
    })
}

fn has_secret(value: &impl Debug) -> bool {
    format!("{value:?}").contains(SECRET)
}

fn clean(msg: &mut Msg) {
    if has_secret(msg) {
        let text = serde_json::to_string(msg).unwrap().replace(SECRET, "***");
        *msg = serde_json::from_str(&text).unwrap();
    }
}

/// Removes the secret, before every other hook and at every depth.
struct Redact;

impl AgentHook for Redact {
    fn priority(&self) -> i32 {
        priority::VALIDATION
    }

    fn inherit(&self) -> bool {
        true
    }

    async fn on_event(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        match event {
            HookEvent::PostReasoning(event) => clean(event.message_mut()),
            HookEvent::PostSummary(event) => clean(event.message_mut()),
            HookEvent::PostActing(event) => {
                let result = event.tool_result_mut();
                result.output.map_text(|text| text.replace(SECRET, "***"));
            }
            _ => {}
        }
        Ok(Flow::Continue)
    }
}

thread_local! {
    /// Whether the call waits for what never comes.
    static HANGS: Cell<bool> = const { Cell::new(false) };
}

/// Does what the story says, counting the events that it sees.
struct Meddler {
    reactions: Vec<(usize, React)>,
    seen: AtomicUsize,
}

impl AgentHook for Meddler {
    fn events(&self) -> EventMask {
        EventMask::ALL
    }

    fn inherit(&self) -> bool {
        true
    }

    async fn on_event(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        if event.kind() == EventKind::Settled {
            return Ok(Flow::Continue);
        }
        let number = self.seen.fetch_add(1, Ordering::Relaxed);
        let Some((_, react)) = self.reactions.iter().find(|(at, _)| *at == number) else {
            return Ok(Flow::Continue);
        };
        match react {
            React::Interrupt => event.context().interrupt(),
            React::Hang => {
                HANGS.set(true);
                pending::<()>().await;
            }
            React::Fail => return Err("meddled".into()),
            React::Panic => panic!("as told"),
            react => return flow(event, react),
        }
        Ok(Flow::Continue)
    }
}

/// The flow, where the event has it.
fn flow(event: &mut HookEvent<'_>, react: &React) -> HookResult<Flow> {
    Ok(match (event, react) {
        (HookEvent::PreCall(event), React::Say(msg)) => event.answer(msg.clone()),
        (HookEvent::PreCall(event), React::Jump(messages)) => {
            event.set_messages(messages.clone());
            Flow::Continue
        }
        (HookEvent::PreReasoning(event), React::Say(msg)) => event.answer(msg.clone()),
        (HookEvent::PreReasoning(event), React::Stop) => event.stop(),
        (HookEvent::PreReasoning(event), React::Jump(_)) => event.jump_to_tools(),
        (HookEvent::PostReasoning(event), React::Say(msg)) => {
            event.set_message(msg.clone());
            event.stop()
        }
        (HookEvent::PostReasoning(event), React::Stop) => event.stop(),
        (HookEvent::PostReasoning(event), React::Jump(messages)) => {
            event.jump_to_model(messages.clone())?
        }
        (HookEvent::PreActing(event), React::Say(msg)) => {
            msg.tool_uses().for_each(|call| event.set_tool_use(call.clone()));
            Flow::Continue
        }
        (HookEvent::PreActing(event), React::Stop) => event.stop(),
        (HookEvent::PreActing(event), React::Jump(_)) => event.jump_to_model(),
        (HookEvent::PostActing(event), React::Say(msg)) => {
            msg.tool_results().for_each(|result| event.set_tool_result(result.clone()));
            Flow::Continue
        }
        (HookEvent::PostActing(event), React::Stop) => event.stop(),
        (HookEvent::PostActing(event), React::Jump(_)) => event.jump_to_model(),
        (HookEvent::PreSummary(event), React::Say(msg)) => event.answer(msg.clone()),
        (HookEvent::PreSummary(event), React::Stop) => event.stop(),
        (HookEvent::PostSummary(event), React::Say(msg)) => {
            event.set_message(msg.clone());
            Flow::Continue
        }
        (HookEvent::Error(event), React::Say(msg)) => event.recover(msg.clone()),
        _ => Flow::Continue,
    })
}

/// An agent at a depth, with those below it, the last one first.
fn agents(story: &Story, requests: &Arc<Records<ChatRequest>>) -> Vec<ReActAgent> {
    let mut agents: Vec<ReActAgent> = Vec::new();
    for level in 0..story.depth {
        let (asked, rounds, seen) = (AtomicUsize::new(0), story.rounds.clone(), requests.clone());
        let model = ScriptedModel::new("teller", move |request| -> ScriptedAnswer {
            seen.push(request.clone());
            let round = rounds.get(asked.fetch_add(1, Ordering::Relaxed));
            let calls = round.into_iter().flatten().enumerate().map(|(index, name)| {
                let input = json!({ "task": "a SECRET task" });
                ContentBlock::ToolUse(ToolUse::new(format!("x{index}"), *name, input))
            });
            let said = [ContentBlock::thinking(SECRET), ContentBlock::text("the SECRET is out")];
            said.into_iter().chain(calls).collect::<Vec<_>>().into()
        });
        let mut builder = ReActAgent::builder(format!("at {level}"))
            .model(model)
            .max_iters(story.max_iters)
            .parallel_tools(story.at_once)
            .recover_pending(story.recovers)
            .tool(FunctionTool::new("works", "Works.", async |_: Value| "worked"))
            .tool(FunctionTool::new("leaks", "Leaks.", async |_: Value| "a SECRET result"))
            .tool(FunctionTool::new("fails", "Fails.", async |_: Value| {
                Err::<String, _>(std::io::Error::other("a failure"))
            }))
            .tool(
                FunctionTool::new("asks", "Asks.", async |_: Value| "a SECRET answer")
                    .permission(|_| Permission::Ask),
            );
        if let Some(below) = agents.last() {
            builder = builder.tool(Below(below.to_tool("Works.")));
        }
        agents.push(builder.build().expect("it has a model"));
    }
    agents
}

/// The agent below as a tool of the name `below`.
struct Below(AgentTool);

impl Tool for Below {
    fn name(&self) -> &'static str {
        "below"
    }

    fn description(&self) -> &str {
        self.0.description()
    }

    fn schema(&self) -> &Value {
        self.0.schema()
    }

    fn call(&self, cx: ToolContext) -> ToolFuture<'_> {
        self.0.call(cx)
    }
}

/// Runs a call to its end, or until it hangs; returns all that its stream said but chunks.
fn hear(agent: &ReActAgent, options: CallOptions, input: Messages) -> Vec<String> {
    let mut events = agent.stream_with(options, input);
    let mut heard = Vec::new();
    HANGS.set(false);
    block_on(poll_fn(|cx| {
        loop {
            match catch_unwind(AssertUnwindSafe(|| events.poll_next_unpin(cx))) {
                Ok(Poll::Ready(Some(Ok(event)))) => match event.kind {
                    AgentEventKind::ReasoningChunk(_)
                    | AgentEventKind::SummaryChunk(_)
                    | AgentEventKind::ToolChunk { .. } => {}
                    kind => heard.push(format!("{kind:?}")),
                },
                Ok(Poll::Ready(Some(Err(error)))) => heard.push(format!("{error} {error:?}")),
                Ok(Poll::Ready(None)) | Err(_) => return Poll::Ready(()),
                Ok(Poll::Pending) if HANGS.get() => return Poll::Ready(()),
                Ok(Poll::Pending) => return Poll::Pending,
            }
        }
    }));
    heard
}

/// Each tool call has one result or waits, and each result has a call before it.
fn check_memory(agent: &ReActAgent) -> Result<(), TestCaseError> {
    let (messages, pending) = (agent.memory().messages(), agent.memory().pending());
    let open = unanswered_tool_uses(&messages);
    for call in &open {
        let of_it = |id: &str| id == call.id || id.starts_with(&format!("{}/", call.id));
        let is_listed = pending.iter().any(|pending| of_it(&pending.id));
        prop_assert!(is_listed, "{:?} does not wait in {:#?}", call, messages);
    }
    for pending in &pending {
        let id = pending.id.split('/').next().unwrap_or_default();
        prop_assert!(open.iter().any(|call| call.id == id), "{:?} waits for nothing", pending);
    }
    let mut known = HashSet::new();
    for msg in &messages {
        for result in msg.tool_results() {
            prop_assert!(
                known.contains(&result.id),
                "{} answers nothing: {messages:#?}",
                result.id
            );
        }
        known.extend(msg.tool_uses().map(|call| call.id.clone()));
        let is_misplaced = match msg.role {
            Role::System => true,
            Role::Assistant => msg.tool_results().next().is_some(),
            _ => msg.tool_uses().next().is_some(),
        };
        prop_assert!(!is_misplaced, "{msg:?}");
    }
    Ok(())
}

fn play(story: &Story) -> Result<(), TestCaseError> {
    let requests = Arc::new(Records::new());
    let agents = agents(story, &requests);
    let page = Page::default();
    let trace = JsonlTrace::to_writer(page.clone()).include_summary().flush_every_line(true);
    let trace = trace.inherit(true).priority(priority::METRICS).open().unwrap();
    let top = agents.last().expect("one at least");
    top.register_agent_hook(Redact);
    let reactions = story.reactions.clone();
    top.register_agent_hook(Meddler { reactions, seen: AtomicUsize::new(0) });
    top.register_agent_hook(trace);
    if let Some((at, messages)) = story.jump.clone() {
        let seen = AtomicUsize::new(0);
        top.register_instance_hook(
            ReActAgent::POST_REASONING,
            "jump",
            hook!(ReActAgent::POST_REASONING, async move |_, _, output| {
                if seen.fetch_add(1, Ordering::Relaxed) == at {
                    output.control.jump(JumpTo::Model, messages.clone());
                }
            }),
        );
    }
    for input in story.inputs.iter().cloned().chain([go().into()]) {
        let waiting = top.memory().pending();
        let confirmed =
            waiting.iter().fold(CallOptions::new(), |options, it| options.confirm(&*it.id));
        let heard = hear(top, confirmed, input);
        prop_assert!(!has_secret(&heard), "the stream says {heard:#?}");
        for agent in &agents {
            check_memory(agent)?;
            prop_assert!(!has_secret(agent.memory()), "memory holds {:#?}", agent.memory());
        }
    }
    let requests = requests.take();
    prop_assert!(!has_secret(&requests), "a request is {requests:#?}");
    let page = page.text();
    prop_assert!(!page.contains(SECRET), "the trace says {page}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_hooks_put_in_memory_is_valid_and_what_they_removed_is_nowhere(story in story()) {
        // The hooks that panic need not fill the page.
        play(&story)?;
    }
}
