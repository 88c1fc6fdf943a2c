//! The events of a call: what each says and what of it can be changed (vectors JE and JU), in which
//! order they come, and what hooks bring along (JT, JY, JR).

use std::sync::Arc;

use hooks_agent_core::agent::{AgentExt, CallOutcome};
use hooks_agent_core::agent_hook;
use hooks_agent_core::call::{CallContext, CallOptions};
use hooks_agent_core::event::{
    ActingChunk, ErrorEvent, ErrorPhase, EventKind, EventMask, Flow, HookEvent, PostActing,
    PostCall, PostReasoning, PostSummary, PreActing, PreCall, PreReasoning, PreSummary,
    ReasoningChunk, Settled, SummaryChunk,
};
use hooks_agent_core::hook::{AgentHook, Blocking, priority};
use hooks_agent_core::message::{
    ContentBlock, GenerateReason, Messages, Msg, Role, ToolResult, ToolUse, Usage,
};
use hooks_agent_core::model::{ModelOptions, ScriptedAnswer, ScriptedModel};
use hooks_agent_core::react::ReActAgent;
use hooks_agent_core::round::{Acted, ActingInput, Reasoned, ReasoningInput, SummaryInput};
use hooks_agent_core::tool::{FunctionTool, Tool, ToolContext, Tools};
use hooks_agent_core::user::UserAgent;
use hooks_core::{HookResult, Hookable};
use hooks_fixtures::Records;
use hooks_fixtures::scripted_agents::{Notes, echo, echo_tool, go, on, parts_tool, script, uses};
use serde_json::{Value, json};

fn user() -> UserAgent {
    UserAgent::builder("TestAgent").input(&b"typed\n"[..]).build()
}

fn warm() -> Arc<ModelOptions> {
    Arc::new(ModelOptions::new().temperature(0.7))
}

fn reasoning_input(messages: impl Into<Messages>) -> ReasoningInput {
    let mut input = ReasoningInput::new("gpt-4", messages);
    input.options = warm();
    input
}

fn summary_input(messages: impl Into<Messages>) -> SummaryInput {
    let mut input = SummaryInput::new("qwen-plus", messages);
    input.options = warm();
    (input.max_iterations, input.current_iteration) = (10, 10);
    input
}

fn reasoned(text: &str) -> Reasoned {
    Reasoned::new("gpt-4", Msg::assistant("bot", text))
}

/// JE-01, JE-14.
#[test]
fn a_call_begins_with_its_messages_and_without_instructions() {
    let (agent, cx, mut messages) = (user(), CallContext::default(), Messages::new());
    let event = PreCall::new(&agent, &cx, &mut messages);
    assert!(event.messages().is_empty());
    assert_eq!(event.agent().name(), "TestAgent");
    assert!(event.agent().memory_of(&cx).is_none());
    assert_eq!(event.system_message(), None);
    let event = HookEvent::PreCall(event);
    assert_eq!(event.kind(), EventKind::PreCall);
    assert_eq!(event.kind().name(), "PRE_CALL");
    // The year is later than 2020.
    assert!(event.timestamp() > 1_577_836_800_000);
}

/// JE-03.
#[test]
fn the_reply_of_a_call_can_be_replaced() {
    let (agent, cx) = (user(), CallContext::default());
    let mut reply = Msg::assistant("bot", "first");
    let mut event = PostCall::new(&agent, &cx, &mut reply);
    assert_eq!(event.final_message().text(), "first");
    event.set_final_message(Msg::assistant("bot", "second"));
    assert_eq!(event.final_message().text(), "second");
    assert_eq!(reply.text(), "second");
}

/// JE-05.
#[test]
fn what_the_model_is_asked_can_be_changed() {
    let (agent, cx) = (user(), CallContext::default());
    let mut input = reasoning_input(go());
    let mut event = PreReasoning::new(&agent, &cx, &mut input);
    assert_eq!(event.model_name(), "gpt-4");
    assert_eq!(event.options().temperature, Some(0.7));
    assert_eq!(event.messages().len(), 1);
    event.set_messages(Msg::new(Role::User, "System", "other"));
    assert_eq!((event.messages().len(), event.messages()[0].name.as_str()), (1, "System"));
    event.options_mut().temperature = Some(0.9);
    assert_eq!(event.options().temperature, Some(0.9));
}

/// JE-07, JS-01, JS-02.
#[test]
fn the_answer_of_the_model_can_be_replaced_and_nothing_is_stopped_unasked() {
    let (agent, cx, mut output) = (user(), CallContext::default(), reasoned("first"));
    let mut event = PostReasoning::new(&agent, &cx, &mut output).unwrap();
    assert!(!event.control().is_stopped());
    event.set_message(Msg::assistant("bot", "second"));
    assert_eq!(event.message().text(), "second");
    event.message_mut().push_text("!");
    assert_eq!(output.message.unwrap().text(), "second!");
}

/// JE-08.
#[test]
fn a_chunk_says_what_came_and_what_came_until_now() {
    let (agent, cx) = (user(), CallContext::default());
    let (piece, until_now) = (ContentBlock::text("lo"), Arc::new(Msg::assistant("bot", "Hello")));
    let event = ReasoningChunk::new(&agent, &cx, &piece, &until_now);
    assert_eq!((event.incremental(), event.accumulated()), (&piece, &until_now));
    assert_eq!(HookEvent::ReasoningChunk(event).kind().name(), "REASONING_CHUNK");
}

/// JE-09.
#[test]
fn the_tool_call_can_be_replaced() {
    let (agent, cx) = (user(), CallContext::default());
    let call = ToolUse::new("call-1", "get_weather", json!({ "city": "Beijing" }));
    let mut input = ActingInput::new(call.clone());
    let mut event = PreActing::new(&agent, &cx, &mut input);
    assert_eq!(event.tool_use(), &call);
    let other = ToolUse::new("call-2", "search", json!({ "query": "test" }));
    event.set_tool_use(other.clone());
    assert_eq!(event.tool_use(), &other);
    assert_eq!(HookEvent::PreActing(event).kind().name(), "PRE_ACTING");
}

/// JE-10, JS-04, JS-05.
#[test]
fn the_result_of_a_tool_can_be_replaced() {
    let (agent, cx) = (user(), CallContext::default());
    let call = ToolUse::new("call-1", "get_weather", json!({}));
    let mut acted = Acted::new(call.clone(), ToolResult::success(&call, "Sunny, 25°C"));
    let mut event = PostActing::new(&agent, &cx, &mut acted).unwrap();
    assert_eq!((event.tool_use(), event.tool_result().output.as_str()), (&call, "Sunny, 25°C"));
    assert!(!event.control().is_stopped());
    event.set_tool_result(ToolResult::success(&call, "Modified result"));
    assert_eq!(event.tool_result().output, "Modified result");
    assert_eq!(HookEvent::PostActing(event).kind().name(), "POST_ACTING");
}

/// JE-11.
#[test]
fn a_tool_says_how_far_it_is() {
    let (agent, cx) = (user(), CallContext::default());
    let call = ToolUse::new("call-1", "process_data", json!({}));
    let event = ActingChunk::new(&agent, &cx, &call, "Processing step 1");
    assert_eq!((event.tool_use(), event.chunk()), (&call, "Processing step 1"));
    assert_eq!(HookEvent::ActingChunk(event).kind().name(), "ACTING_CHUNK");
}

/// JE-12.
#[test]
fn a_failure_is_told_with_its_error() {
    let (agent, cx) = (user(), CallContext::default());
    let error = std::io::Error::other("Test error");
    let event = ErrorEvent::new(&agent, &cx, ErrorPhase::Call, &error);
    assert_eq!(
        (event.error().to_string().as_str(), event.phase()),
        ("Test error", ErrorPhase::Call)
    );
    assert_eq!(HookEvent::Error(event).kind().name(), "ERROR");
}

#[test]
fn the_end_of_a_call_is_told_with_its_outcome() {
    let (agent, cx, outcome) = (user(), CallContext::default(), CallOutcome::Interrupted);
    let event = Settled::new(&agent, &cx, &outcome);
    assert_eq!(event.outcome(), &CallOutcome::Interrupted);
    assert_eq!(HookEvent::Settled(event).kind().name(), "SETTLED");
}

/// JE-15 to JE-18.
#[test]
fn instructions_are_set_taken_away_and_appended_to() {
    let (agent, cx, mut messages) = (user(), CallContext::default(), Messages::new());
    let mut event = PreCall::new(&agent, &cx, &mut messages);
    event.set_system_message(Msg::system("Be brief."));
    assert_eq!(event.system_message().unwrap().text(), "Be brief.");
    event.append_system("init");
    event.set_system_message(None);
    assert_eq!(event.system_message(), None);
    event.append_system("Part 1");
    let first = event.system_message().unwrap();
    assert_eq!(
        (first.role, first.name.as_str(), first.text().as_str()),
        (Role::System, "system", "Part 1")
    );
    event.append_system("Part 2");
    let both = event.system_message().unwrap();
    assert_eq!((both.content.len(), both.text().as_str()), (2, "Part 1\nPart 2"));
    assert_eq!(first.content.len(), 1);
}

/// JU-01 to JU-04, JU-17.
#[test]
fn a_summary_can_be_steered_before_it_is_made() {
    let (agent, cx) = (user(), CallContext::default());
    let mut input = summary_input(go());
    let mut event = PreSummary::new(&agent, &cx, &mut input);
    assert_eq!(
        (event.model_name(), event.max_iterations(), event.current_iteration()),
        ("qwen-plus", 10, 10)
    );
    assert_eq!(event.options().temperature, Some(0.7));
    event.options_mut().temperature = Some(0.9);
    assert_eq!(event.options().temperature, Some(0.9));
    event.set_messages([go(), go()]);
    assert_eq!(event.messages().len(), 2);
    let kinds = [EventKind::PreSummary, EventKind::SummaryChunk, EventKind::PostSummary];
    assert_eq!(kinds.map(EventKind::name), ["PRE_SUMMARY", "SUMMARY_CHUNK", "POST_SUMMARY"]);
    assert_eq!(HookEvent::PreSummary(event).kind(), EventKind::PreSummary);
}

/// JU-07, JU-10, JU-12.
#[test]
fn a_summary_is_told_in_pieces_and_can_be_replaced() {
    let (agent, cx, mut output) = (user(), CallContext::default(), reasoned("summary"));
    let (piece, until_now) = (ContentBlock::text("sum"), Arc::new(Msg::assistant("bot", "sum")));
    let event = SummaryChunk::new(&agent, &cx, &piece, &until_now);
    assert_eq!((event.incremental(), event.accumulated()), (&piece, &until_now));
    let mut event = PostSummary::new(&agent, &cx, &mut output).unwrap();
    assert_eq!(event.message().text(), "summary");
    event.set_message(Msg::assistant("bot", "other"));
    assert_eq!(output.message.unwrap().text(), "other");
}

#[tokio::test]
async fn events_come_in_the_order_of_the_loop() {
    use EventKind::{
        ActingChunk, PostActing, PostCall, PostReasoning, PreActing, PreCall, PreReasoning,
        ReasoningChunk, Settled,
    };

    let notes = Notes::default();
    let (model, _) = script([
        uses([ToolUse::new("1", "parts", json!({ "text": "a b" })), echo("2", "x")]),
        "two words".into(),
    ]);
    let agent = ReActAgent::builder("bot")
        .model(model)
        .tool(parts_tool())
        .tool(echo_tool(&Arc::default()))
        .hook(notes.clone())
        .build()
        .unwrap();
    agent.call(go()).await.unwrap();
    let expected = [
        PreCall,
        PreReasoning,
        ReasoningChunk,
        ReasoningChunk,
        PostReasoning,
        PreActing,
        ActingChunk,
        ActingChunk,
        PostActing,
        PreActing,
        PostActing,
        PreReasoning,
        ReasoningChunk,
        ReasoningChunk,
        PostReasoning,
        PostCall,
        Settled,
    ];
    assert_eq!(notes.0.take(), expected);
}

#[tokio::test]
async fn a_call_that_reaches_its_limit_is_summed_up() {
    use EventKind::{
        PostActing, PostCall, PostReasoning, PostSummary, PreActing, PreCall, PreReasoning,
        PreSummary, ReasoningChunk, Settled, SummaryChunk,
    };

    let notes = Notes::default();
    let (model, requests) = script([uses([echo("1", "x")]), "not done".into()]);
    let agent = ReActAgent::builder("bot")
        .model(model)
        .tool(echo_tool(&Arc::default()))
        .max_iters(1)
        .hook(notes.clone())
        .hook(on(EventKind::PostSummary, |event| {
            let HookEvent::PostSummary(event) = event else { unreachable!() };
            event.message_mut().push_text(" yet");
            Ok(Flow::Continue)
        }))
        .build()
        .unwrap();
    let reply = agent.call(go()).await.unwrap();
    assert_eq!(
        (reply.text().as_str(), reply.reason),
        ("not done yet", Some(GenerateReason::MaxIterations))
    );
    let expected = [
        PreCall,
        PreReasoning,
        ReasoningChunk,
        PostReasoning,
        PreActing,
        PostActing,
        PreSummary,
        SummaryChunk,
        SummaryChunk,
        PostSummary,
        PostCall,
        Settled,
    ];
    assert_eq!(notes.0.take(), expected);
    // The request for the summary has no tools, and is not remembered.
    let request = requests.take().pop().unwrap();
    assert!(request.tools.is_empty());
    assert_eq!(request.messages.len(), 4);
    let roles: Vec<_> = agent.memory().messages().iter().map(|msg| msg.role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant, Role::Tool, Role::Assistant]);
    assert_eq!(agent.memory().messages()[3].text(), "not done yet");
}

/// A hook that signs the reply, of a priority.
struct Sign(&'static str, i32);

#[agent_hook(priority = self.1)]
impl Sign {
    async fn sign(&self, event: &mut PostCall<'_>) {
        event.final_message_mut().push_text(self.0);
    }
}

/// JR-12.
#[tokio::test]
async fn hooks_run_by_priority_and_in_the_order_they_were_given() {
    let agent = ReActAgent::builder("bot")
        .model(ScriptedModel::new("fixed", |_| "."))
        .hook(Sign(" low", 500))
        .hook(Sign(" high", priority::SECURITY))
        .hook(Sign(" medium", priority::DEFAULT))
        .hook(Sign(" medium too", priority::DEFAULT))
        .build()
        .unwrap();
    let reply = agent.call(go()).await.unwrap();
    assert_eq!(reply.text(), ". high medium medium too low");
    let names: Vec<_> =
        agent.hook_plan().hooks().iter().map(|hook| hook.name().to_owned()).collect();
    assert_eq!(names, ["Sign"; 4]);
    // The plan says where the hook was given to the agent.
    assert!(agent.hook_plan().to_string().contains("events.rs:"));
}

#[tokio::test]
async fn event_hooks_and_method_hooks_are_in_one_order() {
    let agent = ReActAgent::builder("bot")
        .model(ScriptedModel::new("fixed", |_| "."))
        .hook(Sign(" event", 50))
        .hook(Sign(" late event", 150))
        .build()
        .unwrap();
    agent.register_instance_hook(
        ReActAgent::POST_REPLY,
        "method",
        |_: &ReActAgent, _: &hooks_agent_core::agent::AgentReplyArgs, reply: &mut Msg| {
            reply.push_text(" method");
        },
    );
    assert_eq!(agent.call(go()).await.unwrap().text(), ". event method late event");
}

#[tokio::test]
async fn event_hooks_come_and_go_at_run_time() {
    let agent =
        ReActAgent::builder("bot").model(ScriptedModel::new("fixed", |_| ".")).build().unwrap();
    agent.register_agent_hook(Sign(" signed", 100));
    assert_eq!(agent.call(go()).await.unwrap().text(), ". signed");
    agent.remove_agent_hook("Sign").unwrap();
    assert_eq!(agent.call(go()).await.unwrap().text(), ".");
    assert!(agent.remove_agent_hook("Sign").is_err());
}

#[tokio::test]
async fn a_builder_that_is_shared_makes_agents_that_are_independent() {
    let notes = Notes::default();
    let builder = ReActAgent::builder("bot")
        .model(ScriptedModel::new("counter", |request| request.messages.len().to_string()))
        .hook(notes.clone());
    let (first, second) = (builder.clone().build().unwrap(), builder.build().unwrap());
    first.remove_agent_hook("Notes").unwrap();
    first.call(go()).await.unwrap();
    assert_eq!(notes.0.take(), []);
    assert_eq!(second.call(go()).await.unwrap().text(), "1");
    assert_eq!(notes.0.take().len(), 6);
}

/// A hook that brings a tool.
struct Ping;

#[agent_hook(tools = Self::ping)]
impl Ping {
    fn ping(&self) -> Tools {
        let ping = FunctionTool::new("hook_ping", "Answers.", async |_: Value| "pong");
        vec![Arc::new(ping)]
    }

    fn note(&self, _: &PreCall<'_>) {}
}

/// JT-01, JT-03.
#[tokio::test]
async fn a_hook_brings_tools_to_the_agent_and_not_to_its_builder() {
    let (model, requests) =
        script([uses([ToolUse::new("1", "hook_ping", json!({}))]), "ok".into()]);
    let builder = ReActAgent::builder("bot").model(model);
    let without = builder.clone().hook(Notes::default()).build().unwrap();
    let with = builder.clone().hook(Ping).build().unwrap();
    assert!(format!("{without:?}").contains("tools: []"));
    assert!(format!("{builder:?}").contains("tools: []"));
    with.call(go()).await.unwrap();
    let requests = requests.take();
    assert_eq!(requests[0].tools[0].name, "hook_ping");
    let result = requests[1].messages.last().unwrap().tool_results().next().unwrap().clone();
    assert_eq!(result.output, "pong");
}

/// JY-01 to JY-03.
#[tokio::test]
async fn instructions_reach_the_model_and_hooks_add_to_them_for_their_call() {
    let seen = Arc::new(Records::<Option<String>>::new());
    let noted = seen.clone();
    let (model, requests) = script(["one", "two"]);
    let agent = ReActAgent::builder("bot")
        .model(model)
        .system_prompt("base prompt")
        .hook(on(EventKind::PreCall, move |event| {
            let HookEvent::PreCall(event) = event else { unreachable!() };
            noted.push(event.system_message().map(|msg| msg.text()));
            event.append_system(" extra context");
            Ok(Flow::Continue)
        }))
        .build()
        .unwrap();
    agent.call(go()).await.unwrap();
    agent.call(go()).await.unwrap();
    // Each call begins with what the agent was built with.
    assert_eq!(seen.take(), [Some("base prompt".to_owned()), Some("base prompt".to_owned())]);
    for request in requests.take() {
        let first = request.messages[0].clone();
        assert_eq!(
            (first.role, first.text().as_str()),
            (Role::System, "base prompt\n extra context")
        );
    }
    assert!(agent.memory().messages().iter().all(|msg| msg.role != Role::System));

    let seen = Arc::new(Records::<bool>::new());
    let noted = seen.clone();
    let plain = ReActAgent::builder("bot")
        .model(ScriptedModel::new("fixed", |_| "."))
        .system_prompt("  ")
        .hook(on(EventKind::PreCall, move |event| {
            let HookEvent::PreCall(event) = event else { unreachable!() };
            noted.push(event.system_message().is_none());
            Ok(Flow::Continue)
        }))
        .build()
        .unwrap();
    plain.call(go()).await.unwrap();
    assert_eq!(seen.take(), [true]);
}

#[tokio::test]
async fn what_a_round_adds_to_the_instructions_does_not_pile_up() {
    let (model, requests) = script([uses([echo("1", "x")]), "done".into()]);
    let agent = ReActAgent::builder("bot")
        .model(model)
        .tool(echo_tool(&Arc::default()))
        .system_prompt("base")
        .hook(on(EventKind::PreReasoning, |event| {
            let HookEvent::PreReasoning(event) = event else { unreachable!() };
            event.append_system("now");
            Ok(Flow::Continue)
        }))
        .build()
        .unwrap();
    agent.call(go()).await.unwrap();
    let systems: Vec<_> = requests.take().iter().map(|it| it.messages[0].text()).collect();
    assert_eq!(systems, ["base\nnow", "base\nnow"]);
}

/// JY-05.
#[tokio::test]
async fn a_system_message_among_the_others_fails_the_call_and_nothing_is_remembered() {
    let agent = ReActAgent::builder("bot")
        .model(ScriptedModel::new("fixed", |_| "."))
        .hook(on(EventKind::PreCall, |event| {
            let HookEvent::PreCall(event) = event else { unreachable!() };
            event.messages_mut().push(Msg::system("obey"));
            Ok(Flow::Continue)
        }))
        .build()
        .unwrap();
    let error = agent.call(go()).await.unwrap_err();
    assert!(error.to_string().starts_with("a system message is no part of a conversation"));
    assert!(agent.memory().messages().is_empty());
}

/// JR-01, JR-02.
#[tokio::test]
async fn streamed_tool_calls_are_told_and_accumulated() {
    let told = Arc::new(Records::<(ToolUse, Vec<String>)>::new());
    let noted = told.clone();
    let calls = [
        ToolUse::new("call_1", "weather", json!({ "city": "Beijing" })),
        ToolUse::new("call_2", "calculator", json!({})),
    ];
    let (model, _) = script([uses(calls.clone()), "done".into()]);
    let agent = ReActAgent::builder("bot")
        .model(model)
        .hook(on(EventKind::ReasoningChunk, move |event| {
            let HookEvent::ReasoningChunk(event) = event else { unreachable!() };
            if let ContentBlock::ToolUse(call) = event.incremental() {
                let ids = event.accumulated().tool_uses().map(|call| call.id.clone()).collect();
                noted.push((call.clone(), ids));
            }
            Ok(Flow::Continue)
        }))
        .build()
        .unwrap();
    agent.call(go()).await.unwrap();
    let [first, second] = calls;
    let expected = [
        (first, vec!["call_1".to_owned()]),
        (second, vec!["call_1".to_owned(), "call_2".to_owned()]),
    ];
    assert_eq!(told.take(), expected);
}

/// JR-03: ours is the usage of the message, not a note in its metadata.
#[tokio::test]
async fn usage_is_told_with_the_answer_and_summed_over_the_call() {
    let usage = |input, output| Usage::new(input, output);
    let told = Arc::new(Records::<Option<Usage>>::new());
    let noted = told.clone();
    let (model, _) = script([
        uses([echo("1", "x")]).costing(usage(100, 50)),
        ScriptedAnswer::from("done").costing(usage(120, 5)),
    ]);
    let agent = ReActAgent::builder("bot")
        .model(model)
        .tool(echo_tool(&Arc::default()))
        .hook(on(EventKind::PostReasoning, move |event| {
            let HookEvent::PostReasoning(event) = event else { unreachable!() };
            noted.push(event.message().usage);
            Ok(Flow::Continue)
        }))
        .build()
        .unwrap();
    let reply = agent.call(go()).await.unwrap();
    assert_eq!(told.take(), [Some(usage(100, 50)), Some(usage(120, 5))]);
    assert_eq!(reply.usage, Some(usage(220, 55)));
    assert_eq!(reply.usage.unwrap().total_tokens(), 275);
}

/// JR-05, JR-06.
#[tokio::test]
async fn what_tools_say_is_told_in_order_and_a_failing_observer_changes_nothing() {
    let told = Arc::new(Records::<String>::new());
    let noted = told.clone();
    let call = ToolUse::new("1", "parts", json!({ "text": "chunk:1:demo chunk:2:demo" }));
    let (model, _) = script([uses([call]), "final-response".into()]);
    let agent = ReActAgent::builder("bot")
        .model(model)
        .tool(parts_tool())
        .hook(on(EventKind::ActingChunk, |_| panic!("as told")))
        .hook(on(EventKind::ActingChunk, |_| Err("as told".into())))
        .hook(on(EventKind::ActingChunk, move |event| {
            let HookEvent::ActingChunk(event) = event else { unreachable!() };
            noted.push(event.chunk().to_owned());
            Ok(Flow::Continue)
        }))
        .build()
        .unwrap();
    assert_eq!(agent.call(go()).await.unwrap().text(), "final-response");
    assert_eq!(told.take(), ["chunk:1:demo", "chunk:2:demo"]);
    let result = agent.memory().messages()[2].tool_results().next().unwrap().output.clone();
    assert_eq!(result, "chunk:1:demo chunk:2:demo");
}

struct UserId(&'static str);

/// JR-07: the context belongs to its call, so there is nothing to take back at its end.
#[tokio::test]
async fn values_of_a_call_are_shared_by_hooks_and_tools() {
    let whoami = FunctionTool::with_context(
        "whoami",
        "Says who asks.",
        async |_: Value, cx: ToolContext| {
            let note = cx.get::<String>().map(|note| note.to_string()).unwrap_or_default();
            format!("{}|{note}|{}", cx.get::<UserId>().map_or("", |user| user.0), cx.tool_use().id)
        },
    );
    let (model, _) = script([uses([ToolUse::new("tool-q", "whoami", json!({}))]), "ok".into()]);
    let agent = ReActAgent::builder("bot")
        .model(model)
        .tool(whoami)
        .hook(on(EventKind::PreReasoning, |event| {
            let cx = event.context();
            assert_eq!(cx.get::<UserId>().unwrap().0, "per-call-uid");
            if let Some(note) = cx.insert("from-pre".to_owned()) {
                assert!(["from-initial-put", "from-pre"].contains(&note.as_str()));
            }
            Ok(Flow::Continue)
        }))
        .build()
        .unwrap();
    let options =
        CallOptions::new().value(UserId("per-call-uid")).value("from-initial-put".to_owned());
    agent.call_with(options, go()).await.unwrap();
    let result = agent.memory().messages()[2].tool_results().next().unwrap().output.clone();
    assert_eq!(result, "per-call-uid|from-pre|tool-q");
}

/// JR-08.
#[tokio::test]
async fn an_agent_of_another_kind_has_the_events_of_its_calls() {
    let notes = Notes::default();
    let user = UserAgent::builder("ada")
        .input(&b"hello\n"[..])
        .hook(notes.clone())
        .hook(on(EventKind::PostCall, |event| {
            let HookEvent::PostCall(event) = event else { unreachable!() };
            event.final_message_mut().metadata.insert("modified".to_owned(), json!(true));
            Ok(Flow::Continue)
        }))
        .build();
    let reply = user.call(go()).await.unwrap();
    assert_eq!((reply.text().as_str(), reply.name.as_str()), ("hello", "ada"));
    assert_eq!(reply.metadata["modified"], json!(true));
    assert_eq!(notes.0.take(), [EventKind::PreCall, EventKind::PostCall, EventKind::Settled]);
}

/// Handlers of both kinds in one block; what is no handler is left alone.
#[derive(Default)]
struct Mixed(Arc<Records<&'static str>>);

#[agent_hook(name = "mixed")]
impl Mixed {
    async fn before(&self, _: &mut PreReasoning<'_>) -> HookResult<Flow> {
        self.0.push("async before");
        Ok(Flow::Continue)
    }

    fn after(&self, event: &PostReasoning<'_>) -> HookResult {
        self.0.push("sync after");
        if event.message().text().is_empty() { Err("nothing said".into()) } else { Ok(()) }
    }

    fn count(&self) -> usize {
        self.0.take().len()
    }
}

#[tokio::test]
async fn the_attribute_asks_for_the_events_that_have_a_handler() {
    let mixed = Mixed::default();
    let of = |kinds: &[EventKind]| hooks_agent_core::event::EventMask::of(kinds);
    assert_eq!(mixed.events(), of(&[EventKind::PreReasoning, EventKind::PostReasoning]));
    assert_eq!(mixed.sync_events(), of(&[EventKind::PostReasoning]));
    assert_eq!((mixed.name().as_str(), mixed.priority()), ("mixed", priority::DEFAULT));
    let mixed = Arc::new(mixed);
    let agent = ReActAgent::builder("bot")
        .model(ScriptedModel::new("fixed", |_| "."))
        .hook(mixed.clone())
        .build()
        .unwrap();
    agent.call(go()).await.unwrap();
    assert_eq!(mixed.count(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_blocking_hook_does_not_block_the_runtime() {
    let (sender, receiver) = std::sync::mpsc::channel();
    let receiver = std::sync::Mutex::new(receiver);
    let agent = ReActAgent::builder("bot")
        .model(ScriptedModel::new("fixed", |_| "."))
        .hook(Blocking(on(EventKind::PreCall, move |_| {
            // Another task of the only worker ends this.
            Ok(receiver.lock().unwrap().recv().map(|()| Flow::Continue)?)
        })))
        .build()
        .unwrap();
    let call = tokio::spawn(async move { agent.call(go()).await.map(|reply| reply.text()) });
    tokio::spawn(async move { sender.send(()).unwrap() });
    assert_eq!(call.await.unwrap().unwrap(), ".");
}

#[tokio::test]
async fn a_blocking_hook_says_what_runtime_it_needs() {
    let agent = ReActAgent::builder("bot")
        .model(ScriptedModel::new("fixed", |_| "."))
        .hook(Blocking(Notes::default()))
        .build()
        .unwrap();
    let error = agent.call(go()).await.unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(cause, "a blocking hook needs a multi-threaded runtime of tokio");
}

#[test]
fn the_priorities_are_those_of_the_plan() {
    use priority::{
        AUTH, BUSINESS, LOGGING, METRICS, POSTPROCESSING, PREPROCESSING, SECURITY, VALIDATION,
    };

    let all =
        [SECURITY, AUTH, VALIDATION, PREPROCESSING, BUSINESS, POSTPROCESSING, LOGGING, METRICS];
    assert_eq!(all, [10, 20, 50, 80, 100, 300, 500, 600]);
    assert_eq!(priority::DEFAULT, 100);
    let tool: &dyn Tool = &parts_tool();
    assert_eq!(tool.name(), "parts");
}

#[tokio::test]
async fn a_hook_of_the_same_name_takes_the_place_of_the_one_before_at_all_events() {
    let signs = |kind: EventKind| {
        on(kind, move |event| {
            if let HookEvent::PostCall(event) = event {
                event.final_message_mut().push_text(" signed");
            }
            Ok(Flow::Continue)
        })
    };
    let agent = ReActAgent::builder("bot").model(ScriptedModel::new("m", |_| ".")).build().unwrap();
    let named = |hook| Named(hook);
    agent.register_agent_hook(named(signs(EventKind::PostCall)));
    assert_eq!(agent.call("go").await.unwrap().text(), ". signed");
    agent.register_agent_hook(named(signs(EventKind::PreCall)));
    assert_eq!(agent.call("go").await.unwrap().text(), ".");
    assert_eq!(agent.hook_plan().hooks().len(), 1);
}

/// A hook under another name.
struct Named<H>(H);

impl<H: AgentHook> AgentHook for Named<H> {
    fn name(&self) -> String {
        "one name".to_owned()
    }

    fn events(&self) -> hooks_agent_core::event::EventMask {
        self.0.events()
    }

    async fn on_event(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        self.0.on_event(event).await
    }
}

/// Handles every event.
struct Everything;

#[agent_hook]
impl Everything {
    fn pre_call(&self, _: &PreCall<'_>) {}
    fn pre_reasoning(&self, _: &PreReasoning<'_>) {}
    fn reasoning_chunk(&self, _: &ReasoningChunk<'_>) {}
    fn post_reasoning(&self, _: &PostReasoning<'_>) {}
    fn pre_acting(&self, _: &PreActing<'_>) {}
    fn acting_chunk(&self, _: &ActingChunk<'_>) {}
    fn post_acting(&self, _: &PostActing<'_>) {}
    fn pre_summary(&self, _: &PreSummary<'_>) {}
    fn summary_chunk(&self, _: &SummaryChunk<'_>) {}
    fn post_summary(&self, _: &PostSummary<'_>) {}
    fn post_call(&self, _: &PostCall<'_>) {}
    fn error(&self, _: &ErrorEvent<'_>) {}
    fn settled(&self, _: &Settled<'_>) {}
}

#[test]
fn the_attribute_knows_every_event() {
    assert_eq!(Everything.events(), EventMask::ALL);
    assert_eq!(Everything.sync_events(), EventMask::ALL);
}
