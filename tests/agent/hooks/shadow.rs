//! Hooks in shadow decide, are counted, and change nothing.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::{StreamExt, stream};
use hooks_agent_builtin::guard::PiiDetection;
use hooks_agent_builtin::limit::ToolCallLimit;
use hooks_agent_builtin::recover::{ModelRetry, ToolRetry};
use hooks_agent_core::call::{Interrupt, RunId};
use hooks_agent_core::error::BuildError;
use hooks_agent_core::hook::{
    AroundMask, Blocking, HookFlow, HookRun, HookWatcher, ModelCall, NextModel, NextPermission,
    PermissionCheck, ShadowCounts, Shadowed,
};
use hooks_agent_core::journal::MemoryJournal;
use hooks_agent_core::message::{GenerateReason, Usage};
use hooks_agent_core::model::{
    ChatChunk, ChatModel, ChatRequest, ChatStream, ModelAnswer, ModelError,
};
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_core::testing::{Calls, Script};
use hooks_agent_core::tool::Permission;
use hooks_fixtures::Records;
use hooks_fixtures::journaled::{World, run};
use serde_json::{Value, json};
use tokio::sync::Notify;

/// An agent that calls `pay` and then says an address.
fn builder() -> (ReActAgentBuilder, Calls) {
    let pay = Calls::new("pay").answers("paid").answers("paid").answers("paid");
    let uses = || [ToolUse::new("1", "pay", json!({ "euros": 5 }))];
    let script = Script::new().calls(uses()).says("write to ada@example.org");
    let script = script.calls(uses()).says("write to ada@example.org");
    (ReActAgent::builder("bot").model(script).tool(pay.clone()), pay)
}

/// An answer in these chunks.
fn chunked<const N: usize>(chunks: [&str; N]) -> ScriptedAnswer {
    let chunks = chunks.map(|text| Ok(ChatChunk::Text(text.to_owned())));
    ScriptedAnswer::Stream(chunks.to_vec()).costing(Usage::new(1, 1))
}

/// Runs a call with a hook in shadow, which changes nothing, and returns what the hook would have done.
async fn counts(hook: impl AgentHook) -> ShadowCounts {
    let shadow = hook.in_shadow();
    let (builder, pay) = builder();
    let agent = builder.hook(shadow.clone()).build().unwrap();
    assert_eq!(agent.call("Pay 5").await.unwrap().text(), "write to ada@example.org");
    assert_eq!(pay.inputs(), [json!({ "euros": 5 })]);
    shadow.caught_up().await;
    let counts = shadow.counts();
    assert_eq!(agent.shadow_counts()[0].1, counts);
    assert_eq!(counts.first, u64::from(counts.divergences() > 0));
    counts
}

#[tokio::test]
async fn what_a_hook_would_have_decided_is_counted_and_does_not_happen() {
    let refuses = on(|event: &mut PreActing<'_>| event.refuse("no"));
    assert_eq!(counts(refuses).await.refused, 1);
    let asks = on(|event: &mut PreActing<'_>| event.ask("may I?"));
    assert_eq!(counts(asks).await.asked, 1);
    let stops = on(|event: &mut PostActing<'_>| event.stop());
    assert_eq!(counts(stops).await.stopped, 1);
    let jumps = on(|event: &mut PostReasoning<'_>| event.jump_to_end());
    assert_eq!(counts(jumps).await.stopped, 2);
    let answers = on(|event: &mut PreReasoning<'_>| event.answer(Msg::assistant("bot", "no")));
    assert_eq!(counts(answers).await.answered, 2);
    let instead = on(|event: &mut PreCall<'_>| event.answer(Msg::assistant("bot", "no")));
    assert_eq!(counts(instead).await.answered, 1);
    let fails = on(|_: &mut PreCall<'_>| -> HookResult { Err("broken".into()) });
    assert_eq!(counts(fails).await.failed, 1);
    let panics = on(|_: &mut PostCall<'_>| -> HookResult { panic!("broken") });
    assert_eq!(counts(panics).await.failed, 1);
    let looks = on(|_: &PostCall<'_>| {});
    assert_eq!(counts(looks).await, {
        let mut counts = ShadowCounts::default();
        counts.runs = 1;
        counts
    });
}

#[tokio::test]
async fn what_a_hook_would_have_changed_is_counted_and_stays() {
    let edits = on(|event: &mut PreActing<'_>| event.tool_use_mut().input = json!({ "euros": 1 }));
    assert_eq!(counts(edits).await.changed, 1);
    let redacts = on(|event: &mut PostActing<'_>| event.tool_result_mut().output = "".into());
    assert_eq!(counts(redacts).await.changed, 1);
    let system = on(|event: &mut PreReasoning<'_>| event.append_system("be brief"));
    assert_eq!(counts(system).await.changed, 2);
    let history = on(|event: &mut PreCall<'_>| {
        let memory = event.context().memory().unwrap();
        memory.add(Msg::user("forget it"));
        event.context().limit_iters(1);
        event.messages_mut().push(Msg::user("more"));
    });
    assert_eq!(counts(history).await.changed, 1);
    let forgets = on(|event: &mut PostActing<'_>| event.context().memory().unwrap().replace([]));
    assert_eq!(counts(forgets).await.changed, 1);
    let limits = on(|event: &mut PreCall<'_>| event.context().limit_iters(1));
    assert_eq!(counts(limits).await.changed, 1);
    let interrupts = on(|event: &mut PreReasoning<'_>| event.context().interrupt());
    assert_eq!(counts(interrupts).await.stopped, 1);
    let redacted = counts(PiiDetection::all().everywhere()).await;
    assert!(redacted.changed > 0, "{redacted}");
}

/// Notes in a value of the call what it has seen, and refuses by it.
struct ByValue;

#[derive(Clone)]
struct Began(&'static str);

#[agent_hook]
impl ByValue {
    fn begin(&self, event: &mut PreCall<'_>) {
        assert!(event.context().insert(Began("by the hook")).is_none());
    }

    fn refuse(&self, event: &mut PreActing<'_>) -> Flow {
        let began = event.context().get::<Began>().map_or("", |began| began.0);
        if began == "by the hook" { event.refuse("it began") } else { Flow::Continue }
    }
}

#[tokio::test]
async fn values_of_calls_are_the_hooks_own() {
    assert_eq!(counts(ByValue).await.refused, 1);
    // Those of others are seen, and its own are seen by nobody.
    let shadow = ByValue.in_shadow();
    let (builder, pay) = builder();
    let other = on(|event: &mut PreActing<'_>| {
        assert!(event.context().get::<Began>().is_none());
        let _ = event.context().insert(Began("by the call"));
    });
    let last = on(|event: &mut PostCall<'_>| {
        assert_eq!(event.context().get::<Began>().unwrap().0, "by the call");
    });
    let agent = builder.hook(shadow.clone()).hook(other).hook(last).build().unwrap();
    agent.call("Pay 5").await.unwrap();
    shadow.caught_up().await;
    assert_eq!((pay.inputs().len(), shadow.counts().refused), (1, 1));
}

/// Decides after the rest of a call has run, or cuts it.
#[derive(Clone, Copy)]
enum Late {
    DeniesAnyway,
    AsksAnyway,
    PassesOn,
    CutsTheAnswer,
    RunsAnotherTool,
}

#[agent_hook]
impl Late {
    async fn check(
        &self,
        check: PermissionCheck<'_>,
        next: NextPermission<'_>,
    ) -> Result<Permission, AgentError> {
        let permission = next.run(check.into_tool_use()).await?;
        Ok(match self {
            Self::DeniesAnyway => Permission::Deny("no".to_owned()),
            Self::AsksAnyway => Permission::Ask,
            _ => permission,
        })
    }

    async fn model(
        &self,
        call: ModelCall<'_>,
        next: NextModel<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        let answer = next.run(call.into_request()).await?;
        let cuts = matches!(self, Self::CutsTheAnswer);
        let most = if cuts { 1 } else { usize::MAX };
        Ok(answer.map_stream(|stream| stream.take(most).boxed()))
    }

    async fn tool(&self, call: ToolCall<'_>, next: NextTool<'_>) -> Result<ToolResult, ToolError> {
        if matches!(self, Self::RunsAnotherTool) {
            let other = FunctionTool::new("other", "Does nothing.", async |_: Value| "paid");
            return next.run_tool(call.into_tool_use(), Arc::new(other)).await;
        }
        next.run(call.into_tool_use()).await
    }
}

#[tokio::test]
async fn what_is_decided_after_the_rest_of_a_call_is_counted() {
    assert_eq!(counts(Late::DeniesAnyway).await.refused, 1);
    assert_eq!(counts(Late::AsksAnyway).await.asked, 1);
    assert_eq!(counts(Late::PassesOn).await.divergences(), 0);
    assert_eq!(counts(Late::RunsAnotherTool).await.changed, 1);
    assert!(counts(Late::CutsTheAnswer).await.changed > 0);
}

#[tokio::test]
async fn values_of_threads_are_the_hooks_own_and_outlive_a_call() {
    let shadow = ToolCallLimit::all().thread(1).build().unwrap().in_shadow();
    let (builder, pay) = builder();
    let agent = builder.hook(shadow.clone()).build().unwrap();
    for _ in 0..2 {
        agent.call("Pay 5").await.unwrap();
    }
    shadow.caught_up().await;
    assert_eq!((pay.inputs().len(), shadow.counts().refused), (2, 1));
    assert!(agent.threads().memory("default").unwrap().values().is_empty());
}

/// Runs around each call.
struct Around {
    refuses: bool,
    twice: bool,
}

#[agent_hook]
impl Around {
    async fn model(
        &self,
        call: ModelCall<'_>,
        next: NextModel<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        if self.twice {
            next.run(call.request().clone()).await?;
        }
        next.run(call.into_request()).await
    }

    async fn tool(&self, call: ToolCall<'_>, next: NextTool<'_>) -> Result<ToolResult, ToolError> {
        let refuses = self.refuses;
        let check = move |_: &ToolUse| if refuses { Err("no".to_owned()) } else { Ok(()) };
        let mut result = next.run_checked(call.into_tool_use(), check).await?;
        result.output = "hidden".into();
        Ok(result)
    }
}

#[tokio::test]
async fn a_hook_around_calls_gets_the_real_ones_once() {
    let around = counts(Around { refuses: false, twice: false }).await;
    assert_eq!((around.runs, around.changed, around.refused, around.failed), (3, 1, 0, 0));
    let refuses = counts(Around { refuses: true, twice: false }).await;
    assert_eq!((refuses.refused, refuses.changed), (1, 0));
    let twice = counts(Around { refuses: false, twice: true }).await;
    assert_eq!((twice.failed, twice.changed), (2, 1));
}

#[tokio::test]
async fn the_stream_is_the_same_with_a_hook_in_shadow_that_rewrites_it() {
    let stream = async |hook: Option<Shadowed>| {
        let chunks = ["write to a", "da@exam", "ple.org", " now"];
        let model = ScriptedModel::new("m", move |_| chunked(chunks));
        let builder = ReActAgent::builder("bot").model(model);
        let agent = hook.into_iter().fold(builder, ReActAgentBuilder::hook).build().unwrap();
        let events: Vec<_> = agent.stream("Go").collect().await;
        events.into_iter().map(|event| format!("{:?}", event.unwrap().kind)).collect::<Vec<_>>()
    };
    let shadow = PiiDetection::all().everywhere().in_shadow();
    assert_eq!(stream(None).await, stream(Some(shadow.clone())).await);
    shadow.caught_up().await;
    assert!(shadow.counts().changed > 0, "{}", shadow.counts());
}

#[test]
fn what_needs_more_than_the_real_call_is_refused() {
    let build = |hook: Shadowed| {
        let model = ScriptedModel::new("m", |_| "yes");
        ReActAgent::builder("bot").model(model).hook(hook).build()
    };
    let error = build(ModelRetry::new().in_shadow()).unwrap_err();
    assert!(matches!(&error, BuildError::NotInShadow { hook, .. } if hook == "ModelRetry"));
    assert_eq!(
        error.to_string(),
        "the hook `ModelRetry` of agent `bot` cannot run in shadow: it calls models again, and a real call runs once"
    );
    assert!(build(ToolRetry::new().named("retry").in_shadow()).is_err());
}

#[tokio::test]
async fn a_hook_that_never_ends_does_not_hold_the_call_and_drops_what_it_does_not_see() {
    let stuck = hooks_agent_core::on!(async move |_: &mut PreCall<'_>| {
        std::future::pending::<()>().await;
    });
    let seen = Arc::new(AtomicUsize::new(0));
    let count = seen.clone();
    let many = on(move |_: &ReasoningChunk<'_>| {
        count.fetch_add(1, Ordering::Relaxed);
    });
    let (stuck, many) = (stuck.in_shadow(), many.in_shadow());
    // On one thread: the hook has no turn while the model sends what it has.
    let model = ScriptedModel::new("m", |_| chunked(["x"; 1000]));
    let agent = ReActAgent::builder("bot").model(model).hook(stuck.clone()).hook(many.clone());
    let agent = agent.build().unwrap();
    assert_eq!(agent.call("Go").await.unwrap().text().len(), 1000);
    many.caught_up().await;
    let counts = many.counts();
    assert_eq!(counts.runs + counts.dropped, 1000, "{counts}");
    assert_eq!(seen.load(Ordering::Relaxed) as u64, counts.runs);
    assert_eq!(stuck.counts().runs, 0);
}

#[derive(Default)]
struct Seen(std::sync::Mutex<Vec<String>>);

impl HookWatcher for Seen {
    fn hook_ran(&self, run: &HookRun<'_>) {
        if run.is_shadow() {
            assert!(run.changes().iter().all(|it| it.before.is_none() && it.after.is_none()));
            let paths: Vec<_> = run.changes().into_iter().map(|it| it.path).collect();
            let line = format!("{} {} {} {paths:?}", run.hook(), run.event(), run.flow());
            self.0.lock().unwrap().push(line);
        }
        assert_ne!(run.flow(), HookFlow::Cancelled);
    }
}

struct Watch(Arc<Seen>);

impl AgentHook for Watch {
    fn events(&self) -> EventMask {
        EventMask::NONE
    }

    fn watcher(&self) -> Option<Arc<dyn HookWatcher>> {
        Some(self.0.clone())
    }
}

#[tokio::test]
async fn watchers_hear_of_it_without_values() {
    let seen = Arc::new(Seen::default());
    let edits = on(|event: &mut PreActing<'_>| event.tool_use_mut().input = json!({ "euros": 1 }));
    let edits = edits.named("edits").in_shadow();
    let (builder, _) = builder();
    let agent = builder.hook(edits.clone()).hook(Watch(seen.clone())).build().unwrap();
    agent.call("Pay 5").await.unwrap();
    edits.caught_up().await;
    let expected = r#"edits PRE_ACTING continue ["tool_use.input.euros"]"#;
    assert_eq!(*seen.0.lock().unwrap(), [expected]);
}

#[tokio::test]
async fn it_is_inherited_and_counts_sub_agents_where_its_agent_counts() {
    let limit = ToolCallLimit::all().run(2).counting_sub_agents(true).build().unwrap();
    let shadow = limit.inherited(true).in_shadow();
    let pay = (0..3).fold(Calls::new("pay"), |tool, _| tool.answers("paid"));
    let uses = |id: &str| [ToolUse::new(id, "pay", json!({}))];
    let sub = Script::new().calls(uses("1")).calls(uses("2")).calls(uses("3")).says("end");
    let sub = ReActAgent::builder("sub").model(sub).tool(pay.clone()).build().unwrap();
    let main = [ToolUse::new("s", "sub", json!({ "task": "Pay" }))];
    let main = ReActAgent::builder("main").model(Script::new().calls(main).says("end"));
    let main = main.tool(sub.to_tool("Pays.")).hook(shadow.clone()).build().unwrap();
    main.call("Go").await.unwrap();
    shadow.caught_up().await;
    assert_eq!(pay.inputs().len(), 3);
    assert!(shadow.counts().refused > 0, "{}", shadow.counts());
}

#[test]
fn it_runs_without_a_runtime_too() {
    let refuses = on(|event: &mut PreActing<'_>| event.refuse("no")).in_shadow();
    let (builder, _) = builder();
    let agent = builder.hook(refuses.clone()).build().unwrap();
    futures::executor::block_on(async {
        agent.call("Pay 5").await.unwrap();
        refuses.caught_up().await;
    });
    assert_eq!(refuses.counts().refused, 1);
}

#[test]
fn a_plan_does_not_take_it_for_a_guard() {
    let guard = PiiDetection::all().everywhere().in_shadow();
    let model = ScriptedModel::new("m", |_| "yes");
    let agent = ReActAgent::builder("bot").model(model).hook(guard).build().unwrap();
    let plan = agent.hook_plan();
    assert!(plan.hooks().iter().all(|hook| hook.role().is_none()));
}

/// A model that says something, then nothing more, and tells when.
struct Stops(Arc<Notify>);

impl ChatModel for Stops {
    fn name(&self) -> &'static str {
        "stops"
    }

    fn stream(&self, _: ChatRequest) -> ChatStream {
        let stopped = self.0.clone();
        let first = stream::iter([Ok(ChatChunk::Text("hello".to_owned()))]);
        let rest = stream::once(async move {
            stopped.notify_one();
            std::future::pending().await
        });
        Box::pin(first.chain(rest))
    }
}

#[tokio::test]
async fn a_call_that_is_interrupted_or_dropped_ends_as_without_it() {
    let call = async |hook: Option<Shadowed>, is_dropped: bool| {
        let stopped = Arc::new(Notify::new());
        let builder = ReActAgent::builder("bot").model(Stops(stopped.clone()));
        let agent = hook.into_iter().fold(builder, ReActAgentBuilder::hook).build().unwrap();
        let interrupt = Interrupt::new();
        let options = CallOptions::new().interrupt(interrupt.clone());
        let mut call = Box::pin(agent.call_with(options, "Go"));
        tokio::select! {
            biased;
            _ = &mut call => panic!("the model does not end"),
            () = stopped.notified() => {}
        }
        let reply = if is_dropped {
            drop(call);
            None
        } else {
            interrupt.interrupt();
            Some(call.await.unwrap().text())
        };
        let messages = agent.threads().memory("default").unwrap().messages();
        (reply, messages.iter().map(Msg::text).collect::<Vec<_>>())
    };
    for is_dropped in [false, true] {
        let alone = call(None, is_dropped).await;
        let replies = on(|_: &PostCall<'_>| {}).in_shadow();
        assert_eq!(call(Some(replies), is_dropped).await, alone);
        let answers = on(|_: &PostReasoning<'_>| {}).in_shadow();
        assert_eq!(call(Some(answers), is_dropped).await, alone);
    }
}

#[tokio::test]
async fn what_cannot_run_in_shadow_does_not_when_it_is_added_later_or_wrapped() {
    let (builder, _) = builder();
    let agent = builder.build().unwrap();
    let shadow = ModelRetry::new().in_shadow();
    agent.register_agent_hook(shadow.clone());
    agent.call("Pay 5").await.unwrap();
    shadow.caught_up().await;
    assert_eq!(shadow.counts().runs, 0);

    let build = |hook: Shadowed| ReActAgent::builder("bot").model(Script::new()).hook(hook).build();
    let wrapped = build(Blocking(ModelRetry::new()).in_shadow()).unwrap_err();
    assert!(matches!(wrapped, BuildError::NotInShadow { .. }), "{wrapped}");
    let twice = build(on(|_: &PostCall<'_>| {}).in_shadow().in_shadow()).unwrap_err();
    assert!(twice.to_string().contains("it is in shadow already"), "{twice}");
}

struct Passes;

#[agent_hook]
impl Passes {
    async fn model(
        &self,
        call: ModelCall<'_>,
        next: NextModel<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        next.run(call.into_request()).await
    }
}

#[tokio::test]
async fn around_calls_it_does_not_see_what_a_call_replays() {
    let shadow = Passes.in_shadow();
    let (journal, id) = (MemoryJournal::new(), RunId::random());
    let agent = || World::default().builder().hook(shadow.clone()).build().unwrap();
    run(&agent(), &journal, id).await.unwrap();
    shadow.caught_up().await;
    let first = shadow.counts().runs;
    assert!(first > 0);
    run(&agent(), &journal, id).await.unwrap();
    shadow.caught_up().await;
    assert_eq!(shadow.counts().runs, first);
}

/// Keeps what it reads of answers, as a hook that traces them.
struct Reads(Arc<std::sync::Mutex<String>>);

impl AgentHook for Reads {
    fn around(&self) -> AroundMask {
        AroundMask::MODEL_CALL
    }

    async fn around_model_call(
        &self,
        call: ModelCall<'_>,
        next: NextModel<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        let answer = next.run(call.into_request()).await?;
        let read = self.0.clone();
        let see = move |chunk: &Result<ChatChunk, ModelError>| {
            write!(read.lock().unwrap(), "{chunk:?}").unwrap();
        };
        Ok(answer.map_stream(|stream| Box::pin(stream.inspect(see))))
    }
}

#[tokio::test]
async fn what_a_guard_removes_is_in_no_answer_that_a_hook_in_shadow_reads() {
    for is_outside in [true, false] {
        let read = Arc::new(std::sync::Mutex::new(String::new()));
        let (builder, _) = builder();
        let guard = PiiDetection::all().everywhere();
        // At the priority of the guard: outside of it, or inside.
        let priority = if is_outside { i32::MIN } else { i32::MAX };
        let shadow = Reads(read.clone()).with_priority(priority).in_shadow();
        let builder = builder.hook(shadow.clone()).hook(guard);
        let text = builder.build().unwrap().call("Pay 5").await.unwrap().text();
        assert!(!text.contains("ada@example.org"));
        shadow.caught_up().await;
        let read = read.lock().unwrap();
        assert!(read.contains("REDACTED_EMAIL") && !read.contains("ada@"), "{is_outside}: {read}");
        assert_eq!(shadow.counts().changed, 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_waits_for_ever_is_ended_a_minute_after_its_call() {
    struct Ends(Arc<AtomicUsize>);
    impl Drop for Ends {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let ended = Arc::new(AtomicUsize::new(0));
    let note = ended.clone();
    let stuck = hooks_agent_core::on!(async move |_: &mut PreCall<'_>| {
        let _ends = Ends(note.clone());
        std::future::pending::<()>().await;
    });
    let stuck = stuck.in_shadow();
    let model = ScriptedModel::new("m", |_| "yes");
    let agent = ReActAgent::builder("bot").model(model).hook(stuck.clone()).build().unwrap();
    let begin = tokio::time::Instant::now();
    agent.call("Go").await.unwrap();
    stuck.caught_up().await;
    assert_eq!(ended.load(Ordering::Relaxed), 1);
    assert_eq!(begin.elapsed().as_secs(), 60);
    assert_eq!(stuck.counts().divergences(), 0);
}

#[tokio::test]
async fn a_hook_in_shadow_hears_of_an_interrupt_from_outside() {
    let waits = hooks_agent_core::on!(async move |event: &mut PreReasoning<'_>| {
        event.context().interrupted().await;
    });
    let waits = waits.in_shadow();
    let interrupt = Interrupt::new();
    let by_model = interrupt.clone();
    let model = ScriptedModel::new("m", move |_| {
        by_model.interrupt();
        "yes"
    });
    let agent = ReActAgent::builder("bot").model(model).hook(waits.clone()).build().unwrap();
    let options = CallOptions::new().interrupt(interrupt);
    let reply = agent.call_with(options, "Go").await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::Interrupted));
    waits.caught_up().await;
}

/// Waits at its first event, and notes how many messages the thread has before and after.
struct Slow {
    begun: Arc<Notify>,
    goes_on: Arc<Notify>,
    count: AtomicUsize,
    seen: Arc<Records<(usize, usize)>>,
}

#[agent_hook]
impl Slow {
    async fn look(&self, event: &mut PreReasoning<'_>) {
        let cx = event.context();
        let length = || cx.memory().unwrap().messages().len();
        let before = length();
        if self.count.fetch_add(1, Ordering::Relaxed) == 0 {
            self.begun.notify_one();
            self.goes_on.notified().await;
        }
        self.seen.push((before, length()));
    }
}

#[tokio::test]
async fn a_hook_that_does_not_keep_up_sees_each_call_of_a_thread_as_it_was() {
    let (begun, goes_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let seen = Arc::new(Records::new());
    let (count, records) = (AtomicUsize::new(0), seen.clone());
    let slow = Slow { begun: begun.clone(), goes_on: goes_on.clone(), count, seen: records };
    let shadow = slow.in_shadow();
    let script = Script::new().says("one").says("two").says("three");
    let agent = ReActAgent::builder("bot").model(script).hook(shadow.clone()).build().unwrap();
    agent.call("1").await.unwrap();
    begun.notified().await;
    agent.call("2").await.unwrap();
    agent.call("3").await.unwrap();
    goes_on.notify_one();
    shadow.caught_up().await;
    assert_eq!(seen.take(), [(1, 1), (3, 3), (5, 5)]);
}

#[tokio::test(start_paused = true)]
async fn calls_that_wait_for_a_stuck_one_of_their_thread_are_given_up_a_minute_after_their_end() {
    struct Stuck;

    #[agent_hook]
    impl Stuck {
        async fn wait(&self, _: &mut PreCall<'_>) {
            std::future::pending::<()>().await;
        }
    }

    let stuck = Stuck.in_shadow();
    let model = ScriptedModel::new("m", |_| "yes");
    let agent = ReActAgent::builder("bot").model(model).hook(stuck.clone()).build().unwrap();
    let begun = tokio::time::Instant::now();
    for _ in 0..3 {
        agent.call("Go").await.unwrap();
    }
    stuck.caught_up().await;
    assert_eq!((begun.elapsed().as_secs(), stuck.counts().divergences()), (60, 0));
}

struct Pairs;

struct Open;

#[agent_hook]
impl Pairs {
    fn begin(&self, event: &mut PreActing<'_>) {
        let _ = event.context().insert(Open);
    }

    fn end(&self, event: &mut PostActing<'_>) {
        assert!(event.context().remove::<Open>().is_some());
    }

    fn look(&self, event: &mut PostCall<'_>) {
        assert!(event.context().get::<Open>().is_none());
    }
}

#[tokio::test]
async fn a_value_that_a_hook_removes_is_gone_for_it() {
    assert_eq!(counts(Pairs).await.divergences(), 0);
    let shadow = Pairs.in_shadow();
    let (builder, _) = builder();
    // One of the call stays, and is gone for the hook.
    let other = on(|event: &mut PreCall<'_>| drop(event.context().insert(Open)));
    let last = on(|event: &mut PostCall<'_>| assert!(event.context().get::<Open>().is_some()));
    let agent = builder.hook(shadow.clone()).hook(other).hook(last).build().unwrap();
    agent.call("Pay 5").await.unwrap();
    shadow.caught_up().await;
    assert_eq!(shadow.counts().divergences(), 0);
}

struct Takes;

#[agent_hook]
impl Takes {
    fn take(&self, event: &mut PostActing<'_>) {
        assert!(event.context().remove::<Open>().is_some());
    }
}

#[tokio::test]
async fn a_value_that_is_handed_over_anew_is_found_again() {
    let shadow = Takes.in_shadow();
    let gives = on(|event: &mut PreActing<'_>| drop(event.context().insert(Open)));
    let uses = |id| [ToolUse::new(id, "pay", json!({}))];
    let model = Script::new().calls(uses("1")).calls(uses("2")).says("Done.");
    let pay = Calls::new("pay").answers("paid").answers("paid");
    let builder = ReActAgent::builder("bot").model(model).tool(pay);
    let agent = builder.hook(gives).hook(shadow.clone()).build().unwrap();
    agent.call("Pay twice").await.unwrap();
    shadow.caught_up().await;
    assert_eq!((shadow.counts().runs, shadow.counts().divergences()), (2, 0));
}
