//! Text that a hook removed or refused is nowhere, however the call ends: not in memory, the reply,
//! the stream (but for the chunks), the trace or the next request.

use std::cell::Cell;
use std::collections::VecDeque;
use std::fmt::Debug;
use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use futures::executor::block_on;
use futures::future::join;
use futures::{StreamExt, stream};
use hooks_agent_builtin::observe::JsonlTrace;
use hooks_agent_core::agent::{Agent, AgentExt};
use hooks_agent_core::call::Interrupt;
use hooks_agent_core::call::{CallContext, CallOptions};
use hooks_agent_core::event::{EventKind, EventMask, Flow, HookEvent};
use hooks_agent_core::hook::{AgentHook, CallHooks, priority};
use hooks_agent_core::message::{ContentBlock, Msg, ToolUse, Usage};
use hooks_agent_core::model::{ChatChunk, ChatModel, ChatRequest, ChatStream, ModelError};
use hooks_agent_core::react::{ReActAgent, ReActAgentBuilder};
use hooks_agent_core::stream::AgentEventKind;
use hooks_agent_core::tool::FunctionTool;
use hooks_core::{HookOptions, HookResult, Hookable, hook};
use hooks_fixtures::scripted_agents::{assert_valid, echo, echo_tool, go, on};
use hooks_fixtures::{Page, Records};
use serde_json::{Value, json};

const SECRET: &str = "SECRET";

/// What happens to the call after the hook has removed the secret.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Then {
    Interrupt,
    InterruptAndWait,
    Token,
    Drop,
    Fail,
    Panic,
}

const ENDS: [Then; 6] =
    [Then::Interrupt, Then::InterruptAndWait, Then::Token, Then::Drop, Then::Fail, Then::Panic];

thread_local! {
    /// Whether the call waits for what never comes; each test polls its calls on one thread.
    static HANGS: Cell<bool> = const { Cell::new(false) };
}

/// Waits for ever, and says so.
async fn hang() {
    HANGS.set(true);
    pending::<()>().await;
}

/// Ends the first call that it meets.
#[derive(Debug)]
struct Blow(Then, AtomicBool);

impl Blow {
    fn new(then: Then) -> Arc<Self> {
        Arc::new(Self(then, AtomicBool::new(false)))
    }

    async fn strike(&self, cx: &CallContext) -> Result<(), &'static str> {
        if self.1.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        match self.0 {
            Then::Interrupt => cx.interrupt(),
            Then::InterruptAndWait => {
                cx.interrupt();
                hang().await;
            }
            Then::Token | Then::Drop => hang().await,
            Then::Fail => return Err("refused"),
            Then::Panic => panic!("as told"),
        }
        Ok(())
    }
}

/// A model that says one list of blocks after the other. The answer `hangs_at` never ends.
struct Leaky {
    answers: Mutex<VecDeque<Vec<ContentBlock>>>,
    hangs_at: Option<usize>,
    requests: Arc<Records<ChatRequest>>,
    asked: Records<()>,
}

impl ChatModel for Leaky {
    fn name(&self) -> &'static str {
        "leaky"
    }

    fn stream(&self, request: ChatRequest) -> ChatStream {
        self.requests.push(request);
        let number = self.asked.take().len();
        (0..=number).for_each(|_| self.asked.push(()));
        let fine = || vec![ContentBlock::text("fine")];
        let blocks = self.answers.lock().unwrap().pop_front().unwrap_or_else(fine);
        let chunks = blocks.into_iter().map(|block| {
            Ok(match block {
                ContentBlock::Text { text } => ChatChunk::Text(text),
                ContentBlock::Thinking { thinking, .. } => ChatChunk::Thinking(thinking),
                ContentBlock::ToolUse(call) => ChatChunk::ToolUse(call),
                _ => unreachable!("not in these scripts"),
            })
        });
        let chunks = stream::iter(chunks.collect::<Vec<_>>());
        if self.hangs_at == Some(number) {
            return Box::pin(chunks.chain(stream::once(async {
                hang().await;
                unreachable!("it waits")
            })));
        }
        Box::pin(chunks.chain(stream::iter([Ok(ChatChunk::end(Usage::default()))])))
    }
}

type Requests = Arc<Records<ChatRequest>>;

fn leaky(answers: Vec<Vec<ContentBlock>>, hangs_at: Option<usize>) -> (Leaky, Requests) {
    let requests = Requests::default();
    let answers = Mutex::new(answers.into());
    (Leaky { answers, hangs_at, requests: requests.clone(), asked: Records::new() }, requests)
}

/// An answer with the secret in every kind of block.
fn leak() -> Vec<ContentBlock> {
    vec![
        ContentBlock::thinking("a SECRET thought"),
        ContentBlock::text("the SECRET is out"),
        ContentBlock::ToolUse(echo("SECRET-id", "SECRET")),
    ]
}

fn said(text: &str) -> Vec<ContentBlock> {
    vec![ContentBlock::text(text)]
}

/// An agent with a trace behind all other hooks, and all that can tell of its calls.
struct Scene {
    agent: ReActAgent,
    requests: Requests,
    page: Page,
}

impl Scene {
    fn new(
        answers: Vec<Vec<ContentBlock>>,
        hangs_at: Option<usize>,
        with: impl FnOnce(ReActAgentBuilder) -> ReActAgentBuilder,
    ) -> Self {
        let (model, requests) = leaky(answers, hangs_at);
        let page = Page::default();
        let trace = JsonlTrace::to_writer(page.clone()).include_summary().flush_every_line(true);
        let trace = trace.priority(priority::METRICS).open().unwrap();
        let builder = ReActAgent::builder("bot").model(model).tool(echo_tool(&Arc::default()));
        let leak = FunctionTool::new("leak", "Leaks.", async |_: Value| "the SECRET of the tool");
        let agent = with(builder.tool(leak)).hook(trace).build().unwrap();
        Self { agent, requests, page }
    }

    /// Runs the call until it ends as it should, and returns all that its stream said but chunks.
    fn live_through(&self, then: Then) -> Vec<String> {
        let token = Interrupt::new();
        let options = CallOptions::new().interrupt(token.clone());
        let mut events = self.agent.stream_with(options, go());
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
                    Ok(Poll::Pending) if !HANGS.take() => return Poll::Pending,
                    Ok(Poll::Pending) if then == Then::Token => token.interrupt(),
                    Ok(Poll::Pending | Poll::Ready(None)) | Err(_) => return Poll::Ready(()),
                }
            }
        }));
        heard
    }

    /// The secret is nowhere, now and after the next call.
    fn assert_clean(&self, heard: &[String], what: &dyn Debug) {
        assert_valid(&self.agent);
        let said = heard.join("\n");
        assert!(!said.contains(SECRET), "{what:?}: the stream says {said}");
        let memory = format!("{:?}", self.agent.memory());
        assert!(!memory.contains(SECRET), "{what:?}: memory holds {memory}");
        self.requests.take();
        let reply = block_on(self.agent.call(Msg::user("next"))).unwrap();
        assert_eq!(reply.text(), "fine", "{what:?}");
        let requests = format!("{:?}", self.requests.take());
        assert!(!requests.contains(SECRET), "{what:?}: the next request is {requests}");
        let memory = format!("{:?}", self.agent.memory());
        assert!(!memory.contains(SECRET), "{what:?}: memory holds {memory}");
        assert_valid(&self.agent);
        let page = self.page.text();
        assert!(page.contains("POST_REASONING"), "{what:?}: {page}");
        assert!(!page.contains(SECRET), "{what:?}: the trace says {page}");
    }
}

fn has_secret(value: &impl Debug) -> bool {
    format!("{value:?}").contains(SECRET)
}

fn redact(msg: &mut Msg) {
    if has_secret(msg) {
        msg.content = said("[redacted]");
    }
}

/// A hook that removes the secret at one kind of event, then strikes; or only one of both.
struct Guard {
    name: &'static str,
    kind: EventKind,
    redacts: bool,
    blow: Option<Arc<Blow>>,
}

impl AgentHook for Guard {
    fn name(&self) -> String {
        self.name.to_owned()
    }

    fn events(&self) -> EventMask {
        self.kind.into()
    }

    async fn on_event(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        let must_strike = match event {
            HookEvent::PostReasoning(event) if self.redacts => {
                let is_secret = has_secret(event.message());
                redact(event.message_mut());
                is_secret
            }
            HookEvent::PostSummary(event) if self.redacts => {
                let is_secret = has_secret(event.message());
                redact(event.message_mut());
                is_secret
            }
            HookEvent::PostActing(event) if self.redacts => {
                event.tool_result_mut().output = "[redacted]".into();
                true
            }
            HookEvent::PostCall(event) if self.redacts => {
                redact(event.final_message_mut());
                true
            }
            _ => true,
        };
        if let Some(blow) = self.blow.as_ref().filter(|_| must_strike) {
            blow.strike(event.context()).await?;
        }
        Ok(Flow::Continue)
    }
}

fn guard(kind: EventKind, then: Then) -> Guard {
    Guard { name: "guard", kind, redacts: true, blow: Some(Blow::new(then)) }
}

/// The same in two hooks: one removes the secret, a later one strikes.
fn guards(builder: ReActAgentBuilder, kind: EventKind, then: Then) -> ReActAgentBuilder {
    builder.hook(Guard { name: "redacts", kind, redacts: true, blow: None }).hook(Guard {
        name: "strikes",
        kind,
        redacts: false,
        blow: Some(Blow::new(then)),
    })
}

/// A round with a tool that is all right, then the limit: the summary is the answer with the
/// secret.
fn to_the_summary() -> Vec<Vec<ContentBlock>> {
    vec![vec![ContentBlock::ToolUse(echo("1", "all right"))], leak()]
}

fn to_the_tool() -> Vec<Vec<ContentBlock>> {
    vec![vec![ContentBlock::ToolUse(ToolUse::new("1", "leak", json!({})))]]
}

#[test]
fn what_an_event_hook_removed_of_an_answer_is_nowhere() {
    for then in ENDS {
        let kind = EventKind::PostReasoning;
        let one = Scene::new(vec![leak()], None, |it| it.hook(guard(kind, then)));
        one.assert_clean(&one.live_through(then), &(then, "one hook"));
        let two = Scene::new(vec![leak()], None, |it| guards(it, kind, then));
        two.assert_clean(&two.live_through(then), &(then, "two hooks"));
    }
}

#[test]
fn what_an_event_hook_removed_of_a_summary_is_nowhere() {
    for then in ENDS {
        let kind = EventKind::PostSummary;
        let one = Scene::new(to_the_summary(), None, |it| it.max_iters(1).hook(guard(kind, then)));
        one.assert_clean(&one.live_through(then), &(then, "one hook"));
        let two = Scene::new(to_the_summary(), None, |it| guards(it.max_iters(1), kind, then));
        two.assert_clean(&two.live_through(then), &(then, "two hooks"));
    }
}

#[test]
fn what_an_event_hook_removed_of_a_result_is_nowhere() {
    for then in ENDS {
        for at_once in [false, true] {
            let kind = EventKind::PostActing;
            let one = Scene::new(to_the_tool(), None, |it| {
                it.parallel_tools(at_once).hook(guard(kind, then))
            });
            one.assert_clean(&one.live_through(then), &(then, at_once, "one hook"));
            let two = Scene::new(to_the_tool(), None, |it| {
                guards(it.parallel_tools(at_once), kind, then)
            });
            two.assert_clean(&two.live_through(then), &(then, at_once, "two hooks"));
        }
    }
}

/// The options of a hook that runs each time, or once.
fn options(is_once: bool) -> HookOptions {
    if is_once { HookOptions::named("guard").once() } else { HookOptions::named("guard") }
}

#[test]
fn what_a_hook_after_reasoning_removed_is_nowhere() {
    for (then, is_once) in ENDS.into_iter().flat_map(|then| [(then, false), (then, true)]) {
        let scene = Scene::new(vec![leak()], None, |it| it);
        let blow = Blow::new(then);
        scene.agent.register_instance_hook(
            ReActAgent::POST_REASONING,
            options(is_once),
            hook!(ReActAgent::POST_REASONING, async move |_, args, output| {
                redact(Arc::make_mut(output.message.as_mut().unwrap()));
                blow.strike(&args.cx).await?;
                Ok(())
            }),
        );
        scene.assert_clean(&scene.live_through(then), &(then, is_once));
    }
}

#[test]
fn what_a_hook_around_reasoning_removed_is_nowhere() {
    for (then, is_once) in ENDS.into_iter().flat_map(|then| [(then, false), (then, true)]) {
        let scene = Scene::new(vec![leak()], None, |it| it);
        let blow = Blow::new(then);
        scene.agent.register_instance_hook(
            ReActAgent::AROUND_REASONING,
            options(is_once),
            hook!(ReActAgent::AROUND_REASONING, async move |_, args, next| {
                let cx = args.cx.clone();
                let mut output = next.run(args).await?;
                redact(Arc::make_mut(output.message.as_mut().unwrap()));
                blow.strike(&cx).await.map_err(|why| next.fail(why))?;
                Ok(output)
            }),
        );
        scene.assert_clean(&scene.live_through(then), &(then, is_once));
    }
}

#[test]
fn what_a_hook_after_or_around_the_summary_removed_is_nowhere() {
    for (then, is_once) in ENDS.into_iter().flat_map(|then| [(then, false), (then, true)]) {
        let after = Scene::new(to_the_summary(), None, |it| it.max_iters(1));
        let blow = Blow::new(then);
        after.agent.register_instance_hook(
            ReActAgent::POST_SUMMARIZING,
            options(is_once),
            hook!(ReActAgent::POST_SUMMARIZING, async move |_, args, output| {
                redact(Arc::make_mut(output.message.as_mut().unwrap()));
                blow.strike(&args.cx).await?;
                Ok(())
            }),
        );
        after.assert_clean(&after.live_through(then), &(then, is_once, "after"));

        let around = Scene::new(to_the_summary(), None, |it| it.max_iters(1));
        let blow = Blow::new(then);
        around.agent.register_instance_hook(
            ReActAgent::AROUND_SUMMARIZING,
            options(is_once),
            hook!(ReActAgent::AROUND_SUMMARIZING, async move |_, args, next| {
                let cx = args.cx.clone();
                let mut output = next.run(args).await?;
                redact(Arc::make_mut(output.message.as_mut().unwrap()));
                blow.strike(&cx).await.map_err(|why| next.fail(why))?;
                Ok(output)
            }),
        );
        around.assert_clean(&around.live_through(then), &(then, is_once, "around"));
    }
}

#[test]
fn what_a_hook_of_a_tool_removed_is_nowhere() {
    for (then, is_once) in ENDS.into_iter().flat_map(|then| [(then, false), (then, true)]) {
        let acting = Scene::new(to_the_tool(), None, |it| it);
        let blow = Blow::new(then);
        acting.agent.register_instance_hook(
            ReActAgent::AROUND_ACTING,
            options(is_once),
            hook!(ReActAgent::AROUND_ACTING, async move |_, args, next| {
                let cx = args.cx.clone();
                let mut output = next.run(args).await?;
                output.result.as_mut().unwrap().output = "[redacted]".into();
                blow.strike(&cx).await.map_err(|why| next.fail(why))?;
                Ok(output)
            }),
        );
        acting.assert_clean(&acting.live_through(then), &(then, is_once, "acting"));

        let tool = Scene::new(to_the_tool(), None, |it| it);
        let blow = Blow::new(then);
        tool.agent.register_instance_hook(
            ReActAgent::POST_TOOL_CALL,
            options(is_once),
            hook!(ReActAgent::POST_TOOL_CALL, async move |_, args, result| {
                result.output = "[redacted]".into();
                blow.strike(&args.cx).await?;
                Ok(())
            }),
        );
        tool.assert_clean(&tool.live_through(then), &(then, is_once, "tool call"));
    }
}

/// What the person gets is the reply, so a hook of `reply` speaks for it alone: memory has the
/// answer.
#[test]
fn what_a_hook_of_the_reply_removed_is_in_no_reply() {
    for (then, is_once) in ENDS.into_iter().flat_map(|then| [(then, false), (then, true)]) {
        let finished = |scene: &Scene| {
            let heard = scene.live_through(then);
            heard.into_iter().filter(|event| !event.starts_with("Reasoned")).collect::<Vec<_>>()
        };
        let observer = ReActAgent::builder("observer").model(leaky(vec![], None).0);
        let observer = Arc::new(observer.build().unwrap());
        let subscriber: Arc<dyn Agent> = observer.clone();
        let kept = |observer: &ReActAgent| format!("{:?}", observer.memory());

        let after = Scene::new(vec![said(SECRET)], None, |it| it);
        after.agent.state().subscribe(&subscriber);
        let blow = Blow::new(then);
        after.agent.register_instance_hook(
            ReActAgent::POST_REPLY,
            options(is_once),
            hook!(ReActAgent::POST_REPLY, async move |_, args, reply| {
                redact(reply);
                blow.strike(&args.cx).await?;
                Ok(())
            }),
        );
        assert!(!has_secret(&finished(&after)), "{then:?} {is_once}");
        assert!(!kept(&observer).contains(SECRET), "{then:?} {is_once}");

        let around = Scene::new(vec![said(SECRET)], None, |it| it);
        around.agent.state().subscribe(&subscriber);
        let blow = Blow::new(then);
        around.agent.register_instance_hook(
            ReActAgent::AROUND_REPLY,
            options(is_once),
            hook!(ReActAgent::AROUND_REPLY, async move |_, args, next| {
                let cx = args.cx.clone();
                let mut reply = next.run(args).await?;
                redact(&mut reply);
                blow.strike(&cx).await.map_err(|why| next.fail(why))?;
                Ok(reply)
            }),
        );
        assert!(!has_secret(&finished(&around)), "{then:?} {is_once}");
        assert!(!kept(&observer).contains(SECRET), "{then:?} {is_once}");

        let event =
            Scene::new(vec![said(SECRET)], None, |it| guards(it, EventKind::PostCall, then));
        event.agent.state().subscribe(&subscriber);
        assert!(!has_secret(&finished(&event)), "{then:?} {is_once}");
        assert!(!kept(&observer).contains(SECRET), "{then:?} {is_once}");
    }
}

#[test]
fn a_hook_of_replies_that_comes_during_the_call_has_to_see_the_reply_too() {
    let answers = vec![vec![ContentBlock::text(SECRET), ContentBlock::ToolUse(echo("1", "wait"))]];
    let hook = on(EventKind::PreActing, |event| {
        let HookEvent::PreActing(event) = event else { unreachable!() };
        event.agent().register_call_hook(guard(EventKind::PostCall, Then::Fail));
        event.context().interrupt();
        Ok(Flow::Continue)
    });
    let model = leaky(answers, None).0;
    let builder = ReActAgent::builder("bot").model(model).tool(echo_tool(&Arc::default()));
    let agent = builder.hook(hook).build().unwrap();
    let reply = block_on(agent.call(go())).unwrap();
    assert!(!has_secret(&reply), "{reply:?}");
}

/// Hooks that would have seen the answer, had it been complete.
#[test]
fn half_an_answer_that_a_hook_was_to_see_is_nowhere() {
    for then in [Then::Token, Then::Drop] {
        let kind = EventKind::PostReasoning;
        let event = Scene::new(vec![leak()], Some(0), |it| it.hook(guard(kind, Then::Fail)));
        event.assert_clean_after_half(then, "event");
        let summary = Scene::new(to_the_summary(), Some(1), |it| {
            it.max_iters(1).hook(guard(EventKind::PostSummary, Then::Fail))
        });
        summary.assert_clean_after_half(then, "summary");
        for is_once in [false, true] {
            let post = Scene::new(vec![leak()], Some(0), |it| it);
            post.agent.register_instance_hook(
                ReActAgent::POST_REASONING,
                options(is_once),
                hook!(ReActAgent::POST_REASONING, async |_, _, output| {
                    redact(Arc::make_mut(output.message.as_mut().unwrap()));
                }),
            );
            post.assert_clean_after_half(then, "post");
            let around = Scene::new(vec![leak()], Some(0), |it| it);
            around.agent.register_instance_hook(
                ReActAgent::AROUND_REASONING,
                options(is_once),
                hook!(ReActAgent::AROUND_REASONING, async |_, args, next| {
                    let mut output = next.run(args).await?;
                    redact(Arc::make_mut(output.message.as_mut().unwrap()));
                    Ok(output)
                }),
            );
            around.assert_clean_after_half(then, "around");
        }
    }
}

impl Scene {
    /// The trace sees no answer here, which is no matter.
    fn assert_clean_after_half(&self, then: Then, what: &str) {
        let heard = self.live_through(then);
        self.assert_clean(&heard, &(then, what, "half an answer"));
    }
}

#[test]
fn a_first_answer_that_a_hook_rejected_is_nowhere_however_the_second_ends() {
    for then in [Then::Token, Then::Drop, Then::Fail, Then::Panic, Then::Interrupt] {
        let hangs = matches!(then, Then::Token | Then::Drop).then_some(1);
        let scene = Scene::new(vec![leak(), said("half of ")], hangs, |it| it);
        let blow = Blow::new(then);
        let is_first = AtomicBool::new(true);
        scene.agent.register_instance_hook(
            ReActAgent::AROUND_REASONING,
            "reject",
            hook!(ReActAgent::AROUND_REASONING, async move |_, mut args, next| {
                let output = next.run(args.clone()).await?;
                if !is_first.swap(false, Ordering::Relaxed) {
                    return Ok(output);
                }
                args.input.messages.push(Msg::user("say it otherwise"));
                let cx = args.cx.clone();
                let output = next.run(args).await?;
                blow.strike(&cx).await.map_err(|why| next.fail(why))?;
                Ok(output)
            }),
        );
        let heard = scene.live_through(then);
        scene.assert_clean(&heard, &then);
    }
}

#[test]
fn a_first_answer_that_a_hook_replaced_and_sent_back_is_nowhere() {
    for then in [Then::Token, Then::Drop] {
        let scene = Scene::new(vec![leak(), said("half of ")], Some(1), |it| {
            it.hook(on(EventKind::PostReasoning, |event| {
                let HookEvent::PostReasoning(event) = event else { unreachable!() };
                if !has_secret(event.message()) {
                    return Ok(Flow::Continue);
                }
                event.set_message(Msg::assistant("bot", "[redacted]"));
                Ok(event.jump_to_model(Msg::user("say it otherwise"))?)
            }))
        });
        scene.assert_clean(&scene.live_through(then), &then);
    }
}

/// A model whose answers come word by word, each after a pause.
struct Slow(AtomicBool);

impl ChatModel for Slow {
    fn name(&self) -> &'static str {
        "slow"
    }

    fn stream(&self, _: ChatRequest) -> ChatStream {
        let who = if self.0.swap(true, Ordering::Relaxed) { "B" } else { "A" };
        let words = stream::iter(0..3).then(move |number| async move {
            tokio::task::yield_now().await;
            Ok::<_, ModelError>(ChatChunk::Text(format!("{who}{number} ")))
        });
        Box::pin(words.chain(stream::iter([Ok(ChatChunk::end(Usage::default()))])))
    }
}

/// An agent that reads two answers at once and takes the second.
fn two_at_once() -> (ReActAgent, Arc<Records<String>>) {
    let seen = Arc::new(Records::new());
    let chunks = seen.clone();
    let look = on(EventKind::ReasoningChunk, move |event| {
        let HookEvent::ReasoningChunk(event) = event else { unreachable!() };
        chunks.push(event.accumulated().text());
        Ok(Flow::Continue)
    });
    let model = Slow(AtomicBool::new(false));
    let agent = ReActAgent::builder("bot").model(model).hook(look).build().unwrap();
    agent.register_instance_hook(
        ReActAgent::AROUND_REASONING,
        "race",
        hook!(ReActAgent::AROUND_REASONING, async |_, args, next| {
            join(next.run(args.clone()), next.run(args)).await.1
        }),
    );
    (agent, seen)
}

#[tokio::test]
async fn two_answers_that_are_read_at_once_do_not_mix() {
    let (agent, seen) = two_at_once();
    assert_eq!(agent.call(go()).await.unwrap().text(), "B0 B1 B2 ");
    for text in seen.take() {
        assert!(!text.contains('A') || !text.contains('B'), "{text}");
    }
    let texts: Vec<_> =
        agent.memory().messages().iter().map(hooks_agent_core::message::Msg::text).collect();
    assert_eq!(texts, ["go", "B0 B1 B2 "]);
}

#[test]
fn two_answers_that_are_read_at_once_and_dropped_leave_no_text() {
    for polls in 1..12 {
        let (agent, _) = two_at_once();
        let mut call = Box::pin(agent.call(go()));
        let mut cx = Context::from_waker(Waker::noop());
        let is_over = (0..polls).any(|_| call.as_mut().poll(&mut cx).is_ready());
        drop(call);
        if is_over {
            continue;
        }
        let memory = agent.memory().messages();
        for msg in memory.iter().skip(1) {
            assert_eq!(msg.text(), "[the answer was interrupted]", "{polls}");
        }
    }
}

/// A hook may ask the agent's model on its own; what it heard is not part of the call.
#[test]
fn an_answer_that_a_hook_asked_for_itself_is_not_taken_for_that_of_the_call() {
    let model = leaky(vec![said(SECRET)], Some(0)).0;
    let agent = ReActAgent::builder("bot").model(model).build().unwrap();
    agent.register_instance_hook(
        ReActAgent::PRE_SYSTEM_PROMPT,
        "ask",
        hook!(ReActAgent::PRE_SYSTEM_PROMPT, async |agent: &ReActAgent, args| {
            let input = hooks_agent_core::round::ReasoningInput::new("m", go());
            let mut aside = Box::pin(agent.reasoning(args.cx.clone(), input));
            assert!(futures::poll!(&mut aside).is_pending());
            drop(aside);
            args.cx.interrupt();
        }),
    );
    block_on(agent.call(go())).unwrap();
    assert!(!has_secret(agent.memory()), "{:?}", agent.memory());
}

/// An agent whose model never ends its answer of these blocks.
fn unending(blocks: Vec<ContentBlock>) -> ReActAgentBuilder {
    ReActAgent::builder("bot").model(leaky(vec![blocks], Some(0)).0)
}

/// Polls a call until its model hangs, lets something happen, then drops the call.
fn drop_in_mid_answer(agent: &ReActAgent, meanwhile: impl FnOnce()) {
    let mut call = Box::pin(agent.call(go()));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(call.as_mut().poll(&mut cx).is_pending());
    meanwhile();
}

#[test]
fn of_an_answer_without_text_nothing_is_kept() {
    let look = || on(EventKind::PostReasoning, |_| Ok(Flow::Continue));
    let half = vec![ContentBlock::ToolUse(echo("a", "A"))];
    for builder in [unending(vec![]).hook(look()), unending(half)] {
        let agent = builder.build().unwrap();
        drop_in_mid_answer(&agent, || ());
        assert_eq!(agent.memory().messages().len(), 1);
    }
}

#[test]
fn of_an_answer_that_a_hook_was_to_see_at_its_start_or_its_end_no_text_is_kept() {
    let look = || on(EventKind::PostReasoning, |_| Ok(Flow::Continue));
    let agent = unending(said(SECRET)).hook(look()).build().unwrap();
    drop_in_mid_answer(&agent, || agent.remove_agent_hook(&look().name()).unwrap());
    assert!(!has_secret(agent.memory()), "a hook that is gone: {:?}", agent.memory());

    let agent = unending(said(SECRET)).build().unwrap();
    drop_in_mid_answer(&agent, || agent.register_agent_hook(look()));
    assert!(!has_secret(agent.memory()), "a hook that came: {:?}", agent.memory());
}

#[test]
fn of_a_summary_that_a_hook_around_it_was_to_see_no_text_is_kept() {
    let tools = vec![ContentBlock::ToolUse(echo("a", "A"))];
    let model = leaky(vec![tools, said(SECRET)], Some(1)).0;
    let builder = ReActAgent::builder("bot").model(model).max_iters(1);
    let agent = builder.tool(echo_tool(&Arc::default())).build().unwrap();
    agent.register_instance_hook(
        ReActAgent::AROUND_SUMMARIZING,
        "review",
        hook!(ReActAgent::AROUND_SUMMARIZING, async |_, args, next| next.run(args).await),
    );
    drop_in_mid_answer(&agent, || ());
    assert!(!has_secret(agent.memory()), "{:?}", agent.memory());
    assert_valid(&agent);
}

/// Waits at errors, for ever.
struct WaitsAtErrors;

impl AgentHook for WaitsAtErrors {
    fn events(&self) -> EventMask {
        EventKind::Error.into()
    }

    async fn on_event(&self, _: &mut HookEvent<'_>) -> HookResult<Flow> {
        pending().await
    }
}

/// An agent whose model says the secret, then what this stream says.
fn breaks_off(rest: fn() -> Result<ChatChunk, ModelError>) -> ReActAgentBuilder {
    struct BreaksOff(fn() -> Result<ChatChunk, ModelError>);

    impl ChatModel for BreaksOff {
        fn name(&self) -> &'static str {
            "breaks off"
        }

        fn stream(&self, _: ChatRequest) -> ChatStream {
            let rest = self.0;
            let secret = stream::iter([Ok(ChatChunk::Text(SECRET.to_owned()))]);
            Box::pin(secret.chain(stream::once(async move { rest() })))
        }
    }

    ReActAgent::builder("bot").model(BreaksOff(rest))
}

#[test]
fn of_an_answer_of_a_model_that_fails_or_panics_nothing_is_kept() {
    let failed = || {
        let (model, reason) = ("m".to_owned(), "as told".to_owned());
        Err(ModelError::Failed { model, reason })
    };
    let agent = breaks_off(failed).hook(WaitsAtErrors).build().unwrap();
    drop_in_mid_answer(&agent, || ());
    assert_eq!(agent.memory().messages().len(), 1, "failed: {:?}", agent.memory());

    let agent = breaks_off(|| panic!("as told")).build().unwrap();
    catch_unwind(AssertUnwindSafe(|| block_on(agent.call(go())))).unwrap_err();
    assert_eq!(agent.memory().messages().len(), 1, "panicked: {:?}", agent.memory());
}
