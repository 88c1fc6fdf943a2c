//! Calls that end their process each time they run.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hooks_agent_builtin::limit::{Budget, Exit, LimitStyle, ModelCallLimit, ToolCallLimit};
use hooks_agent_builtin::people::HumanInTheLoop;
use hooks_agent_core::message::GenerateReason;
use hooks_agent_core::model::{ChatModel, ChatRequest, ChatStream};
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_core::store::{Decision, Durability, Filter, Store, ThreadKey};
use serde_json::{Value, json};

use crate::agents::attack::{assert_valid, echo, in_time};
use crate::agents::cut_off_calls::crash::crash;
use crate::agents::gate::Gate;
use crate::agents::stores::{Place, sqlite, waiting};
use crate::open::{LONG, messages, open};

/// A model that ends the process if it reads `poison`, and else answers as another model does.
struct Fragile {
    gate: Gate,
    asked: Arc<AtomicUsize>,
    other: ScriptedModel,
}

impl ChatModel for Fragile {
    fn name(&self) -> &'static str {
        "fragile"
    }

    fn stream(&self, request: ChatRequest) -> ChatStream {
        let is_poison = |msg: &Msg| msg.text().contains("poison");
        if !request.messages.iter().any(is_poison) {
            return self.other.stream(request);
        }
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.gate.enter();
        Box::pin(futures::stream::pending())
    }
}

/// A store whose processes end.
struct Crashing {
    place: Place,
    asked: Arc<AtomicUsize>,
}

impl Crashing {
    fn new() -> Self {
        Self { place: sqlite(), asked: Arc::default() }
    }

    fn address(&self) -> String {
        format!("sqlite:{}", self.place.file().display())
    }

    async fn store(&self) -> Arc<dyn Store> {
        open(&self.address(), LONG).await
    }

    async fn builder(&self, gate: &Gate) -> ReActAgentBuilder {
        let model = Fragile { gate: gate.clone(), asked: self.asked.clone(), other: echo() };
        ReActAgent::builder("clerk").model(model).store(self.store().await)
    }

    async fn agent(&self) -> ReActAgent {
        self.builder(&Gate::new()).await.build().unwrap()
    }

    /// Runs a call until its process ends, and waits until its lease is over.
    async fn crash(
        &self,
        messages: impl Into<Messages> + Send + 'static,
        build: impl FnOnce(&Gate, ReActAgentBuilder) -> ReActAgent + Send + 'static,
    ) {
        let (address, asked) = (self.address(), self.asked.clone());
        let start = async move |gate: &Gate| {
            let model = Fragile { gate: gate.clone(), asked, other: echo() };
            let store = open(&address, LONG).await;
            build(gate, ReActAgent::builder("clerk").model(model).store(store))
        };
        crash(start, messages).await;
        self.place.execute("UPDATE thread SET lease_until = 1").await;
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

fn plain(_: &Gate, builder: ReActAgentBuilder) -> ReActAgent {
    builder.build().unwrap()
}

fn set_aside(error: &AgentError) -> u32 {
    let AgentError::SetAside { times, .. } = error else { panic!("{error:?}") };
    assert!(error.to_string().contains(&format!("{times} times")), "{error}");
    *times
}

async fn is_cut_off(store: &dyn Store) -> bool {
    store.threads(Filter::agent("clerk")).await.unwrap()[0].is_cut_off()
}

#[tokio::test]
async fn a_message_whose_call_was_cut_off_five_times_is_set_aside() {
    let it = Crashing::new();
    it.agent().await.call("before").await.unwrap();
    it.crash("poison", plain).await;
    for _ in 0..4 {
        assert!(is_cut_off(&*it.store().await).await);
        it.crash(Messages::new(), plain).await;
    }
    assert_eq!(it.asked(), 5);
    let agent = it.agent().await;
    assert_eq!(set_aside(&agent.resume(CallOptions::new()).await.unwrap_err()), 5);
    let store = it.store().await;
    assert!(!is_cut_off(&*store).await);
    // The thread goes on without it, here and elsewhere; the history has it.
    assert_eq!(agent.call("hello").await.unwrap().text(), "before|hello");
    assert_eq!(it.agent().await.call("again").await.unwrap().text(), "before|hello|again");
    assert_eq!(it.asked(), 5);
    let key = ThreadKey::new("clerk", "default").unwrap();
    let history = store.history(&key).await.unwrap();
    let kept = history.iter().find(|row| row.message.to_string().contains("poison")).unwrap();
    assert!(kept.archived.is_some());
    assert_eq!(messages(&*store, &key).await.len(), 6);
}

#[tokio::test]
async fn a_call_is_counted_before_anything_of_it_runs() {
    let it = Crashing::new();
    it.crash("poison", plain).await;
    for _ in 0..4 {
        let in_a_hook = |gate: &Gate, builder: ReActAgentBuilder| {
            let gate = gate.clone();
            let ends = on!(async move |_: &mut PreCall<'_>| {
                gate.enter();
                std::future::pending::<()>().await;
            });
            builder.hook(ends).build().unwrap()
        };
        it.crash(Messages::new(), in_a_hook).await;
    }
    let error = it.agent().await.resume(CallOptions::new()).await.unwrap_err();
    assert_eq!((set_aside(&error), it.asked()), (5, 1));
}

#[tokio::test]
async fn a_call_that_ends_is_counted_no_more_and_the_program_says_how_often() {
    let it = Crashing::new();
    for _ in 0..3 {
        it.crash("poison", plain).await;
        it.crash(Messages::new(), plain).await;
        // The same message, with a model that survives it.
        let model = echo();
        let agent = ReActAgent::builder("clerk").model(model).store(it.store().await);
        let agent = agent.max_cut_offs(3).build().unwrap();
        assert!(agent.resume(CallOptions::new()).await.is_ok());
    }
    it.crash(Messages::new(), plain).await;
    let once = it.builder(&Gate::new()).await.max_cut_offs(1).build().unwrap();
    assert_eq!(set_aside(&once.call("new").await.unwrap_err()), 1);
}

/// A model that calls the tool `pay` first.
fn payer() -> ScriptedModel {
    ScriptedModel::new("payer", |request| -> ScriptedAnswer {
        match request.messages.last() {
            Some(msg) if msg.text() == "Pay" => ToolUse::new("1", "pay", json!({})).into(),
            last => last.map(Msg::text).unwrap_or_default().into(),
        }
    })
}

#[tokio::test]
async fn the_model_reads_which_tools_took_effect() {
    let it = Crashing::new();
    let pays = |gate: &Gate, builder: ReActAgentBuilder| {
        let pay = FunctionTool::new("pay", "Pays.", async |_: Value| "paid");
        let gate = gate.clone();
        let ends = on!(async move |_: &mut PostActing<'_>| {
            gate.enter();
            std::future::pending::<()>().await;
        });
        builder.model(payer()).tool(pay).hook(ends).max_cut_offs(1).build().unwrap()
    };
    it.crash("Pay", pays).await;
    let agent = it.builder(&Gate::new()).await.max_cut_offs(1).build().unwrap();
    set_aside(&agent.resume(CallOptions::new()).await.unwrap_err());
    let reply = agent.call("hello").await.unwrap().text();
    assert!(reply.contains("may have taken effect: pay") && reply.ends_with("|hello"), "{reply}");
    assert_valid(&agent, "default");
}

#[tokio::test]
async fn a_tool_call_that_ends_each_process_gets_an_error_as_result() {
    let it = Crashing::new();
    let asks = |gate: &Gate, builder: ReActAgentBuilder| {
        let ask = HumanInTheLoop::new().ask("pay");
        let pay = gate.tool("pay").idempotent();
        builder.model(payer()).tool(pay).hook(ask).max_cut_offs(2).build().unwrap()
    };
    let agent = asks(&Gate::new(), it.builder(&Gate::new()).await);
    agent.call("Pay").await.unwrap();
    let store = it.store().await;
    let verdict = hooks_agent_core::store::Verdict::new(
        waiting(&*store).await[0].id.clone(),
        Decision::Approve,
    );
    store.decide(vec![verdict]).await.unwrap();
    for _ in 0..2 {
        it.crash(Messages::new(), asks).await;
    }
    let agent = asks(&Gate::new(), it.builder(&Gate::new()).await);
    set_aside(&agent.resume(CallOptions::new()).await.unwrap_err());
    let history = agent.threads().memory("default").unwrap().messages();
    let result = history.last().unwrap().tool_results().next().unwrap();
    assert!(result.is_error && result.output.as_str().contains("each time"), "{result:?}");
    assert_eq!(agent.call("hello").await.unwrap().text(), "hello");
    assert_valid(&agent, "default");
}

fn poet(gate: &Gate, builder: ReActAgentBuilder, store: Arc<dyn Store>) -> ReActAgent {
    let model = Fragile { gate: gate.clone(), asked: Arc::default(), other: echo() };
    let poet = ReActAgent::builder("poet").model(model).store(store).build().unwrap();
    let model = ScriptedModel::new("boss", |request| -> ScriptedAnswer {
        match request.messages.last().and_then(|msg| msg.tool_results().next()) {
            Some(result) => result.output.as_str().into(),
            None => ToolUse::new("1", "poet", json!({ "task": request.last_text() })).into(),
        }
    });
    builder.model(model).tool(poet.to_tool("Writes")).max_cut_offs(2).build().unwrap()
}

#[tokio::test]
async fn a_sub_agent_takes_other_tasks_when_one_is_set_aside() {
    let it = Crashing::new();
    for messages in [Messages::from("poison"), Messages::new()] {
        let store = it.store().await;
        it.crash(messages, |gate, builder| poet(gate, builder, store)).await;
    }
    let store = it.store().await;
    let agent = poet(&Gate::new(), it.builder(&Gate::new()).await, store.clone());
    set_aside(&agent.resume(CallOptions::new()).await.unwrap_err());
    assert!(agent.call("a poem").await.is_ok());
}

#[tokio::test]
async fn a_limit_of_a_thread_holds_over_calls_that_are_cut_off() {
    for durability in [Durability::Step, Durability::Call] {
        let it = Crashing::new();
        let limited = move |_: &Gate, builder: ReActAgentBuilder| {
            let limit = ModelCallLimit::builder().thread(3).build().unwrap();
            builder.hook(limit).durability(durability).max_cut_offs(99).build().unwrap()
        };
        for _ in 0..3 {
            it.crash("poison", limited).await;
        }
        for _ in 0..9 {
            let agent = limited(&Gate::new(), it.builder(&Gate::new()).await);
            let reply = agent.call("poison").await.unwrap();
            assert_eq!(reply.reason, Some(GenerateReason::LimitReached), "{durability:?}");
        }
        assert_eq!(it.asked(), 3, "{durability:?}");
    }
}

#[tokio::test]
async fn a_budget_of_a_thread_holds_over_calls_that_are_cut_off() {
    for durability in [Durability::Step, Durability::Call] {
        let it = Crashing::new();
        let limited = move |_: &Gate, builder: ReActAgentBuilder| {
            let budget = Budget::builder().thread_tokens(25).build().unwrap();
            builder.hook(budget).durability(durability).max_cut_offs(99).build().unwrap()
        };
        // An estimate of 10 tokens.
        let text = format!("poison{}", "1".repeat(34));
        for _ in 0..3 {
            it.crash(text.clone(), limited).await;
        }
        let agent = limited(&Gate::new(), it.builder(&Gate::new()).await);
        let reply = agent.call(text).await.unwrap();
        let spent = "Budget of the thread is spent: 30 of 25 tokens (partly estimated)";
        assert_eq!(reply.text(), spent, "{durability:?}");
        assert_eq!(it.asked(), 3, "{durability:?}");
    }
}

#[tokio::test]
async fn what_is_observed_and_read_between_crashes_does_not_stop_the_count() {
    let it = Crashing::new();
    it.crash("poison", plain).await;
    for number in 0..4 {
        let agent = it.agent().await;
        agent
            .observe(agent.context(CallOptions::new()), Msg::user(format!("note {number}")))
            .await
            .unwrap();
        agent.read_thread("default").await.unwrap();
        it.crash(Messages::new(), plain).await;
    }
    let error = it.agent().await.resume(CallOptions::new()).await.unwrap_err();
    assert_eq!((set_aside(&error), it.asked()), (5, 5));
}

/// A model that calls `pay` again and again, with a tool that ends its process.
fn spender(gate: &Gate, builder: ReActAgentBuilder, limit: ToolCallLimit) -> ReActAgent {
    let model = ScriptedModel::new("spender", |request| -> ScriptedAnswer {
        ToolUse::new(request.messages.len().to_string(), "pay", json!({})).into()
    });
    let builder = builder.model(model).tool(gate.tool("pay").idempotent()).hook(limit);
    builder.durability(Durability::Call).max_cut_offs(99).build().unwrap()
}

#[tokio::test]
async fn a_limit_of_tool_calls_of_a_thread_holds_over_calls_that_are_cut_off() {
    for style in [LimitStyle::BeforeExecution, LimitStyle::NextModelCall] {
        for tool in [None, Some("pay")] {
            let it = Crashing::new();
            let limited = move |gate: &Gate, builder: ReActAgentBuilder| {
                let limit = tool.map_or_else(ToolCallLimit::all, ToolCallLimit::of);
                let limit = limit.thread(3).style(style).exit(Exit::End);
                spender(gate, builder, limit.build().unwrap())
            };
            for _ in 0..3 {
                it.crash("Pay", limited).await;
            }
            let agent = limited(&Gate::new(), it.builder(&Gate::new()).await);
            let reply = in_time(agent.call("Pay")).await.unwrap();
            assert_eq!(reply.reason, Some(GenerateReason::LimitReached), "{style:?}, {tool:?}");
        }
    }
}
