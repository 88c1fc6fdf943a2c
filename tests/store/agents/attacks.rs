//! What must hold when a process is disturbed, and when somebody tries to get around people.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use hooks_agent::builtin::people::HumanInTheLoop;
use hooks_agent::call::Interrupt;
use hooks_agent::event::{PostReasoning, PreActing};
use hooks_agent::message::unanswered_tool_uses;
use hooks_agent::prelude::*;
use hooks_agent::store::{Decision, Durability, Filter, SqliteStore, Store, StoreError, Verdict};
use serde_json::{Value, json};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, Connection, Row};

use crate::agents::stores::{
    Paid, Payment, Place, builder, clerk, pay, pay_tool, payer, places, sqlite, waiting,
};

const ADA: &str = "ada";

fn on_ada() -> CallOptions {
    CallOptions::new().thread(ADA)
}

/// A model that repeats all that the user said.
fn echo() -> ScriptedModel {
    ScriptedModel::new("echo", |request| {
        let said = request.messages.iter().filter(|msg| msg.role == Role::User);
        said.map(|msg| msg.text()).collect::<Vec<_>>().join("|")
    })
}

fn echoing(store: Arc<dyn Store>) -> ReActAgent {
    ReActAgent::builder("clerk").model(echo()).store(store).build().unwrap()
}

/// Everything that the file of a store has, as text.
async fn rows(place: &Place) -> String {
    let options = SqliteConnectOptions::new().filename(place.file());
    let mut conn = SqliteConnection::connect_with(&options).await.unwrap();
    let mut all = String::new();
    for table in ["thread", "message", "value", "tool_call", "question"] {
        let names =
            sqlx::query(AssertSqlSafe(format!("SELECT name FROM pragma_table_info('{table}')")));
        let names = names.fetch_all(&mut conn).await.unwrap();
        for name in names.iter().map(|row| row.get::<String, _>(0)) {
            let sql = format!("SELECT CAST(\"{name}\" AS TEXT) FROM \"{table}\"");
            for row in sqlx::query(AssertSqlSafe(sql)).fetch_all(&mut conn).await.unwrap() {
                all.push_str(&row.get::<Option<String>, _>(0).unwrap_or_default());
                all.push('\n');
            }
        }
    }
    all
}

async fn in_time<T>(call: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(10), call).await.expect("the thread is blocked")
}

fn assert_valid(agent: &ReActAgent, thread: &str) {
    let history = agent.threads().history(thread);
    assert!(unanswered_tool_uses(&history).is_empty(), "{history:?}");
    let ids: Vec<_> = history.iter().flat_map(Msg::tool_results).map(|it| it.id.clone()).collect();
    let calls: usize = history.iter().map(|msg| msg.tool_uses().count()).sum();
    assert_eq!(ids.len(), calls, "{history:?}");
}

#[tokio::test]
async fn what_is_forgotten_is_not_remembered_by_another_worker() {
    let place = sqlite();
    let (one, other) = (echoing(place.open().await), echoing(place.open().await));
    one.call_with(on_ada(), "secret").await.unwrap();
    assert!(other.forget(ADA).await.unwrap());
    // As many steps as before.
    other.call_with(on_ada(), "hello").await.unwrap();
    assert_eq!(one.call_with(on_ada(), "again").await.unwrap().text(), "hello|again");
    assert!(!rows(&place).await.contains("secret"));
}

#[tokio::test]
async fn a_thread_that_is_forgotten_during_its_call_is_still_written() {
    for thread in [ADA, "default"] {
        let (place, paid) = (sqlite(), Paid::default());
        let slot: Arc<std::sync::OnceLock<std::sync::Weak<ReActAgent>>> = Arc::default();
        let of_tool = slot.clone();
        let tool = FunctionTool::new("pay", "Pays.", move |Payment { euros }: Payment| {
            let agent = of_tool.get().unwrap().upgrade().unwrap();
            async move {
                let is_forgotten = agent.forget(thread).await.unwrap();
                let is_dropped = agent.threads().forget(thread);
                format!("{is_forgotten} {is_dropped} {euros}")
            }
        });
        let model = payer([pay("1", 12)]);
        let agent = ReActAgent::builder("clerk").model(model).tool(tool);
        let agent = Arc::new(agent.store(place.open().await).build().unwrap());
        slot.set(Arc::downgrade(&agent)).unwrap();
        let options = CallOptions::new().thread(thread);
        let reply = agent.call_with(options.clone(), "Pay").await.unwrap();
        assert!(reply.text().starts_with("false "), "{}", reply.text());
        let other = clerk(place.open().await, &paid);
        let said = other.call_with(options, "hello").await.unwrap();
        assert_eq!(said.text(), "heard: hello", "{thread}");
        assert_eq!(other.threads().history(thread).len(), 6, "{thread}");
        assert_valid(&other, thread);
    }
}

/// Polls a call this many times, and drops it.
async fn polled<T>(call: impl Future<Output = T>, times: usize) -> Option<T> {
    let (mut call, mut left) = (Box::pin(call), times);
    poll_fn(move |cx| {
        left -= 1;
        match call.as_mut().poll(cx) {
            Poll::Ready(ended) => Poll::Ready(Some(ended)),
            Poll::Pending if left == 0 => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

#[tokio::test]
async fn a_call_that_is_dropped_anywhere_leaves_a_thread_that_goes_on() {
    for times in 1..60 {
        let (place, paid) = (sqlite(), Paid::default());
        let build = |store| {
            let model = payer([pay("1", 1), pay("2", 2)]);
            let builder = ReActAgent::builder("clerk").model(model).tool(pay_tool(&paid));
            builder.store(store).build().unwrap()
        };
        let agent = build(place.open().await);
        let is_over = polled(agent.call_with(on_ada(), "Pay"), times).await.is_some();
        let before = paid.take();
        in_time(agent.call_with(on_ada(), "hello")).await.unwrap();
        assert_valid(&agent, ADA);
        let after = paid.take();
        let twice = before.iter().any(|euros| after.contains(euros));
        assert!(!twice, "{times}: {before:?} {after:?}");
        let other = build(place.open().await);
        in_time(other.call_with(on_ada(), "hello")).await.unwrap();
        assert_valid(&other, ADA);
        if is_over {
            return;
        }
    }
    panic!("the call never ends");
}

#[tokio::test]
async fn a_call_that_is_interrupted_anywhere_leaves_a_thread_that_goes_on() {
    for times in 1..60 {
        let (place, paid) = (sqlite(), Paid::default());
        let agent = builder(place.open().await, &paid).build().unwrap();
        let interrupt = Interrupt::new();
        let options = on_ada().interrupt(interrupt.clone());
        let mut call = Box::pin(agent.call_with(options, "Pay"));
        let over = polled(&mut call, times).await;
        let is_over = over.is_some();
        if !is_over {
            interrupt.interrupt();
            let _ = in_time(call).await;
        }
        let before = paid.take();
        in_time(agent.call_with(on_ada(), "hello")).await.unwrap();
        assert_valid(&agent, ADA);
        let after = paid.take();
        assert!(!before.iter().any(|euros| after.contains(euros)), "{times}: {before:?} {after:?}");
        let info = place.open().await.threads(Filter::all()).await.unwrap().remove(0);
        assert!(!info.in_call && !info.is_owned, "{times}");
        if is_over {
            return;
        }
    }
    panic!("the call never ends");
}

fn nested(depth: usize) -> Value {
    (0..depth).fold(json!(1), |value, _| json!([value]))
}

#[tokio::test]
async fn deep_arguments_do_not_make_a_thread_or_a_list_unreadable() {
    for depth in [100, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 200, 400] {
        let place = sqlite();
        let store = place.open().await;
        let call = ToolUse::new("1", "pay", json!({ "euros": nested(depth) }));
        let tool = || FunctionTool::new("pay", "Pays.", |_: Value| async { "paid" });
        let build = |store, call: ToolUse| {
            let builder = ReActAgent::builder("clerk").model(payer([call])).tool(tool());
            builder.store(store).hook(HumanInTheLoop::new().ask("pay")).build().unwrap()
        };
        let bob = || CallOptions::new().thread("bob");
        let agent = build(store.clone(), pay("1", 12));
        agent.call_with(bob(), "Pay").await.unwrap();
        let agent = build(store.clone(), call.clone());
        let ended = agent.call_with(on_ada(), "Pay").await;
        let is_asked = ended.is_ok();
        let listed = store.waiting(Filter::all()).await;
        let listed = listed.unwrap_or_else(|error| panic!("{depth}: {error:?}"));
        assert_eq!(listed.len(), if is_asked { 2 } else { 1 }, "{depth}: {ended:?}");
        // Another process goes on, and this one too.
        for agent in [build(place.open().await, pay("1", 1)), agent] {
            let ended = agent.call_with(on_ada(), "hello").await;
            match ended {
                Ok(_) | Err(AgentError::Input(_)) => {}
                Err(error) => panic!("{depth}: {error:?}"),
            }
        }
        let edit = Decision::Edit(json!({ "euros": nested(depth) }));
        let id = listed.iter().find(|it| &*it.thread == "bob").unwrap().id.clone();
        let decided = store.decide(vec![Verdict::new(id, edit)]).await;
        let _ = store
            .waiting(Filter::all().decided())
            .await
            .unwrap_or_else(|error| panic!("{depth}: {decided:?} {error:?}"));
        let agent = build(place.open().await, pay("1", 1));
        match agent.resume(bob()).await {
            Ok(_) | Err(AgentError::Input(_)) => {}
            Err(error) => panic!("{depth}: {decided:?} {error:?}"),
        }
    }
}

#[tokio::test]
async fn arguments_of_a_sub_agent_that_change_after_they_were_shown_do_not_run() {
    let place = sqlite();
    let paid = Paid::default();
    let agents = |store: Arc<dyn Store>| {
        let cashier = ReActAgent::builder("cashier").model(payer([pay("1", 12)]));
        let cashier = cashier.tool(pay_tool(&paid)).store(store.clone()).build().unwrap();
        let task = ToolUse::new("a", "cashier", json!({ "task": "Pay" }));
        let builder = ReActAgent::builder("clerk").model(payer([task])).store(store);
        let builder = builder.tool(cashier.to_tool("Pays"));
        builder.hook(HumanInTheLoop::new().ask("pay")).build().unwrap()
    };
    agents(place.open().await).call_with(on_ada(), "Pay").await.unwrap();
    let id = waiting(&place.open().await).await.remove(0).id;
    let change = r#"UPDATE message SET body = replace(body, '"euros":12', '"euros":1200')
        WHERE thread_id = (SELECT id FROM thread WHERE agent = 'cashier')"#;
    assert!(place.execute(change).await > 0);
    let reply = agents(place.open().await).resume(on_ada().decide(id, Decision::Approve)).await;
    assert!(paid.take().is_empty(), "{reply:?}");
}

fn change(euros: u64) -> impl AgentHook {
    on(move |event: &mut PreActing<'_>| event.tool_use_mut().input = json!({ "euros": euros }))
}

#[tokio::test]
async fn an_approved_call_that_a_hook_changes_does_not_run_whatever_its_priority() {
    for priority in [1, 20, 100] {
        for decision in [Decision::Approve, Decision::Edit(json!({ "euros": 5 }))] {
            let (place, paid) = (sqlite(), Paid::default());
            let store = place.open().await;
            let hook = change(1200).with_priority(priority);
            let agent = builder(store.clone(), &paid).hook(hook);
            let agent = agent.hook(HumanInTheLoop::new().ask("pay")).build().unwrap();
            agent.call_with(on_ada(), "Pay").await.unwrap();
            let asked = waiting(&store).await.remove(0);
            assert_eq!(asked.arguments, json!({ "euros": 12 }));
            agent.resume(on_ada().decide(asked.id, decision.clone())).await.unwrap();
            let ran = paid.take();
            assert!(ran.is_empty(), "{priority} {decision:?}: {ran:?}");
        }
    }
}

#[tokio::test]
async fn what_a_permission_shows_is_what_runs() {
    for priority in [1, 500] {
        for decision in [Decision::Approve, Decision::Edit(json!({ "euros": 5 }))] {
            for by_hook in [true, false] {
                let (place, paid) = (sqlite(), Paid::default());
                let store = place.open().await;
                let hook = change(1200).with_priority(priority);
                let tool = pay_tool(&paid);
                let tool = if by_hook { tool } else { tool.permission(|_| Permission::Ask) };
                let agent = ReActAgent::builder("clerk").model(payer([pay("1", 12)])).tool(tool);
                let mut agent = agent.store(store.clone()).hook(hook);
                if by_hook {
                    agent = agent.hook(on(|event: &mut PreActing<'_>| event.ask("money")));
                }
                let agent = agent.build().unwrap();
                agent.call_with(on_ada(), "Pay").await.unwrap();
                let asked = waiting(&store).await.remove(0);
                let shown = match &decision {
                    Decision::Edit(edited) => edited.clone(),
                    _ => asked.arguments.clone(),
                };
                agent.resume(on_ada().decide(asked.id, decision.clone())).await.unwrap();
                let ran = paid.take();
                let is_shown = ran.iter().all(|euros| json!({ "euros": euros }) == shown);
                assert!(is_shown, "{priority} {decision:?} hook: {by_hook}: {ran:?} for {shown}");
            }
        }
    }
}

#[tokio::test]
async fn the_text_of_a_question_is_about_the_arguments_that_run() {
    for priority in [1, 100, 600] {
        let (place, paid) = (sqlite(), Paid::default());
        let store = place.open().await;
        let redact = on(|event: &mut PostReasoning<'_>| {
            for block in &mut event.message_mut().content {
                if let ContentBlock::ToolUse(call) = block {
                    call.input = json!({ "euros": 7 });
                }
            }
        });
        let agent = builder(store.clone(), &paid).hook(redact.with_priority(priority));
        let agent = agent.hook(HumanInTheLoop::new().ask("pay")).build().unwrap();
        agent.call_with(on_ada(), "Pay").await.unwrap();
        let asked = waiting(&store).await.remove(0);
        assert_eq!(asked.arguments, json!({ "euros": 7 }));
        assert!(!asked.description.contains("12"), "{priority}: {}", asked.description);
        assert!(!rows(&place).await.contains("\"euros\":12"), "{priority}");
    }
}

#[tokio::test]
async fn bad_names_are_refused_and_the_next_call_works() {
    let place = sqlite();
    let long = "x".repeat(513);
    for durability in [Durability::Step, Durability::Call] {
        for name in ["", "a\0b", &*long] {
            let paid = Paid::default();
            let builder = builder(place.open().await, &paid).durability(durability);
            let agent = builder.build().unwrap();
            let error = agent.call_with(CallOptions::new().thread(name), "Pay").await.unwrap_err();
            assert!(matches!(error, AgentError::Store(StoreError::Name(_))), "{error:?}");
            let error = agent.call_with(on_ada().user(name), "Pay").await.unwrap_err();
            assert!(matches!(error, AgentError::Store(StoreError::Name(_))), "{error:?}");
            assert!(paid.take().is_empty(), "{durability:?} {name:?}");
            in_time(agent.call_with(on_ada(), "hello")).await.unwrap();
            let nobody = ReActAgent::builder(name).model(echo()).store(place.open().await).build();
            if let Ok(nobody) = nobody {
                nobody.call("hello").await.unwrap_err();
            }
            let error = agent.resume(on_ada().decide(name, Decision::Approve)).await.unwrap_err();
            assert!(matches!(error, AgentError::Store(StoreError::Decision(_))), "{error:?}");
        }
    }
}

#[tokio::test]
async fn a_value_of_a_bad_name_does_not_block_its_thread() {
    let long = "x".repeat(513);
    for name in [String::new(), "a\0b".to_owned(), long] {
        let (place, paid) = (sqlite(), Paid::default());
        let is_on = Arc::new(std::sync::atomic::AtomicBool::new(true));
        let on_now = is_on.clone();
        let hook = on(move |event: &mut PostReasoning<'_>| -> HookResult<()> {
            if on_now.load(std::sync::atomic::Ordering::Relaxed) {
                event.context().set_thread_value(&name, &1)?;
            }
            Ok(())
        });
        let agent = builder(place.open().await, &paid).hook(hook).build().unwrap();
        agent.call_with(on_ada(), "Pay").await.unwrap_err();
        is_on.store(false, std::sync::atomic::Ordering::Relaxed);
        agent.call_with(on_ada(), "hello").await.unwrap();
    }
}

#[tokio::test]
async fn a_lease_that_is_lost_at_a_step_ends_the_call_and_nothing_of_it_is_kept() {
    let (place, paid) = (sqlite(), Paid::default());
    let file = place.file();
    let tool = FunctionTool::new("pay", "Pays.", move |Payment { euros }: Payment| {
        let file = file.clone();
        async move {
            let options = SqliteConnectOptions::new().filename(file);
            let mut conn = SqliteConnection::connect_with(&options).await.unwrap();
            let sql = "UPDATE thread SET owner = 'another', fence = fence + 1";
            sqlx::query(sql).execute(&mut conn).await.unwrap();
            format!("paid {euros}")
        }
    });
    let agent = ReActAgent::builder("clerk").model(payer([pay("1", 12)])).tool(tool);
    let agent = agent.store(place.open().await).build().unwrap();
    let error = agent.call_with(on_ada(), "Pay").await.unwrap_err();
    assert!(matches!(error, AgentError::Store(StoreError::LeaseLost { .. })), "{error:?}");
    place.execute("UPDATE thread SET owner = NULL, lease_until = 0").await;
    in_time(agent.call_with(on_ada(), "hello")).await.unwrap();
    assert_valid(&agent, ADA);
    let other = clerk(place.open().await, &paid);
    in_time(other.call_with(on_ada(), "hello")).await.unwrap();
    assert_valid(&other, ADA);
    let text = format!("{:?}", other.threads().history(ADA));
    assert!(text.contains("outcome of this call is unknown"), "{text}");
}

#[tokio::test]
async fn who_waits_too_long_for_another_process_blocks_nobody() {
    let place = sqlite();
    let agent = echoing(place.open().await);
    agent.call_with(on_ada(), "one").await.unwrap();
    place
        .execute("UPDATE thread SET owner = 'another', lease_until = lease_until + 99999999999999")
        .await;
    for _ in 0..3 {
        let options = on_ada().queue_timeout(Duration::from_millis(300));
        let error = agent.call_with(options, "two").await.unwrap_err();
        assert!(matches!(error, AgentError::QueueTimeout { .. }), "{error:?}");
    }
    place.execute("UPDATE thread SET owner = NULL, lease_until = 0").await;
    let reply = in_time(echoing(place.open().await).call_with(on_ada(), "three")).await.unwrap();
    assert_eq!(reply.text(), "one|three");
}

#[tokio::test]
async fn a_question_that_was_answered_otherwise_allows_nothing_later() {
    for place in places() {
        let (store, paid) = (place.open().await, Paid::default());
        let agent = clerk(store.clone(), &paid);
        agent.call_with(on_ada(), "Pay").await.unwrap();
        let asked = waiting(&store).await.remove(0);
        store.decide(vec![Verdict::new(asked.id.clone(), Decision::Approve)]).await.unwrap();
        // The program answers it by itself.
        let memory = agent.threads().memory(ADA).unwrap();
        memory.add(Msg::tool_result(ToolResult::success(&pay("1", 12), "not needed")));
        let reply = agent.call_with(on_ada(), "Pay again").await.unwrap();
        assert_eq!(reply.pending().len(), 1);
        let later = waiting(&store).await;
        assert_eq!(later.len(), 1, "the new call waits for a decision of its own");
        assert_ne!(later[0].id, asked.id);
        agent.resume(on_ada()).await.unwrap();
        assert!(paid.take().is_empty());
    }
}

#[tokio::test]
async fn a_decision_and_a_message_in_one_call_run_the_tool_once() {
    for place in places() {
        let (store, paid) = (place.open().await, Paid::default());
        let agent = clerk(store.clone(), &paid);
        agent.call_with(on_ada(), "Pay").await.unwrap();
        let asked = waiting(&store).await.remove(0);
        let options = || on_ada().decide(asked.id.clone(), Decision::Approve);
        agent.call_with(options(), "and hello").await.unwrap();
        assert_eq!(paid.take(), [12]);
        agent.call_with(options(), "and hello").await.unwrap_err();
        agent.call_with(options().confirm("1"), "and hello").await.unwrap_err();
        agent.call_with(on_ada(), "hello").await.unwrap();
        assert!(paid.take().is_empty());
        assert_valid(&agent, ADA);
    }
}

#[tokio::test]
async fn a_decision_of_another_agent_or_namespace_is_unknown() {
    let place = sqlite();
    let paid = Paid::default();
    let file = SqliteStore::open(place.file()).await.unwrap();
    let agent = clerk(Arc::new(file.clone()), &paid);
    agent.call_with(on_ada(), "Pay").await.unwrap();
    let id = file.waiting(Filter::all()).await.unwrap().remove(0).id;
    let elsewhere = file.namespace("other").unwrap();
    let verdict = || vec![Verdict::new(id.clone(), Decision::Approve)];
    elsewhere.decide(verdict()).await.unwrap_err();
    clerk(Arc::new(elsewhere), &paid)
        .resume(on_ada().decide(id.clone(), Decision::Approve))
        .await
        .unwrap_err();
    let banker = ReActAgent::builder("banker").model(echo()).store(file.clone()).build().unwrap();
    banker.resume(on_ada().decide(id.clone(), Decision::Approve)).await.unwrap_err();
    assert_eq!(file.waiting(Filter::all()).await.unwrap().len(), 1);
    agent.resume(on_ada().decide(id, Decision::Approve)).await.unwrap();
    assert_eq!(paid.take(), [12]);
}

#[test]
fn an_agent_goes_on_in_another_runtime() {
    let place = sqlite();
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let agent = runtime().block_on(async {
        let agent = echoing(place.open().await);
        agent.call_with(on_ada(), "one").await.unwrap();
        agent
    });
    runtime().block_on(async {
        let reply = in_time(agent.call_with(on_ada(), "two")).await.unwrap();
        assert_eq!(reply.text(), "one|two");
    });
}

#[tokio::test]
async fn two_sub_agents_at_once_run_what_was_approved_of_each() {
    let (place, paid) = (sqlite(), Paid::default());
    let agents = |store: Arc<dyn Store>| {
        let sub = |name: &str, euros| {
            let agent = ReActAgent::builder(name).model(payer([pay("1", euros)]));
            agent.tool(pay_tool(&paid)).store(store.clone()).build().unwrap()
        };
        let task = |id: &str, name: &str| ToolUse::new(id, name, json!({ "task": "Pay" }));
        let model = payer([task("a", "one"), task("b", "two")]);
        let builder = ReActAgent::builder("clerk").model(model).store(store.clone());
        let builder = builder.tool(sub("one", 1).to_tool("1")).tool(sub("two", 2).to_tool("2"));
        let hook = HumanInTheLoop::new().ask("pay");
        builder.hook(hook).parallel_tools(true).build().unwrap()
    };
    agents(place.open().await).call_with(on_ada(), "Pay").await.unwrap();
    let asked = waiting(&place.open().await).await;
    assert_eq!(asked.len(), 2, "{asked:?}");
    let of = |id: &str| asked.iter().find(|it| it.call_id == id).unwrap().id.clone();
    let options = on_ada().decide(of("a/1"), Decision::Approve);
    agents(place.open().await).resume(options).await.unwrap();
    let options = on_ada().decide(of("b/1"), Decision::Edit(json!({ "euros": 3 })));
    let reply = agents(place.open().await).resume(options).await.unwrap();
    let mut ran = paid.take();
    ran.sort_unstable();
    assert_eq!(ran, [1, 3], "{reply:?}");
    assert!(waiting(&place.open().await).await.is_empty());
}

#[tokio::test]
async fn a_panic_anywhere_leaves_a_thread_that_goes_on() {
    for event in [
        EventKind::PreCall,
        EventKind::PreReasoning,
        EventKind::PostReasoning,
        EventKind::PreActing,
        EventKind::PostActing,
        EventKind::PostCall,
    ] {
        struct Panics(EventKind);

        impl AgentHook for Panics {
            fn events(&self) -> EventMask {
                self.0.into()
            }

            async fn on_event(&self, _: &mut HookEvent<'_>) -> HookResult<Flow> {
                panic!("a hook panics")
            }
        }

        let (place, paid) = (sqlite(), Paid::default());
        let agent = builder(place.open().await, &paid).hook(Panics(event)).build().unwrap();
        let agent = Arc::new(agent);
        let call = agent.clone().call_owned(on_ada(), "Pay");
        let _ = tokio::spawn(call).await;
        drop(agent);
        let before = paid.take();
        let agent = builder(place.open().await, &paid).build().unwrap();
        in_time(agent.call_with(on_ada(), "hello")).await.unwrap();
        assert_valid(&agent, ADA);
        assert!(before.is_empty() || paid.take().is_empty(), "{event}");
    }
}

#[tokio::test]
async fn a_hidden_argument_is_nowhere_in_the_file() {
    let (place, paid) = (sqlite(), Paid::default());
    let hide = on(|event: &mut PreActing<'_>| event.tool_use_mut().hide("pin", "s3cr3t-pin"));
    let fails = FunctionTool::with_context("pay", "Pays.", async |_: Value, cx: ToolContext| {
        Err::<String, _>(std::io::Error::other(format!("{}", cx.input())))
    });
    let model = payer([pay("1", 1), pay("2", 2)]);
    let agent = ReActAgent::builder("clerk").model(model).tool(fails).hook(hide);
    let agent = agent.hook(HumanInTheLoop::new().ask("pay")).parallel_tools(true);
    let agent = agent.store(place.open().await).build().unwrap();
    agent.call_with(on_ada(), "Pay").await.unwrap();
    let mut options = on_ada();
    for asked in waiting(&place.open().await).await {
        options = options.decide(asked.id, Decision::Edit(json!({ "euros": 5, "pin": "typed" })));
    }
    let reply = agent.resume(options).await.unwrap();
    assert!(!format!("{reply:?}").contains("s3cr3t"));
    assert!(!rows(&place).await.contains("s3cr3t"));
    assert!(paid.take().is_empty());
}
