//! Calls of agents: contexts, threads that queue, interrupts, dropped calls, subscribers,
//! sub-agents.

use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use futures::future::join_all;
use futures::{StreamExt, poll, stream};
use hooks_agent_core::agent::{Agent, AgentExt, CallOutcome};
use hooks_agent_core::call::Interrupt;
use hooks_agent_core::call::{CallOptions, RunId};
use hooks_agent_core::error::AgentError;
use hooks_agent_core::event::{EventKind, EventMask, Flow, HookEvent};
use hooks_agent_core::hook::{AgentHook, CallHooks};
use hooks_agent_core::message::{
    ContentBlock, GenerateReason, Messages, Msg, PendingReason, Role, ToolUse,
};
use hooks_agent_core::model::{
    ChatChunk, ChatModel, ChatRequest, ChatStream, ScriptedAnswer, ScriptedModel,
};
use hooks_agent_core::react::ReActAgent;
use hooks_agent_core::tool::{FunctionTool, ToolContext};
use hooks_agent_core::user::UserAgent;
use hooks_core::{HookResult, Hookable, hook};
use hooks_fixtures::Records;
use hooks_fixtures::scripted_agents::{
    Notes, assert_valid, echo, echo_tool, go, on, results, script, uses,
};
use serde_json::{Value, json};
use tokio::sync::Notify;

/// A model that answers a few words, then waits for `go_on`.
struct Hesitant {
    go_on: Arc<Notify>,
}

impl ChatModel for Hesitant {
    fn name(&self) -> &'static str {
        "hesitant"
    }

    fn stream(&self, _: ChatRequest) -> ChatStream {
        let words = ["let ", "me "].map(|word| Ok(ChatChunk::Text(word.to_owned())));
        let call = Ok(ChatChunk::ToolUse(echo("half", "made")));
        let go_on = self.go_on.clone();
        let rest = stream::once(async move {
            go_on.notified().await;
            Ok(ChatChunk::Text("think".to_owned()))
        });
        let end = stream::iter([Ok(ChatChunk::end(hooks_agent_core::message::Usage::default()))]);
        Box::pin(stream::iter(words).chain(stream::iter([call])).chain(rest).chain(end))
    }
}

fn hesitant(notes: &Notes) -> (ReActAgent, Arc<Notify>) {
    let go_on = Arc::new(Notify::new());
    let model = Hesitant { go_on: go_on.clone() };
    (ReActAgent::builder("bot").model(model).hook(notes.clone()).build().unwrap(), go_on)
}

/// Notes how calls end.
#[derive(Clone, Default)]
struct Ends(Arc<Records<CallOutcome>>);

impl AgentHook for Ends {
    fn events(&self) -> EventMask {
        EventKind::Settled.into()
    }

    async fn on_event(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        if let HookEvent::Settled(event) = event {
            self.0.push(event.outcome().clone());
        }
        Ok(Flow::Continue)
    }
}

#[tokio::test]
async fn an_interrupt_in_mid_answer_keeps_what_was_said_if_no_hook_was_to_see_it() {
    let go_on = Arc::new(Notify::new());
    let agent = ReActAgent::builder("bot").model(Hesitant { go_on }).build().unwrap();
    let token = Interrupt::new();
    let mut call = pin!(agent.call_with(CallOptions::new().interrupt(token.clone()), go()));
    assert!(poll!(&mut call).is_pending());
    token.interrupt();
    let reply = call.await.unwrap();
    // The half-made tool call is given up, and memory says what the person has seen.
    assert_eq!(
        (reply.text().as_str(), reply.reason),
        ("let me ", Some(GenerateReason::Interrupted))
    );
    let memory = agent.memory().messages();
    assert_eq!(
        memory.iter().map(hooks_agent_core::message::Msg::text).collect::<Vec<_>>(),
        ["go", "let me "]
    );
    assert_valid(&agent);
}

#[tokio::test]
async fn an_interrupt_in_mid_answer_keeps_no_text_that_hooks_were_to_see() {
    let notes = Notes::default();
    let (agent, _go_on) = hesitant(&notes);
    let token = Interrupt::new();
    let mut call = pin!(agent.call_with(CallOptions::new().interrupt(token.clone()), go()));
    assert!(poll!(&mut call).is_pending());
    token.interrupt();
    let reply = call.await.unwrap();
    // Hooks were to see the answer and the reply, so the text is in neither.
    assert_eq!((reply.text().as_str(), reply.reason), ("", Some(GenerateReason::Interrupted)));
    let memory = agent.memory().messages();
    let texts: Vec<_> = memory.iter().map(hooks_agent_core::message::Msg::text).collect();
    assert_eq!(texts, ["go", "[the answer was interrupted]"]);
    assert_valid(&agent);
    let kinds = notes.0.take();
    assert_eq!(kinds.last(), Some(&EventKind::Settled));
    for not in [EventKind::PostReasoning, EventKind::PostCall, EventKind::Error] {
        assert!(!kinds.contains(&not), "{not}");
    }
}

#[tokio::test]
async fn an_interrupt_cannot_be_caught() {
    let ends = Ends::default();
    let go_on = Arc::new(Notify::new());
    let agent = ReActAgent::builder("bot")
        .model(Hesitant { go_on })
        .hook(ends.clone())
        .hook(on(EventKind::Error, |_| unreachable!("an interrupt is no error")))
        .build()
        .unwrap();
    agent.register_instance_hook(
        ReActAgent::AROUND_REASONING,
        "retry",
        hook!(ReActAgent::AROUND_REASONING, async |_, args, next| {
            let _ = next.run(args.clone()).await;
            next.run(args).await
        }),
    );
    let token = Interrupt::new();
    let mut call = pin!(agent.call_with(CallOptions::new().interrupt(token.clone()), go()));
    assert!(poll!(&mut call).is_pending());
    token.interrupt();
    assert_eq!(call.await.unwrap().reason, Some(GenerateReason::Interrupted));
    assert_eq!(ends.0.take(), [CallOutcome::Interrupted]);
}

#[tokio::test]
async fn a_hook_or_a_tool_may_interrupt_its_call_at_any_event() {
    for kind in EventKind::ALL {
        if [EventKind::Error, EventKind::Settled, EventKind::PostCall, EventKind::ActingChunk]
            .contains(&kind)
        {
            continue;
        }
        let ends = Ends::default();
        let ran = Arc::new(Records::<String>::new());
        let (model, _) = script([uses([echo("a", "A"), echo("b", "B")]), "summary ".into()]);
        let agent = ReActAgent::builder("bot")
            .model(model)
            .tool(echo_tool(&ran))
            .max_iters(1)
            .hook(ends.clone())
            .hook(on(kind, |event| {
                event.context().interrupt();
                Ok(Flow::Continue)
            }))
            .build()
            .unwrap();
        let reply = agent.call(go()).await.unwrap();
        let is_last = kind == EventKind::PostSummary;
        assert_eq!(reply.reason == Some(GenerateReason::Interrupted), !is_last, "{kind}");
        assert_valid(&agent);
        if kind == EventKind::PostActing {
            assert_eq!(ran.take(), ["A"]);
            let interrupted = "! the run was interrupted before this call was answered";
            let expected = [("a", "A"), ("b", interrupted)];
            assert_eq!(results(&agent), expected.map(|(id, text)| (id.into(), text.into())));
        }
        assert_eq!(ends.0.take().len(), 1);
    }
}

#[tokio::test]
async fn a_call_that_is_interrupted_before_it_begins_does_nothing() {
    let notes = Notes::default();
    let (agent, _) = hesitant(&notes);
    let token = Interrupt::new();
    token.interrupt();
    let reply = agent.call_with(CallOptions::new().interrupt(token), go()).await.unwrap();
    assert_eq!((reply.content.len(), reply.reason), (0, Some(GenerateReason::Interrupted)));
    assert!(agent.memory().messages().is_empty());
    assert_eq!(notes.0.take(), [EventKind::Settled]);
}

#[tokio::test]
async fn a_call_that_is_dropped_is_settled_and_keeps_what_was_said() {
    let ends = Ends::default();
    let go_on = Arc::new(Notify::new());
    let agent =
        ReActAgent::builder("bot").model(Hesitant { go_on }).hook(ends.clone()).build().unwrap();
    let mut call = Box::pin(agent.call(go()));
    assert!(poll!(&mut call).is_pending());
    drop(call);
    assert_eq!(ends.0.take(), [CallOutcome::Cancelled]);
    assert_eq!(agent.memory().messages().last().unwrap().text(), "let me ");
    assert_valid(&agent);
}

#[tokio::test]
async fn every_end_of_a_call_is_settled_once() {
    let ends = Ends::default();
    let agent = |answers: Vec<ScriptedAnswer>| {
        let (model, _) = script(answers);
        let builder = ReActAgent::builder("bot").model(model).hook(ends.clone());
        builder.hook(on(EventKind::Settled, |_| panic!("as told"))).build().unwrap()
    };
    agent(vec!["fine".into()]).call(go()).await.unwrap();
    agent(Vec::new()).call(go()).await.unwrap_err();
    let panicking = agent(vec!["fine".into()]);
    panicking.register_agent_hook(on(EventKind::PreReasoning, |_| panic!("as told")));
    let call = tokio::spawn(async move { panicking.call(go()).await });
    assert!(call.await.unwrap_err().is_panic());
    let expected = [
        CallOutcome::Finished(Some(GenerateReason::ModelStop)),
        CallOutcome::Failed("model `scripted` failed: the script is over".into()),
        CallOutcome::Panicked,
    ];
    assert_eq!(ends.0.take(), expected);
}

#[tokio::test]
async fn calls_on_one_thread_queue_and_calls_on_several_run_at_once() {
    let order = Arc::new(Records::<String>::new());
    let (noted, gate) = (order.clone(), Arc::new(Notify::new()));
    let wait = gate.clone();
    let agent = ReActAgent::builder("bot")
        .model(ScriptedModel::new("counter", |request| request.messages.len().to_string()))
        .hook(on(EventKind::Settled, {
            let noted = noted.clone();
            move |event| {
                noted.push(format!("{} ends", event.context().thread_id()));
                Ok(Flow::Continue)
            }
        }))
        .build()
        .unwrap();
    agent.register_instance_hook(
        ReActAgent::PRE_REPLY,
        "gate",
        hook!(ReActAgent::PRE_REPLY, async move |_, args| {
            noted.push(format!("{} begins", args.cx.thread_id()));
            if args.cx.thread_id() == "slow" {
                wait.notified().await;
            }
        }),
    );
    let on_thread = |thread: &'static str| agent.call_with(CallOptions::new().thread(thread), go());
    let mut slow = pin!(on_thread("slow"));
    assert!(poll!(&mut slow).is_pending());
    let mut behind = pin!(on_thread("slow"));
    assert!(poll!(&mut behind).is_pending());
    // Another thread does not wait, nor does it see what is said elsewhere.
    assert_eq!(on_thread("fast").await.unwrap().text(), "1");
    assert_eq!(order.take(), ["slow begins", "fast begins", "fast ends"]);
    gate.notify_one();
    assert_eq!(slow.await.unwrap().text(), "1");
    assert_eq!(order.take(), ["slow ends"]);
    gate.notify_one();
    assert_eq!(behind.await.unwrap().text(), "3");
    assert_eq!(order.take(), ["slow begins", "slow ends"]);
    assert_eq!(agent.threads().memory("slow").unwrap().messages().len(), 4);
    assert!(agent.memory().messages().is_empty());
    assert!(agent.threads().forget("slow") && !agent.threads().forget("slow"));
    gate.notify_one();
    assert_eq!(on_thread("slow").await.unwrap().text(), "1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_calls_at_once_keep_their_contexts_apart() {
    let seen = Arc::new(Records::<(u32, u32)>::new());
    let noted = seen.clone();
    let whoami = FunctionTool::with_context(
        "whoami",
        "Says who asks.",
        async |_: Value, cx: ToolContext| {
            tokio::task::yield_now().await;
            cx.get::<u32>().unwrap().to_string()
        },
    );
    let model = ScriptedModel::new("m", |request: &ChatRequest| -> ScriptedAnswer {
        match request.messages.last().and_then(|msg| msg.tool_results().next().cloned()) {
            Some(result) => result.output.as_str().into(),
            None => ToolUse::new("1", "whoami", json!({})).into(),
        }
    });
    let agent = ReActAgent::builder("bot")
        .model(model)
        .tool(whoami)
        .hook(on(EventKind::PostCall, move |event| {
            let user = *event.context().get::<u32>().unwrap();
            let HookEvent::PostCall(event) = event else { unreachable!() };
            noted.push((user, event.final_message().text().parse()?));
            Ok(Flow::Continue)
        }))
        .build()
        .unwrap();
    let agent = Arc::new(agent);
    let calls = (0..64_u32).map(|user| {
        let agent = agent.clone();
        tokio::spawn(async move {
            let options = CallOptions::new().thread(format!("thread {}", user % 16)).value(user);
            agent.call_with(options, Msg::user("who am I?")).await.map(|reply| reply.text())
        })
    });
    for (user, reply) in join_all(calls).await.into_iter().enumerate() {
        assert_eq!(reply.unwrap().unwrap(), user.to_string());
    }
    let seen = seen.take();
    assert_eq!(seen.len(), 64);
    assert!(seen.iter().all(|(user, said)| user == said));
}

#[tokio::test]
async fn subscribers_observe_the_reply() {
    let listener = Arc::new(
        ReActAgent::builder("listener").model(ScriptedModel::new("m", |_| ".")).build().unwrap(),
    );
    let dyn_listener: Arc<dyn Agent> = listener.clone();
    let speaker = ReActAgent::builder("speaker")
        .model(ScriptedModel::new("m", |_| "hear me"))
        .hook(on(EventKind::PostCall, |event| {
            let HookEvent::PostCall(event) = event else { unreachable!() };
            event.final_message_mut().push_text("!");
            Ok(Flow::Continue)
        }))
        .build()
        .unwrap();
    speaker.state().subscribe(&dyn_listener);
    speaker.call(go()).await.unwrap();
    let heard = listener.memory().messages();
    assert_eq!((heard[0].name.as_str(), heard[0].text().as_str()), ("speaker", "hear me!"));
    speaker.state().unsubscribe(&*dyn_listener);
    speaker.call(go()).await.unwrap();
    assert_eq!(listener.memory().messages().len(), 1);
}

#[tokio::test]
async fn an_agent_is_called_through_dyn_and_a_hook_of_all_agents_runs() {
    let notes = Notes::default();
    let agents: Vec<Box<dyn Agent>> = vec![
        Box::new(
            ReActAgent::builder("bot")
                .model(ScriptedModel::new("m", |_| "by a model"))
                .build()
                .unwrap(),
        ),
        Box::new(UserAgent::builder("ada").input(&b"by a person\n"[..]).build()),
    ];
    let mut said = Vec::new();
    for agent in &agents {
        agent.register_call_hook(notes.clone());
        said.push(agent.call(go()).await.unwrap().text());
    }
    assert_eq!(said, ["by a model", "by a person"]);
    assert_eq!(
        notes.0.take(),
        [EventKind::PreCall, EventKind::PostCall, EventKind::Settled].repeat(2)
    );
    assert_ne!(agents[0].id(), agents[1].id());
}

#[tokio::test]
async fn a_person_is_shown_what_is_said_and_what_was_typed_is_not_lost() {
    let shown = Arc::new(Records::<String>::new());
    let page = shown.clone();
    let (mut typing, keyboard) = tokio::io::duplex(64);
    let user = UserAgent::builder("ada")
        .input(tokio::io::BufReader::new(keyboard))
        .printer(move |text| page.push(text.to_owned()))
        .build();
    tokio::io::AsyncWriteExt::write_all(&mut typing, b"half a ").await.unwrap();
    let mut call = Box::pin(user.call(Msg::assistant("bot", "Well?")));
    assert!(poll!(&mut call).is_pending());
    drop(call);
    tokio::io::AsyncWriteExt::write_all(&mut typing, b"line\r\n").await.unwrap();
    assert_eq!(user.call(Messages::new()).await.unwrap().text(), "half a line");
    assert_eq!(shown.take(), ["Well?"]);
    drop(typing);
    assert!(matches!(user.call(Messages::new()).await, Err(AgentError::EndOfInput { .. })));
}

/// Notes the agent and the run of the events that it sees.
#[derive(Clone, Default)]
struct Govern(Arc<Records<(String, RunId, Option<RunId>)>>);

impl AgentHook for Govern {
    fn inherit(&self) -> bool {
        true
    }

    fn events(&self) -> EventMask {
        EventMask::of(&[EventKind::PreCall, EventKind::PreActing])
    }

    async fn on_event(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        let cx = event.context();
        let parent = cx.parent().map(hooks_agent_core::call::CallContext::run_id);
        self.0.push((cx.agent_name().to_owned(), cx.run_id(), parent));
        if let HookEvent::PreActing(event) = event
            && event.tool_use().input["text"] == "forbidden"
        {
            return Ok(event.refuse("not here either"));
        }
        Ok(Flow::Continue)
    }
}

/// An agent that asks for one tool call and then says what it gave.
fn relay(name: &'static str, call: ToolUse) -> hooks_agent_core::react::ReActAgentBuilder {
    let model = ScriptedModel::new(name, move |request: &ChatRequest| -> ScriptedAnswer {
        match request.messages.last().and_then(|msg| msg.tool_results().next().cloned()) {
            Some(result) => result.output.as_str().into(),
            None => call.clone().into(),
        }
    });
    ReActAgent::builder(name).model(model)
}

#[tokio::test]
async fn sub_agents_inherit_hooks_that_govern_at_any_depth() {
    let (govern, own) = (Govern::default(), Notes::default());
    let ran = Arc::new(Records::<String>::new());
    let worker = relay("worker", echo("1", "forbidden")).tool(echo_tool(&ran)).build().unwrap();
    let chief = relay("chief", ToolUse::new("2", "worker", json!({ "task": "work" })))
        .tool(worker.to_tool("Works."))
        .build()
        .unwrap();
    let boss = relay("boss", ToolUse::new("3", "chief", json!({ "task": "have it done" })))
        .tool(chief.to_tool("Has it done."))
        .hook(govern.clone())
        .hook(own.clone())
        .build()
        .unwrap();
    assert_eq!(boss.call(go()).await.unwrap().text(), "not here either");
    assert_eq!(ran.take(), [] as [String; 0]);
    let seen = govern.0.take();
    let names: Vec<_> = seen.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names, ["boss", "boss", "chief", "chief", "worker", "worker"]);
    assert_eq!((seen[0].2, seen[2].2, seen[4].2), (None, Some(seen[0].1), Some(seen[2].1)));
    // A hook that does not govern sees its own agent alone.
    assert_eq!(own.0.take().iter().filter(|kind| **kind == EventKind::PreCall).count(), 1);
    // Alone, the worker is its own master.
    assert_eq!(worker.call(go()).await.unwrap().text(), "forbidden");
    assert_eq!(ran.take(), ["forbidden"]);
}

#[tokio::test]
async fn an_interrupt_reaches_sub_agents_and_costs_are_summed() {
    let notes = Notes::default();
    let go_on = Arc::new(Notify::new());
    let slow =
        ReActAgent::builder("slow").model(Hesitant { go_on }).hook(notes.clone()).build().unwrap();
    let boss = relay("boss", ToolUse::new("1", "slow", json!({ "task": "think" })))
        .tool(slow.to_tool("Thinks."))
        .build()
        .unwrap();
    let token = Interrupt::new();
    let mut call = pin!(boss.call_with(CallOptions::new().interrupt(token.clone()), go()));
    assert!(matches!(poll!(&mut call), Poll::Pending));
    token.interrupt();
    assert_eq!(call.await.unwrap().reason, Some(GenerateReason::Interrupted));
    assert_eq!(notes.0.take().last(), Some(&EventKind::Settled));
    assert_eq!(slow.memory().messages().last().unwrap().text(), "[the answer was interrupted]");
    assert_valid(&boss);
    assert_valid(&slow);

    let usage = hooks_agent_core::message::Usage::new(10, 1);
    let (model, _) = script([ScriptedAnswer::from("hi").costing(usage)]);
    let sub = ReActAgent::builder("sub").model(model).build().unwrap();
    let (model, _) = script([
        uses([ToolUse::new("1", "sub", json!({ "task": "greet" }))]).costing(usage),
        ScriptedAnswer::from("done").costing(usage),
    ]);
    let boss =
        ReActAgent::builder("boss").model(model).tool(sub.to_tool("Greets.")).build().unwrap();
    assert_eq!(boss.call(go()).await.unwrap().usage.unwrap().input_tokens, 30);
}

#[tokio::test]
async fn a_call_that_would_wait_for_itself_is_refused() {
    let agent: Arc<std::sync::OnceLock<ReActAgent>> = Arc::default();
    let own = agent.clone();
    let again =
        FunctionTool::with_context("again", "Asks again.", move |_: Value, cx: ToolContext| {
            let own = own.clone();
            async move {
                let options = CallOptions::new().child_of(cx.call());
                let reply = own.get().unwrap().call_with(options, go()).await?;
                Ok::<_, AgentError>(reply.text())
            }
        });
    let built = relay("bot", ToolUse::new("1", "again", json!({}))).tool(again).build().unwrap();
    assert!(agent.set(built).is_ok());
    let reply = agent.get().unwrap().call(go()).await.unwrap();
    assert_eq!(
        reply.text(),
        "agent `bot` is called on thread `default` from inside its own call on that thread, which \
         would wait for itself; use another thread",
    );
}

#[tokio::test]
async fn parallel_tools_overlap_and_their_results_keep_the_order_of_the_calls() {
    let order = Arc::new(Records::<String>::new());
    let (first, second) = (Arc::new(Notify::new()), order.clone());
    let release = first.clone();
    let meet = FunctionTool::new("meet", "Waits for the other.", move |input: Value| {
        let (first, order) = (release.clone(), second.clone());
        async move {
            match input["text"].as_str() {
                // The first call ends after the second has begun.
                Some("first") => first.notified().await,
                _ => first.notify_one(),
            }
            order.push(format!("{} ran", input["text"].as_str().unwrap_or_default()));
            "met"
        }
    });
    let call = |id: &str, text: &str| ToolUse::new(id, "meet", json!({ "text": text }));
    let (model, _) = script([uses([call("1", "first"), call("2", "second")]), "done".into()]);
    let noted = order.clone();
    let agent = ReActAgent::builder("bot")
        .model(model)
        .tool(meet)
        .parallel_tools(true)
        .hook(on(EventKind::PostActing, move |event| {
            let HookEvent::PostActing(event) = event else { unreachable!() };
            noted.push(format!("{} told", event.tool_use().id));
            Ok(Flow::Continue)
        }))
        .build()
        .unwrap();
    agent.call(go()).await.unwrap();
    assert_eq!(order.take(), ["second ran", "2 told", "first ran", "1 told"]);
    let ids: Vec<_> = results(&agent).into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, ["1", "2"]);
    let blocks = agent.memory().messages();
    assert_eq!(blocks.iter().filter(|msg| msg.role == Role::Tool).count(), 2);
    assert!(matches!(blocks[1].content[0], ContentBlock::ToolUse(_)));
}

#[tokio::test]
async fn a_call_inside_of_a_call_of_the_same_agent_has_its_hooks() {
    let agent: Arc<std::sync::OnceLock<ReActAgent>> = Arc::default();
    let own = agent.clone();
    let again =
        FunctionTool::with_context("again", "Asks again.", move |_: Value, cx: ToolContext| {
            let own = own.clone();
            async move {
                let options = CallOptions::new().child_of(cx.call()).thread("inner");
                Ok::<_, AgentError>(own.get().unwrap().call_with(options, "danger").await?.text())
            }
        });
    let model = ScriptedModel::new("m", |request: &ChatRequest| -> ScriptedAnswer {
        let last = request.messages.last().unwrap();
        match (last.tool_results().next(), last.text().as_str()) {
            (Some(result), _) => result.output.as_str().into(),
            (None, "danger") => echo("2", "forbidden").into(),
            _ => ToolUse::new("1", "again", json!({})).into(),
        }
    });
    let (govern, ran) = (Govern::default(), Arc::new(Records::<String>::new()));
    let built = ReActAgent::builder("bot")
        .model(model)
        .tool(again)
        .tool(echo_tool(&ran))
        .hook(govern.clone())
        .build()
        .unwrap();
    assert!(agent.set(built).is_ok());
    assert_eq!(agent.get().unwrap().call(go()).await.unwrap().text(), "not here either");
    assert_eq!(ran.take(), [] as [String; 0]);
    assert_eq!(govern.0.take().len(), 4);
}

#[tokio::test]
async fn a_sub_agent_keeps_its_own_hooks_beside_those_it_inherits() {
    let (own, inherited) = (Govern::default(), Govern::default());
    let ran = Arc::new(Records::<String>::new());
    let worker =
        relay("worker", echo("1", "ok")).tool(echo_tool(&ran)).hook(own.clone()).build().unwrap();
    let boss = relay("boss", ToolUse::new("2", "worker", json!({ "task": "work" })))
        .tool(worker.to_tool("Works."))
        .hook(inherited.clone())
        .build()
        .unwrap();
    boss.call(go()).await.unwrap();
    assert_eq!((own.0.take().len(), inherited.0.take().len()), (2, 4));
}

#[tokio::test]
async fn a_sub_agent_that_was_stopped_goes_on_when_its_caller_is_resumed() {
    let count = std::sync::atomic::AtomicUsize::new(0);
    let worker = relay("worker", echo("1", "ok"))
        .tool(echo_tool(&Arc::default()))
        .hook(on(EventKind::PreActing, move |event| {
            let HookEvent::PreActing(event) = event else { unreachable!() };
            let is_first = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 0;
            Ok(if is_first { event.stop() } else { Flow::Continue })
        }))
        .build()
        .unwrap();
    let boss = relay("boss", ToolUse::new("2", "worker", json!({ "task": "work" })))
        .tool(worker.to_tool("Works."))
        .build()
        .unwrap();
    let stopped = boss.call(go()).await.unwrap();
    assert_eq!(stopped.reason, Some(GenerateReason::PermissionAsking));
    let [pending] = stopped.pending() else { panic!("{stopped:?}") };
    assert_eq!((pending.id.as_str(), &pending.agents[..]), ("2/1", &["worker".to_owned()][..]));
    assert_eq!(pending.why, PendingReason::Stopped);
    assert_eq!(boss.resume(CallOptions::new()).await.unwrap().text(), "ok");
    assert_valid(&boss);
    assert_valid(&worker);
}

#[tokio::test]
async fn the_interrupt_of_a_caller_and_that_of_the_call_both_count() {
    for is_outer in [true, false] {
        let (agent, _go_on) = hesitant(&Notes::default());
        let (outer, inner) = (Interrupt::new(), Interrupt::new());
        let parent = agent.context(CallOptions::new().interrupt(outer.clone()));
        let options = CallOptions::new().child_of(&parent).thread("child").interrupt(inner.clone());
        let mut call = pin!(agent.call_with(options, go()));
        assert!(poll!(&mut call).is_pending());
        if is_outer {
            outer.interrupt();
        } else {
            inner.interrupt();
        }
        assert_eq!(call.await.unwrap().reason, Some(GenerateReason::Interrupted));
    }
}

#[tokio::test]
async fn an_interrupt_while_hooks_look_at_the_answer_keeps_nothing_of_it() {
    let agent = ReActAgent::builder("bot")
        .model(ScriptedModel::new("m", |_| "a secret"))
        .hook(on(EventKind::PostReasoning, |event| {
            let HookEvent::PostReasoning(event) = event else { unreachable!() };
            event.set_message(Msg::assistant("bot", "a ***"));
            Ok(Flow::Continue)
        }))
        .build()
        .unwrap();
    agent.register_instance_hook(
        ReActAgent::POST_REASONING,
        "slow",
        hook!(ReActAgent::POST_REASONING, async |_, _, _| std::future::pending::<()>().await),
    );
    let token = Interrupt::new();
    let mut call = pin!(agent.call_with(CallOptions::new().interrupt(token.clone()), go()));
    assert!(poll!(&mut call).is_pending());
    token.interrupt();
    let marker = "[the answer was interrupted]";
    assert_eq!(call.await.unwrap().text(), marker);
    assert_eq!(agent.memory().messages().last().unwrap().text(), marker);
}

#[tokio::test]
async fn an_interrupt_at_a_tool_gives_what_was_said_before() {
    let (model, _) =
        script([vec![ContentBlock::text("Let me look."), ContentBlock::ToolUse(echo("1", "x"))]]);
    let agent = ReActAgent::builder("bot")
        .model(model)
        .tool(echo_tool(&Arc::default()))
        .hook(on(EventKind::PostActing, |event| {
            event.context().interrupt();
            Ok(Flow::Continue)
        }))
        .build()
        .unwrap();
    let reply = agent.call(go()).await.unwrap();
    assert_eq!(reply.content, [ContentBlock::text("Let me look.")]);
}

/// How many messages of the user in memory say `go`.
fn gos(agent: &ReActAgent) -> usize {
    let messages = agent.memory().messages();
    messages.iter().filter(|msg| msg.role == Role::User && msg.text() == "go").count()
}

async fn observe_go(agent: &ReActAgent) {
    agent.observe(agent.context(CallOptions::new()), go()).await.unwrap();
}

/// An answer of a model that fails.
fn broken() -> ScriptedAnswer {
    let (model, reason) = ("m".to_owned(), "as told".to_owned());
    hooks_agent_core::model::ModelError::Failed { model, reason }.into()
}

#[tokio::test]
async fn messages_are_repeated_only_if_the_last_call_failed_with_them() {
    // The same text was observed, no call failed.
    let (model, _) = script(["fine"]);
    let agent = ReActAgent::builder("bot").model(model).build().unwrap();
    observe_go(&agent).await;
    agent.call(go()).await.unwrap();
    assert_eq!(gos(&agent), 2, "observed");

    // The call that failed was repeated since.
    let (model, _) = script([broken(), "fine".into(), "fine".into()]);
    let agent = ReActAgent::builder("bot").model(model).build().unwrap();
    agent.call(go()).await.unwrap_err();
    agent.call(go()).await.unwrap();
    observe_go(&agent).await;
    agent.call(go()).await.unwrap();
    assert_eq!(gos(&agent), 3, "repeated");

    // The call that failed had an answer to its messages.
    let (model, _) = script(["first".into(), broken(), "fine".into()]);
    let agent = ReActAgent::builder("bot")
        .model(model)
        .hook(on(EventKind::PostReasoning, |event| {
            let HookEvent::PostReasoning(event) = event else { unreachable!() };
            let is_first = event.message().text() == "first";
            Ok(if is_first { event.jump_to_model(go())? } else { Flow::Continue })
        }))
        .build()
        .unwrap();
    agent.call(go()).await.unwrap_err();
    agent.call(go()).await.unwrap();
    assert_eq!(gos(&agent), 3, "answered");

    // The call was dropped, and memory keeps a part of its answer.
    let (agent, _go_on) = hesitant(&Notes::default());
    for _ in 0..2 {
        assert!(poll!(pin!(agent.call(go()))).is_pending());
        observe_go(&agent).await;
    }
    assert_eq!(gos(&agent), 4, "dropped");

    // A hook ended the call before the model.
    let end = on(EventKind::PreReasoning, |event| {
        let HookEvent::PreReasoning(event) = event else { unreachable!() };
        Ok(event.jump_to_end())
    });
    let (model, _) = script::<ScriptedAnswer>([]);
    let agent = ReActAgent::builder("bot").model(model).hook(end).build().unwrap();
    agent.call(go()).await.unwrap();
    agent.call(go()).await.unwrap();
    assert_eq!(gos(&agent), 2, "ended");
}

#[tokio::test]
async fn an_interrupted_call_shows_nothing_that_hooks_around_the_reply_were_to_see() {
    let agent = ReActAgent::builder("bot").model(Hesitant { go_on: Arc::default() });
    let agent = agent.build().unwrap();
    agent.register_instance_hook(
        ReActAgent::AROUND_REPLY,
        "review",
        hook!(ReActAgent::AROUND_REPLY, async |_, args, next| next.run(args).await),
    );
    let token = Interrupt::new();
    let mut call = pin!(agent.call_with(CallOptions::new().interrupt(token.clone()), go()));
    assert!(poll!(&mut call).is_pending());
    token.interrupt();
    assert_eq!(call.await.unwrap().text(), "");
}

#[tokio::test]
async fn an_interrupted_call_shows_nothing_that_a_hook_was_to_see_which_is_gone() {
    let review = on(EventKind::PostCall, |_| Ok(Flow::Continue));
    let name = review.name();
    let agent = ReActAgent::builder("bot").model(Hesitant { go_on: Arc::default() });
    let agent = agent.hook(review).build().unwrap();
    let token = Interrupt::new();
    let mut call = pin!(agent.call_with(CallOptions::new().interrupt(token.clone()), go()));
    assert!(poll!(&mut call).is_pending());
    agent.remove_agent_hook(&name).unwrap();
    token.interrupt();
    assert_eq!(call.await.unwrap().text(), "");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_would_wait_for_the_call_of_its_caller_is_refused() {
    let boss: Arc<std::sync::OnceLock<ReActAgent>> = Arc::default();
    let own = boss.clone();
    let back =
        FunctionTool::with_context("back", "Asks back.", move |_: Value, cx: ToolContext| {
            let own = own.clone();
            async move {
                let options = CallOptions::new().child_of(cx.call());
                Ok::<_, AgentError>(own.get().unwrap().call_with(options, go()).await?.text())
            }
        });
    let worker = relay("worker", ToolUse::new("1", "back", json!({}))).tool(back).build().unwrap();
    let task = ToolUse::new("1", "worker", json!({ "task": "work" }));
    let built = relay("boss", task).tool(worker.to_tool("Works.")).build().unwrap();
    assert!(boss.set(built).is_ok());
    let call = boss.get().unwrap().call(go());
    let reply = tokio::time::timeout(std::time::Duration::from_mins(1), call).await.unwrap();
    let text = reply.unwrap().text();
    assert!(text.contains("from inside its own call"), "{text}");
}

fn subscribed(
    answer: ScriptedAnswer,
) -> (hooks_agent_core::react::ReActAgentBuilder, Arc<ReActAgent>) {
    let (model, _) = script([answer]);
    let listener = ReActAgent::builder("listener").model(script(["."]).0).build().unwrap();
    (ReActAgent::builder("speaker").model(model), Arc::new(listener))
}

#[tokio::test]
async fn subscribers_observe_no_reply_without_content() {
    let (speaker, listener) = subscribed(uses([echo("a", "A")]));
    let speaker = speaker
        .hook(on(EventKind::PostReasoning, |event| {
            let HookEvent::PostReasoning(event) = event else { unreachable!() };
            Ok(event.stop())
        }))
        .build()
        .unwrap();
    let subscriber: Arc<dyn Agent> = listener.clone();
    speaker.state().subscribe(&subscriber);
    assert_eq!(speaker.call(go()).await.unwrap().pending().len(), 1);
    assert_eq!(listener.memory().messages().len(), 0);
}

#[tokio::test]
async fn subscribers_observe_replies_as_said_by_an_agent_on_the_thread_of_the_call() {
    let (speaker, listener) = subscribed("hear me".into());
    let speaker = speaker
        .hook(on(EventKind::PostCall, |event| {
            let HookEvent::PostCall(event) = event else { unreachable!() };
            event.set_final_message(Msg::user("as if a user spoke"));
            Ok(Flow::Continue)
        }))
        .build()
        .unwrap();
    let subscriber: Arc<dyn Agent> = listener.clone();
    speaker.state().subscribe(&subscriber);
    speaker.call_with(CallOptions::new().thread("t"), go()).await.unwrap();
    let heard = listener.threads().memory("t").unwrap().messages();
    assert_eq!((heard[0].role, heard[0].text().as_str()), (Role::Assistant, "as if a user spoke"));
}

#[tokio::test]
async fn a_call_that_is_dropped_after_its_interrupt_was_interrupted() {
    let ends = Ends::default();
    let agent = ReActAgent::builder("bot").model(Hesitant { go_on: Arc::default() });
    let agent = agent.hook(ends.clone()).build().unwrap();
    let token = Interrupt::new();
    let mut call = Box::pin(agent.call_with(CallOptions::new().interrupt(token.clone()), go()));
    assert!(poll!(&mut call).is_pending());
    token.interrupt();
    drop(call);
    assert!(matches!(ends.0.take()[..], [CallOutcome::Interrupted]));
}

#[tokio::test]
async fn a_child_has_its_own_thread_and_the_interrupt_of_its_parent() {
    let (model, _) = script(["."]);
    let agent = ReActAgent::builder("bot").model(model).build().unwrap();
    let parent = agent.context(CallOptions::new().thread("parent"));
    let child = agent.context(CallOptions::new().child_of(&parent).thread("child"));
    assert_eq!(child.thread_id(), "child");
    let mut interrupted = pin!(child.interrupted());
    assert!(poll!(&mut interrupted).is_pending());
    assert!(!child.is_interrupted());
    parent.interrupt();
    assert!(child.is_interrupted());
    assert!(poll!(&mut interrupted).is_ready());
}

#[tokio::test]
async fn the_usage_of_a_call_includes_agents_at_any_depth() {
    let usage = hooks_agent_core::message::Usage::new(10, 1);
    let caller = |name: &'static str, sub: &ReActAgent| {
        let task = ToolUse::new("1", sub.name(), json!({ "task": "greet" }));
        let answers = [uses([task]).costing(usage), ScriptedAnswer::from("done").costing(usage)];
        let builder = ReActAgent::builder(name).model(script(answers).0);
        builder.tool(sub.to_tool("Greets.")).build().unwrap()
    };
    let (model, _) = script([ScriptedAnswer::from("hi").costing(usage)]);
    let worker = ReActAgent::builder("worker").model(model).build().unwrap();
    let boss = caller("boss", &caller("chief", &worker));
    assert_eq!(boss.call(go()).await.unwrap().usage.unwrap().input_tokens, 50);
}

#[tokio::test]
async fn a_reply_of_a_hook_keeps_its_reason_and_its_usage() {
    let usage = hooks_agent_core::message::Usage::new(7, 7);
    for (reason, own) in [(None, None), (Some(GenerateReason::Length), Some(usage))] {
        let agent = ReActAgent::builder("bot")
            .model(script(["unreached"]).0)
            .hook(on(EventKind::PreCall, move |event| {
                let HookEvent::PreCall(event) = event else { unreachable!() };
                let mut msg = Msg::assistant("bot", "known");
                (msg.reason, msg.usage) = (reason, own);
                Ok(event.answer(msg))
            }))
            .build()
            .unwrap();
        let reply = agent.call(go()).await.unwrap();
        assert_eq!(reply.reason, Some(reason.unwrap_or(GenerateReason::HookAnswered)));
        assert_eq!(reply.usage, own);
    }
}

#[tokio::test]
async fn a_summary_is_printed_and_is_what_a_call_shows_that_is_interrupted_after_it() {
    let printed = Arc::new(Records::new());
    let seen = printed.clone();
    let (model, _) = script([uses([echo("a", "A")]), "a summary".into()]);
    let agent = ReActAgent::builder("bot")
        .model(model)
        .tool(echo_tool(&Arc::default()))
        .max_iters(1)
        .printer(move |text| seen.push(text.to_owned()))
        .build()
        .unwrap();
    let token = Interrupt::new();
    let mut events = agent.stream_with(CallOptions::new().interrupt(token.clone()), go());
    let mut reply = None;
    while let Some(event) = events.next().await {
        match event.unwrap().kind {
            hooks_agent_core::stream::AgentEventKind::Summarized(_) => token.interrupt(),
            hooks_agent_core::stream::AgentEventKind::Finished(msg) => reply = Some(msg),
            _ => {}
        }
    }
    let reply = reply.unwrap();
    assert_eq!((&*reply.text(), reply.reason), ("a summary", Some(GenerateReason::Interrupted)));
    drop(events);

    let (model, _) = script([uses([echo("a", "A")]), "a summary".into()]);
    let seen = printed.clone();
    let agent = ReActAgent::builder("bot")
        .model(model)
        .tool(echo_tool(&Arc::default()))
        .max_iters(1)
        .printer(move |text| seen.push(text.to_owned()))
        .build()
        .unwrap();
    printed.take();
    agent.call(go()).await.unwrap();
    assert_eq!(printed.take(), ["a summary"]);
}
