//! What was tried to get around the questions to people by approvals, and to lose or repeat what users say.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hooks_agent_builtin::guard::{SensitiveWords, WordList};
use hooks_agent_builtin::people::{Gate, HumanInTheLoop};
use hooks_agent_core::call::{RunMode, User};
use hooks_agent_core::event::PreActing;
use hooks_agent_core::hook::on;
use hooks_agent_core::message::{Approvers, GenerateReason, Msg, Question, ToolUse, Usage};
use hooks_agent_core::model::{ModelError, ScriptedAnswer, ScriptedModel};
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{
    Approval, ApprovalRule, Decision, Durability, Filter, HistoryRow, Reach, Store, StoreError,
    ThreadKey, Verdict,
};
use hooks_agent_core::tool::{FunctionTool, Permission};
use serde_json::{Value, json};

use crate::agents::attack::{in_time, polled};
use crate::agents::cut_off_calls::crash::crash;
use crate::agents::gate::Gate as Held;
use crate::agents::stores::{Paid, Place, pay, pay_tool, payer, places, sqlite, waiting};
use crate::kills::LEASE;
use crate::open::{address, open};

fn lead() -> User {
    User::new("eve").with_role("lead")
}

fn gate() -> Gate {
    Gate::new().remembered_by(Approvers::roles(["lead"]))
}

fn on_thread(thread: &str, user: impl Into<User>) -> CallOptions {
    CallOptions::new().thread(thread).user(user)
}

fn payer_of(store: Arc<dyn Store>, paid: &Paid, euros: &[u64], gate: Gate) -> ReActAgent {
    let calls: Vec<_> = (1..).zip(euros).map(|(id, e)| pay(&format!("{id}"), *e)).collect();
    ReActAgent::builder("clerk")
        .model(payer(calls))
        .tool(pay_tool(paid))
        .store(store)
        .hook(HumanInTheLoop::new().ask_with("pay", gate))
        .build()
        .unwrap()
}

/// Asks on a thread and remembers.
async fn remember_by(
    agent: &ReActAgent,
    store: &dyn Store,
    options: impl Fn() -> CallOptions,
    by: User,
    reach: Reach,
    rule: ApprovalRule,
) -> Result<(), AgentError> {
    let reply = agent.call_with(options(), "Pay").await?;
    assert_eq!(reply.reason, Some(GenerateReason::PermissionAsking));
    let asked = waiting(store).await.remove(0);
    let yes = Verdict::new(asked.id, Decision::Approve).by(by).remember(reach, rule);
    agent.resume(options().verdict(yes)).await?;
    Ok(())
}

async fn approvals(store: &dyn Store) -> Vec<Approval> {
    store.approvals(Filter::agent("clerk")).await.unwrap()
}

fn asks(reply: &Msg) -> bool {
    reply.reason == Some(GenerateReason::PermissionAsking)
}

#[tokio::test]
async fn who_answers_the_second_asker_does_not_remember_for_the_first() {
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        let late = Arc::new(AtomicBool::new(true));
        let is_late = late.clone();
        let night = on(move |event: &mut PreActing<'_>| {
            if is_late.load(Ordering::SeqCst) { event.ask("it is late") } else { Flow::Continue }
        })
        .named("night");
        let strict = Gate::new().approvers(Approvers::roles(["manager"]));
        let agent = ReActAgent::builder("clerk")
            .model(payer([pay("1", 12)]))
            .tool(pay_tool(&paid))
            .store(store.clone())
            .hook(HumanInTheLoop::new().ask_with("pay", strict))
            .hook(night)
            .build()
            .unwrap();
        let ada = || on_thread("ada", "ada");
        assert!(asks(&agent.call_with(ada(), "Pay").await.unwrap()));
        let asked = waiting(&*store).await.remove(0);
        let once =
            Verdict::new(asked.id, Decision::Approve).by(User::new("max").with_role("manager"));
        assert!(asks(&agent.resume(ada().verdict(once)).await.unwrap()));
        let asked = waiting(&*store).await.remove(0);
        assert_eq!(asked.askers.len(), 2);
        // Bob is no manager: he may answer the hook that asks at night.
        let yes = Verdict::new(asked.id, Decision::Approve)
            .by(User::new("bob"))
            .remember(Reach::Thread, ApprovalRule::exact());
        let resumed = agent.resume(ada().verdict(yes)).await;
        paid.take();
        if resumed.is_err() {
            continue;
        }
        late.store(false, Ordering::SeqCst);
        let reply = agent.call_with(ada(), "Pay").await.unwrap();
        assert!(asks(&reply), "no manager was asked: {}, {:?}", reply.text(), paid.take());
    }
}

#[tokio::test]
async fn who_may_remember_for_others_alone_does_not_use_it_for_themselves() {
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        let gate = Gate::new().remembered_by(Approvers::roles(["lead"]).not_self());
        let agent = payer_of(store.clone(), &paid, &[12], gate);
        let ada = || on_thread("ada", "ada");
        remember_by(&agent, &*store, ada, lead(), Reach::Always, ApprovalRule::exact())
            .await
            .unwrap();
        let reply = agent.call_with(on_thread("eve", lead()), "Pay").await.unwrap();
        assert!(asks(&reply), "eve let her own call run: {}", reply.text());
    }
}

#[tokio::test]
async fn an_approval_for_a_user_is_not_used_under_an_unverified_name() {
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        let agent = payer_of(store.clone(), &paid, &[12], gate());
        let ada = || on_thread("ada", "ada");
        remember_by(&agent, &*store, ada, lead(), Reach::User, ApprovalRule::exact())
            .await
            .unwrap();
        let reply = agent.call_with(on_thread("x", User::unverified("ada")), "Pay").await.unwrap();
        assert!(asks(&reply), "somebody who says to be ada: {}", reply.text());
    }
}

#[tokio::test]
async fn an_approval_for_the_user_without_a_name_reaches_nobody() {
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        let agent = payer_of(store.clone(), &paid, &[12], gate());
        let nobody = || on_thread("one", "");
        let remembered =
            remember_by(&agent, &*store, nobody, lead(), Reach::User, ApprovalRule::exact()).await;
        if remembered.is_err() {
            continue;
        }
        let reply = agent.call_with(on_thread("two", ""), "Pay").await.unwrap();
        assert!(asks(&reply), "another nobody: {}", reply.text());
    }
}

#[tokio::test]
async fn another_hook_of_the_name_is_not_answered_by_its_topic() {
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        let is_new = Arc::new(AtomicBool::new(false));
        let (first, second) = (is_new.clone(), is_new.clone());
        let one = gate()
            .when(move |_, _| !first.load(Ordering::SeqCst))
            .describe_with(|_| "An ordinary payment?".to_owned());
        let other = gate()
            .when(move |_, _| second.load(Ordering::SeqCst))
            .describe_with(|_| "THE ACCOUNT IS BEING INVESTIGATED. Pay?".to_owned());
        let agent = ReActAgent::builder("clerk")
            .model(payer([pay("1", 12)]))
            .tool(pay_tool(&paid))
            .store(store.clone())
            .hook(HumanInTheLoop::new().ask_with("pay", one))
            .hook(HumanInTheLoop::new().ask_with("pay", other))
            .build();
        let Ok(agent) = agent else { return };
        let ada = || on_thread("ada", "ada");
        remember_by(&agent, &*store, ada, lead(), Reach::Always, ApprovalRule::exact())
            .await
            .unwrap();
        is_new.store(true, Ordering::SeqCst);
        let reply = agent.call_with(on_thread("x", "ada"), "Pay").await.unwrap();
        assert!(asks(&reply), "another hook asked: {}", reply.text());
    }
}

#[tokio::test]
async fn a_sum_of_equal_parts_is_the_sum() {
    for cents in [403_u32, 407, 814, 1601, 10] {
        let place = sqlite();
        let store = place.open().await;
        let (one, all) = (f64::from(cents) / 100.0, f64::from(cents * 3) / 100.0);
        let model = payer([ToolUse::new("1", "pay", json!({ "euros": one }))]);
        let tool = FunctionTool::new("pay", "Pays.", async |_: Value| "paid");
        let agent = ReActAgent::builder("clerk").model(model).tool(tool).store(store.clone());
        let agent = agent.hook(HumanInTheLoop::new().ask_with("pay", gate())).build().unwrap();
        let rule = ApprovalRule::exact().sum("euros", serde_json::Number::from_f64(all).unwrap());
        remember_by(&agent, &*store, || on_thread("a", "ada"), lead(), Reach::User, rule)
            .await
            .unwrap();
        for index in 0..3 {
            let reply =
                agent.call_with(on_thread(&format!("t{index}"), "ada"), "Pay").await.unwrap();
            assert!(!asks(&reply), "{one} for the {index}. time of {all}");
        }
        let reply = agent.call_with(on_thread("t4", "ada"), "Pay").await.unwrap();
        assert!(asks(&reply));
    }
}

#[tokio::test]
async fn uses_at_the_limits() {
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        let agent = payer_of(store.clone(), &paid, &[12], gate());
        let most = ApprovalRule::exact().uses(u64::MAX);
        remember_by(&agent, &*store, || on_thread("a", "ada"), lead(), Reach::Always, most)
            .await
            .unwrap();
        for index in 0..2 {
            let reply = agent.call_with(on_thread(&format!("{index}"), "x"), "Pay").await.unwrap();
            assert!(!asks(&reply));
        }
        let agent = payer_of(store.clone(), &paid, &[13], gate());
        let none = ApprovalRule::exact().uses(0);
        remember_by(&agent, &*store, || on_thread("b", "ada"), lead(), Reach::Always, none)
            .await
            .unwrap();
        assert!(asks(&agent.call_with(on_thread("c", "x"), "Pay").await.unwrap()));
    }
}

#[tokio::test]
async fn arguments_that_a_hook_changes_after_the_approval_do_not_run() {
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        let changes = Arc::new(AtomicBool::new(false));
        let now = changes.clone();
        let change = on(move |event: &mut PreActing<'_>| {
            if now.load(Ordering::SeqCst) {
                event.tool_use_mut().input["euros"] = 999.into();
            }
        })
        .named("change");
        let agent = ReActAgent::builder("clerk")
            .model(payer([pay("1", 12)]))
            .tool(pay_tool(&paid))
            .store(store.clone())
            .hook(HumanInTheLoop::new().ask_with("pay", gate()))
            .hook(change)
            .build()
            .unwrap();
        remember_by(
            &agent,
            &*store,
            || on_thread("a", "ada"),
            lead(),
            Reach::Always,
            ApprovalRule::exact(),
        )
        .await
        .unwrap();
        paid.take();
        changes.store(true, Ordering::SeqCst);
        let reply = agent.call_with(on_thread("b", "ada"), "Pay").await.unwrap();
        assert!(paid.take().is_empty(), "{}", reply.text());
    }
}

#[tokio::test]
async fn an_id_that_the_model_uses_again_is_answered_again() {
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        let agent = payer_of(store.clone(), &paid, &[12], gate());
        remember_by(
            &agent,
            &*store,
            || on_thread("a", "ada"),
            lead(),
            Reach::Always,
            ApprovalRule::exact(),
        )
        .await
        .unwrap();
        paid.take();
        let model = ScriptedModel::new("again", |request| -> ScriptedAnswer {
            let results = request.messages.iter().filter(|it| it.tool_results().next().is_some());
            match results.count() {
                0 | 1 => pay("1", 12).into(),
                _ => "done".into(),
            }
        });
        let agent = ReActAgent::builder("clerk")
            .model(model)
            .tool(pay_tool(&paid))
            .store(store.clone())
            .hook(HumanInTheLoop::new().ask_with("pay", gate()))
            .build()
            .unwrap();
        let reply = agent.call_with(on_thread("b", "ada"), "Pay").await.unwrap();
        assert!(!asks(&reply), "the second round asked people: {:?}", paid.take());
    }
}

#[tokio::test]
async fn a_hook_that_asks_for_ever_ends() {
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        let count = Arc::new(AtomicUsize::new(0));
        let counted = count.clone();
        let ask = on(move |event: &mut PreActing<'_>| {
            let number = counted.fetch_add(1, Ordering::SeqCst);
            event.ask_with(Question::new(format!("number {number}?")).topic("all"))
        })
        .named("endless");
        let agent = ReActAgent::builder("clerk")
            .model(payer([pay("1", 12)]))
            .tool(pay_tool(&paid))
            .store(store.clone())
            .hook(ask)
            .build()
            .unwrap();
        let one = || on_thread("a", "ada");
        agent.call_with(one(), "Pay").await.unwrap();
        let asked = waiting(&*store).await.remove(0);
        let rule = ApprovalRule::exact().uses(u64::MAX);
        let yes = Verdict::new(asked.id, Decision::Approve).by("ada").remember(Reach::Thread, rule);
        let reply = in_time(agent.resume(one().verdict(yes))).await.unwrap();
        assert!(asks(&reply));
        assert!(count.load(Ordering::SeqCst) < 6, "{count:?}");
        assert!(paid.take().is_empty());
    }
}

#[tokio::test]
async fn a_plan_runs_nothing_that_is_remembered() {
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        let agent = payer_of(store.clone(), &paid, &[12], gate());
        remember_by(
            &agent,
            &*store,
            || on_thread("a", "ada"),
            lead(),
            Reach::Always,
            ApprovalRule::exact(),
        )
        .await
        .unwrap();
        paid.take();
        agent.call_with(on_thread("b", "ada").mode(RunMode::Plan), "Pay").await.unwrap();
        assert!(paid.take().is_empty());
        // A question that waits, in a plan.
        let two = payer_of(store.clone(), &paid, &[13], gate());
        assert!(asks(&two.call_with(on_thread("c", "ada"), "Pay").await.unwrap()));
    }
}

#[tokio::test]
async fn of_two_calls_at_once_the_covered_one_waits_with_the_other() {
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        let one = payer_of(store.clone(), &paid, &[12], gate());
        remember_by(
            &one,
            &*store,
            || on_thread("a", "ada"),
            lead(),
            Reach::Always,
            ApprovalRule::exact(),
        )
        .await
        .unwrap();
        paid.take();
        let build = || {
            ReActAgent::builder("clerk")
                .model(payer([pay("1", 12), pay("2", 30)]))
                .tool(pay_tool(&paid))
                .store(store.clone())
                .parallel_tools(true)
                .hook(HumanInTheLoop::new().ask_with("pay", gate()))
                .build()
                .unwrap()
        };
        // The other one is rejected.
        let two = build();
        assert!(asks(&two.call_with(on_thread("b", "ada"), "Pay").await.unwrap()));
        let asked = waiting(&*store).await;
        assert_eq!(asked.len(), 1);
        let no = on_thread("b", "ada").decide(asked[0].id.clone(), Decision::Reject("no".into()));
        two.resume(no).await.unwrap();
        assert_eq!(paid.take(), [12]);
        // New input in place of an answer: nothing runs.
        let two = build();
        assert!(asks(&two.call_with(on_thread("c", "ada"), "Pay").await.unwrap()));
        two.call_with(on_thread("c", "ada"), "Never mind").await.unwrap_err();
        assert!(paid.take().is_empty());
        assert_eq!(waiting(&*store).await.len(), 1);
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_anywhere_uses_an_approval_once_and_pays_once() {
    for place in places().await {
        let paid = Paid::default();
        let store = place.open().await;
        let one = payer_of(store.clone(), &paid, &[12], gate());
        let rule = ApprovalRule::exact().uses(1000);
        remember_by(&one, &*store, || on_thread("a", "ada"), lead(), Reach::Always, rule)
            .await
            .unwrap();
        paid.take();
        let mut used = 0;
        for times in 1..60 {
            let agent = payer_of(place.open().await, &paid, &[12], gate());
            let thread = format!("t{times}");
            let ended = polled(agent.call_with(on_thread(&thread, "ada"), "Pay"), times).await;
            let is_over = ended.is_some();
            if !is_over {
                let other = payer_of(place.open().await, &paid, &[12], gate());
                let _ = in_time(other.resume(on_thread(&thread, "ada"))).await;
            }
            let now = approvals(&*store).await[0].uses;
            let times_paid = paid.take().len() as u64;
            assert!(times_paid <= 1, "{times}");
            assert!(
                now - used <= 1 && times_paid <= now - used,
                "{times}: {used} {now} {times_paid}"
            );
            used = now;
            if is_over {
                break;
            }
        }
    }
}

#[tokio::test]
async fn a_store_that_fails_while_it_recalls_asks_people() {
    for sql in [
        "DROP TABLE approval",
        "CREATE TRIGGER t BEFORE UPDATE ON approval BEGIN SELECT RAISE(ABORT, 'no'); END",
        "UPDATE approval SET body = '{'",
    ] {
        let place = sqlite();
        let (store, paid) = (place.open().await, Paid::default());
        let agent = payer_of(store.clone(), &paid, &[12], gate());
        remember_by(
            &agent,
            &*store,
            || on_thread("a", "ada"),
            lead(),
            Reach::Always,
            ApprovalRule::exact(),
        )
        .await
        .unwrap();
        paid.take();
        place.execute(sql).await;
        let reply = in_time(agent.call_with(on_thread("b", "ada"), "Pay")).await;
        let Ok(reply) = reply else { panic!("{sql}: {reply:?}") };
        assert!(asks(&reply), "{sql}");
        assert!(paid.take().is_empty());
    }
}

#[tokio::test]
async fn a_thread_that_the_agent_forgets_has_no_approvals() {
    let paid = Paid::default();
    let agent = ReActAgent::builder("clerk")
        .model(payer([pay("1", 12)]))
        .tool(pay_tool(&paid))
        .hook(HumanInTheLoop::new().ask_with("pay", gate()))
        .build()
        .unwrap();
    let one = || on_thread("a", "ada");
    let store = agent.store().clone();
    remember_by(&agent, &*store, one, lead(), Reach::Thread, ApprovalRule::exact()).await.unwrap();
    paid.take();
    assert!(agent.threads().forget("a"));
    let reply = agent.call_with(one(), "Pay").await.unwrap();
    assert!(asks(&reply), "a new thread of the name: {:?}", paid.take());
}

#[tokio::test]
async fn a_thread_that_is_dropped_for_others_has_no_approvals() {
    let paid = Paid::default();
    let agent = ReActAgent::builder("clerk")
        .model(payer([pay("1", 12)]))
        .tool(pay_tool(&paid))
        .max_idle_threads(1)
        .hook(HumanInTheLoop::new().ask_with("pay", gate()))
        .build()
        .unwrap();
    let one = || on_thread("a", "ada");
    let store = agent.store().clone();
    remember_by(&agent, &*store, one, lead(), Reach::Thread, ApprovalRule::exact()).await.unwrap();
    paid.take();
    for index in 0..5 {
        agent.call_with(on_thread(&format!("o{index}"), "ada"), "Hello").await.unwrap();
    }
    if agent.threads().memory("a").is_some_and(|it| !it.is_empty()) {
        return;
    }
    let reply = agent.call_with(one(), "Pay").await.unwrap();
    assert!(asks(&reply), "a new thread of the name: {:?}", paid.take());
}

#[tokio::test]
async fn a_tool_that_denies_denies_what_is_remembered() {
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        let denies = Arc::new(AtomicBool::new(false));
        let now = denies.clone();
        let tool = pay_tool(&paid).permission(move |_| {
            if now.load(Ordering::SeqCst) { Permission::Deny("no".into()) } else { Permission::Ask }
        });
        let agent = ReActAgent::builder("clerk")
            .model(payer([pay("1", 12)]))
            .tool(tool)
            .store(store.clone())
            .build()
            .unwrap();
        let one = || on_thread("a", "ada");
        remember_by(&agent, &*store, one, User::new("ada"), Reach::Thread, ApprovalRule::exact())
            .await
            .unwrap();
        assert_eq!(paid.take(), [12]);
        assert!(!asks(&agent.call_with(one(), "Pay").await.unwrap()));
        assert_eq!(paid.take(), [12]);
        denies.store(true, Ordering::SeqCst);
        agent.call_with(one(), "Pay").await.unwrap();
        assert!(paid.take().is_empty());
    }
}

#[tokio::test]
async fn a_tool_that_asks_now_and_did_not_then_is_not_answered_for_a_hook() {
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        let doubts = Arc::new(AtomicBool::new(false));
        let now = doubts.clone();
        let tool = pay_tool(&paid).permission(move |_| {
            if now.load(Ordering::SeqCst) { Permission::Ask } else { Permission::Allow }
        });
        let agent = ReActAgent::builder("clerk")
            .model(payer([pay("1", 12)]))
            .tool(tool)
            .store(store.clone())
            .hook(HumanInTheLoop::new().ask_with("pay", gate()))
            .build()
            .unwrap();
        remember_by(
            &agent,
            &*store,
            || on_thread("a", "ada"),
            lead(),
            Reach::Always,
            ApprovalRule::exact(),
        )
        .await
        .unwrap();
        paid.take();
        doubts.store(true, Ordering::SeqCst);
        let reply = agent.call_with(on_thread("b", "bob"), "Pay").await.unwrap();
        assert!(asks(&reply), "the tool asked, and nobody was: {:?}", paid.take());
    }
}

fn texts<'a>(messages: impl IntoIterator<Item = &'a Msg>) -> Vec<String> {
    let text = |msg: &Msg| match msg.tool_results().next() {
        Some(result) => format!("result {}", result.output.as_str()),
        None if msg.tool_uses().next().is_some() => "uses".to_owned(),
        None => msg.text(),
    };
    messages.into_iter().map(text).collect()
}

async fn history(store: &dyn Store, thread: &str) -> Vec<String> {
    let thread = ThreadKey::new("clerk", thread).unwrap();
    let rows = store.history(&thread).await.unwrap();
    let read = |row: &HistoryRow| serde_json::from_value::<Msg>(row.message.clone()).unwrap();
    texts(&rows.iter().map(read).collect::<Vec<_>>())
}

fn count(kept: &[String], text: &str) -> usize {
    kept.iter().filter(|it| *it == text).count()
}

/// A model that calls `say` with `first`, then with `second`, then `wait`, then says `done`.
fn sayer() -> ScriptedModel {
    ScriptedModel::new("sayer", |request| -> ScriptedAnswer {
        match request.last_text().as_str() {
            "Go" => ToolUse::new("1", "say", json!({ "text": "first" })).into(),
            "first" => ToolUse::new("2", "say", json!({ "text": "second" })).into(),
            "second" => ToolUse::new("3", "wait", json!({})).into(),
            _ => "done".into(),
        }
    })
}

fn sayer_agent(store: Arc<dyn Store>, held: &Held, durability: Durability) -> ReActAgent {
    let by = ReActAgent::builder("clerk").model(sayer()).store(store.clone()).steering(true);
    let by = Arc::new(by.build().unwrap());
    let say = FunctionTool::new("say", "Says.", move |input: Value| {
        let by = by.clone();
        async move {
            let text = input["text"].as_str().unwrap_or_default().to_owned();
            by.steer(CallOptions::new(), text)
                .await
                .map(|_| "said")
                .map_err(|error| error.to_string())
        }
    });
    ReActAgent::builder("clerk")
        .model(sayer())
        .tool(say)
        .tool(held.tool("wait"))
        .store(store)
        .durability(durability)
        .steering(true)
        .build()
        .unwrap()
}

/// The same agent, whose model says that it is done.
fn done_agent(store: Arc<dyn Store>) -> ReActAgent {
    let held = Held::new();
    (0..9).for_each(|_| held.open());
    let say = FunctionTool::new("say", "Says.", async |_: Value| "said");
    let model = ScriptedModel::new("done", |_| "done");
    let agent = ReActAgent::builder("clerk").model(model).tool(say).tool(held.tool("wait"));
    agent.store(store).steering(true).build().unwrap()
}

async fn killed_after_two(durability: Durability) {
    let folder = tempfile::tempdir().unwrap();
    let address = address(folder.path());
    let at = address.clone();
    let build = async move |held: &Held| {
        let agent = sayer_agent(open(&at, LEASE).await, held, durability);
        agent.call("Hello").await.unwrap();
        agent
    };
    crash(build, "Go").await;
    let store = open(&address, LEASE).await;
    let agent = done_agent(store.clone());
    let _ = in_time(agent.resume(CallOptions::new())).await;
    in_time(agent.call("Bye")).await.unwrap();
    let kept = history(&*store, "default").await;
    assert_eq!((count(&kept, "first"), count(&kept, "second")), (1, 1), "{kept:?}");
}

#[tokio::test]
async fn what_two_rounds_heard_is_lost_by_no_kill_by_step() {
    killed_after_two(Durability::Step).await;
}

#[tokio::test]
async fn what_two_rounds_heard_is_lost_by_no_kill_by_call() {
    killed_after_two(Durability::Call).await;
}

#[tokio::test]
async fn nobody_speaks_to_the_first_call_of_another_user() {
    for place in places().await {
        for durability in [Durability::Step, Durability::Call] {
            let store = place.open().await;
            let held = Held::new();
            let model = || {
                ScriptedModel::new("m", |request| -> ScriptedAnswer {
                    match request.last_text().as_str() {
                        "Go" => ToolUse::new("1", "wait", json!({})).into(),
                        _ => "done".into(),
                    }
                })
            };
            let build = |held: &Held| {
                ReActAgent::builder("clerk")
                    .model(model())
                    .tool(held.tool("wait"))
                    .store(store.clone())
                    .durability(durability)
                    .steering(true)
                    .build()
                    .unwrap()
            };
            let thread = format!("{durability:?}");
            let agent = Arc::new(build(&held));
            let call = tokio::spawn(agent.call_owned(on_thread(&thread, "ada"), "Go"));
            held.entered().await;
            let other = build(&Held::new());
            let by_bob = other.steer(on_thread(&thread, "bob"), "Pay bob").await;
            let by_nobody = other.steer(CallOptions::new().thread(&*thread), "Pay me").await;
            held.open();
            call.await.unwrap().unwrap();
            let kept = history(&*store, &thread).await;
            assert_eq!(
                (count(&kept, "Pay bob"), count(&kept, "Pay me")),
                (0, 0),
                "{durability:?}: {by_bob:?} {by_nobody:?} {kept:?}"
            );
        }
    }
}

#[tokio::test]
async fn input_that_is_repeated_behind_a_steered_message_comes_once() {
    for steers in [false, true] {
        for place in places().await {
            let store = place.open().await;
            let fails = Arc::new(AtomicBool::new(true));
            let now = fails.clone();
            let model = ScriptedModel::new("m", move |request| -> ScriptedAnswer {
                let has_result =
                    request.messages.iter().any(|it| it.tool_results().next().is_some());
                match request.last_text().as_str() {
                    "Go" => ToolUse::new("1", "wait", json!({})).into(),
                    _ if has_result && now.swap(false, Ordering::SeqCst) => {
                        ModelError::empty("m", Usage::default()).into()
                    }
                    _ => "done".into(),
                }
            });
            let tool = FunctionTool::new("wait", "Waits.", async |_: Value| "paid");
            let tool = tool.permission(|_| Permission::Ask);
            let agent = ReActAgent::builder("clerk").model(model).tool(tool).store(store.clone());
            let agent = agent.steering(true).build().unwrap();
            let ada = || on_thread("ada", "ada");
            let reply = agent.call_with(ada(), "Go").await.unwrap();
            if steers {
                agent.steer(ada(), "Please").await.unwrap();
            }
            assert!(asks(&reply));
            let id = waiting(&*store).await.remove(0).id;
            let yes = ada().decide(id, Decision::Approve);
            let failed = agent.call_with(yes, "And hurry").await.unwrap_err();
            assert!(matches!(failed, AgentError::Model(_)), "{failed:?}");
            agent.call_with(ada(), "And hurry").await.unwrap();
            let kept = history(&*store, "ada").await;
            assert_eq!(count(&kept, "And hurry"), 1, "steers {steers}: {kept:?}");
            assert_eq!(count(&kept, "Please"), usize::from(steers), "{kept:?}");
        }
    }
}

#[tokio::test]
async fn a_plain_failure_with_steering_repeats_nothing() {
    for place in places().await {
        let store = place.open().await;
        let fails = Arc::new(AtomicUsize::new(2));
        let now = fails.clone();
        let model = ScriptedModel::new("m", move |_| -> ScriptedAnswer {
            match now.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |it| it.checked_sub(1)) {
                Ok(_) => ModelError::empty("m", Usage::default()).into(),
                Err(_) => "done".into(),
            }
        });
        let agent = ReActAgent::builder("clerk").model(model).store(store.clone());
        let agent = agent.steering(true).build().unwrap();
        let ada = || on_thread("ada", "ada");
        agent.call_with(ada(), "One").await.unwrap_err();
        agent.steer(ada(), "Two").await.unwrap();
        agent.call_with(ada(), "One").await.unwrap_err();
        agent.call_with(ada(), "One").await.unwrap();
        agent.call_with(ada(), "Three").await.unwrap();
        let kept = history(&*store, "ada").await;
        for text in ["One", "Two", "Three"] {
            assert_eq!(count(&kept, text), 1, "{text}: {kept:?}");
        }
    }
}

#[tokio::test]
async fn a_message_for_a_call_without_rounds_stays_for_the_next() {
    for place in places().await {
        let store = place.open().await;
        let said: Arc<Mutex<Option<Arc<ReActAgent>>>> = Arc::default();
        let take = said.clone();
        let steer = hooks_agent_core::on!(async move |_: &mut PostReasoning<'_>| -> HookResult {
            let agent = take.lock().unwrap().take();
            if let Some(agent) = agent {
                agent.steer(on_thread("ada", "ada"), "Late").await?;
            }
            Ok(())
        });
        let builder = || {
            let model =
                ScriptedModel::new("echo", |request| format!("re: {}", request.last_text()));
            ReActAgent::builder("clerk").model(model).store(store.clone()).steering(true)
        };
        *said.lock().unwrap() = Some(Arc::new(builder().build().unwrap()));
        let agent = builder().hook(steer).max_iters(1).build().unwrap();
        agent.call_with(on_thread("ada", "ada"), "One").await.unwrap();
        assert_eq!(history(&*store, "ada").await, ["One", "re: One"]);
        agent.call_with(on_thread("ada", "ada"), "Two").await.unwrap();
        assert_eq!(history(&*store, "ada").await, ["One", "re: One", "Late", "Two", "re: Two"]);
    }
}

#[tokio::test]
async fn a_message_that_is_blocked_is_nowhere_and_the_call_goes_on() {
    for place in places().await {
        let store = place.open().await;
        let words = SensitiveWords::new(WordList::new(["bluebird"]).unwrap()).block();
        let model = ScriptedModel::new("echo", |request| format!("re: {}", request.last_text()));
        let agent = ReActAgent::builder("clerk").model(model).store(store.clone()).hook(words);
        let agent = agent.steering(true).build().unwrap();
        let ada = || on_thread("ada", "ada");
        agent.call_with(ada(), "One").await.unwrap();
        agent.steer(ada(), "the bluebird").await.unwrap();
        agent.steer(ada(), "fine").await.unwrap();
        agent.call_with(ada(), "Two").await.unwrap();
        agent.call_with(ada(), "Three").await.unwrap();
        let kept = history(&*store, "ada").await;
        assert_eq!(kept, ["One", "re: One", "fine", "Two", "re: Two", "Three", "re: Three"]);
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_anywhere_loses_and_repeats_no_message() {
    for place in places().await {
        for durability in [Durability::Step, Durability::Call] {
            for times in 1..40 {
                let thread = format!("{durability:?}{times}");
                let options = || on_thread(&thread, "ada");
                let build = |store| {
                    let model = ScriptedModel::new("m", |request| -> ScriptedAnswer {
                        match request.last_text().as_str() {
                            "Go" => ToolUse::new("1", "nothing", json!({})).into(),
                            _ => "done".into(),
                        }
                    });
                    let tool = FunctionTool::new("nothing", "Nothing.", async |_: Value| {
                        tokio::task::yield_now().await;
                        "nothing"
                    });
                    let agent = ReActAgent::builder("clerk").model(model).tool(tool);
                    agent.store(store).durability(durability).steering(true).build().unwrap()
                };
                let store: Arc<dyn Store> = place.open().await;
                let agent = build(store.clone());
                agent.call_with(options(), "Hello").await.unwrap();
                agent.steer(options(), "before").await.unwrap();
                let ended = polled(agent.call_with(options(), "Go"), times).await;
                agent.steer(options(), "between").await.unwrap();
                in_time(agent.call_with(options(), "Bye")).await.unwrap();
                agent.steer(options(), "after").await.unwrap();
                let other = build(place.open().await);
                in_time(other.call_with(options(), "End")).await.unwrap();
                let kept = history(&*store, &thread).await;
                for text in ["before", "between", "after", "Bye", "End"] {
                    assert_eq!(count(&kept, text), 1, "{durability:?} {times} {text}: {kept:?}");
                }
                if ended.is_some() {
                    break;
                }
            }
        }
    }
}

#[tokio::test]
async fn a_lease_that_is_lost_after_hearing_loses_no_message() {
    for durability in [Durability::Step, Durability::Call] {
        let place = sqlite();
        let address = format!("sqlite:{}", place.file().display());
        let store = open(&address, Duration::from_millis(300)).await;
        let held = Held::new();
        let agent = Arc::new(sayer_agent(store.clone(), &held, durability));
        agent.call("Hello").await.unwrap();
        let call = tokio::spawn(agent.clone().call_owned(CallOptions::new(), "Go"));
        held.entered().await;
        let steal = "UPDATE thread SET owner = 'another', fence = fence + 1, lease_until = 0";
        place.execute(steal).await;
        assert!(in_time(call).await.unwrap().is_err());
        let other = done_agent(place.open().await);
        let _ = in_time(other.resume(CallOptions::new())).await;
        in_time(other.call("Bye")).await.unwrap();
        let kept = history(&*store, "default").await;
        assert_eq!(
            (count(&kept, "first"), count(&kept, "second")),
            (1, 1),
            "{durability:?} {kept:?}"
        );
    }
}

#[tokio::test]
async fn parallel_tools_have_no_message_between_them_and_their_results() {
    for place in places().await {
        let store = place.open().await;
        let (one, two) = (Held::new(), Held::new());
        let model = ScriptedModel::new("m", |request| -> ScriptedAnswer {
            match request.last_text().as_str() {
                "Go" => hooks_fixtures::scripted_agents::uses(vec![
                    ToolUse::new("1", "one", json!({})),
                    ToolUse::new("2", "two", json!({})),
                ]),
                _ => "done".into(),
            }
        });
        let agent = ReActAgent::builder("clerk")
            .model(model)
            .tool(one.tool("one"))
            .tool(two.tool("two"))
            .store(store.clone())
            .parallel_tools(true)
            .steering(true)
            .build()
            .unwrap();
        let agent = Arc::new(agent);
        let call = tokio::spawn(agent.clone().call_owned(on_thread("ada", "ada"), "Go"));
        one.entered().await;
        two.entered().await;
        two.open();
        agent.steer(on_thread("ada", "ada"), "Now").await.unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
        one.open();
        call.await.unwrap().unwrap();
        let kept = history(&*store, "ada").await;
        assert_eq!(kept, ["Go", "uses", "result passed", "result passed", "Now", "done"]);
    }
}

#[tokio::test]
async fn a_forgotten_default_thread_has_no_inbox() {
    for place in places().await {
        let store = place.open().await;
        let model = ScriptedModel::new("echo", |request| format!("re: {}", request.last_text()));
        let agent = ReActAgent::builder("clerk").model(model).store(store.clone()).steering(true);
        let agent = agent.build().unwrap();
        let by = |user: &str| CallOptions::new().user(user);
        agent.call_with(by("ada"), "Hello").await.unwrap();
        agent.steer(by("ada"), "the secret of ada").await.unwrap();
        store.forget(Filter::agent("clerk")).await.unwrap();
        agent.call_with(by("bob"), "Bye").await.unwrap();
        assert_eq!(history(&*store, "default").await, ["Bye", "re: Bye"]);
    }
}

#[tokio::test]
async fn a_jump_before_the_model_with_repeated_input_repeats_nothing() {
    for place in places().await {
        let store = place.open().await;
        let fails = Arc::new(AtomicUsize::new(1));
        let model = || {
            let now = fails.clone();
            ScriptedModel::new("m", move |_| -> ScriptedAnswer {
                match now.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |it| it.checked_sub(1)) {
                    Ok(_) => ModelError::empty("m", Usage::default()).into(),
                    Err(_) => "done".into(),
                }
            })
        };
        let said: Arc<Mutex<Option<Arc<ReActAgent>>>> = Arc::default();
        let take = said.clone();
        let jump = hooks_agent_core::on!(
            async move |event: &mut hooks_agent_core::event::PreReasoning<'_>| -> HookResult<Flow> {
                let agent = take.lock().unwrap().take();
                match agent {
                    Some(agent) => {
                        agent.steer(on_thread("ada", "ada"), "Late").await?;
                        Ok(event.jump_to_tools())
                    }
                    None => Ok(Flow::Continue),
                }
            }
        );
        let builder =
            || ReActAgent::builder("clerk").model(model()).store(store.clone()).steering(true);
        let agent = builder().hook(jump).build().unwrap();
        agent.call_with(on_thread("ada", "ada"), "Zero").await.ok();
        fails.store(1, Ordering::SeqCst);
        *said.lock().unwrap() = Some(Arc::new(builder().build().unwrap()));
        agent.call_with(on_thread("ada", "ada"), "One").await.unwrap_err();
        agent.call_with(on_thread("ada", "ada"), "One").await.unwrap();
        let kept = history(&*store, "ada").await;
        assert_eq!((count(&kept, "One"), count(&kept, "Late")), (1, 1), "{kept:?}");
    }
}

#[tokio::test]
async fn hidden_arguments_are_the_programs_and_not_compared() {
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        let account = Arc::new(Mutex::new("DE-the-baker"));
        let of = account.clone();
        let hide = on(move |event: &mut PreActing<'_>| {
            let account = *of.lock().unwrap();
            event.tool_use_mut().hide("account", account);
        })
        .named("hide");
        let ask = on(|event: &mut PreActing<'_>| event.ask("pay?")).named("ask");
        let seen = paid.clone();
        let tool = FunctionTool::new("pay", "Pays.", move |input: Value| {
            seen.push(u64::from(input["account"] == "DE-the-casino"));
            async { "paid" }
        });
        let agent = ReActAgent::builder("clerk")
            .model(payer([pay("1", 12)]))
            .tool(tool)
            .store(store.clone())
            .hook(hide)
            .hook(ask)
            .build()
            .unwrap();
        let one = || on_thread("a", "ada");
        remember_by(&agent, &*store, one, lead(), Reach::Thread, ApprovalRule::exact())
            .await
            .unwrap();
        let first = paid.take();
        *account.lock().unwrap() = "DE-the-casino";
        let reply = agent.call_with(one(), "Pay").await.unwrap();
        assert!(!asks(&reply));
        assert_eq!((first, paid.take()), (vec![0], vec![1]));
    }
}

#[tokio::test]
async fn a_nul_in_an_argument_is_remembered() {
    for place in places().await {
        let store = place.open().await;
        let model = payer([ToolUse::new("1", "pay", json!({ "to": "a\0b" }))]);
        let tool = FunctionTool::new("pay", "Pays.", async |_: Value| "paid");
        let agent = ReActAgent::builder("clerk").model(model).tool(tool).store(store.clone());
        let agent = agent.hook(HumanInTheLoop::new().ask_with("pay", gate())).build().unwrap();
        remember_by(
            &agent,
            &*store,
            || on_thread("a", "ada"),
            lead(),
            Reach::User,
            ApprovalRule::exact(),
        )
        .await
        .unwrap();
        assert!(!asks(&agent.call_with(on_thread("b", "ada"), "Pay").await.unwrap()));
    }
}

#[tokio::test]
async fn a_question_that_is_over_is_not_answered_by_an_approval() {
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        let agent = payer_of(store.clone(), &paid, &[12], gate());
        remember_by(
            &agent,
            &*store,
            || on_thread("a", "ada"),
            lead(),
            Reach::Always,
            ApprovalRule::exact(),
        )
        .await
        .unwrap();
        paid.take();
        let agent = payer_of(store.clone(), &paid, &[12], gate().expires_after(Duration::ZERO));
        agent.call_with(on_thread("b", "ada"), "Pay").await.unwrap();
        agent.resume(on_thread("b", "ada")).await.unwrap();
        assert!(paid.take().is_empty());
    }
}

#[tokio::test]
async fn what_an_approval_has_answered_stays_decided_when_it_is_revoked() {
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        let one = payer_of(store.clone(), &paid, &[12], gate());
        remember_by(
            &one,
            &*store,
            || on_thread("a", "ada"),
            lead(),
            Reach::Always,
            ApprovalRule::exact(),
        )
        .await
        .unwrap();
        paid.take();
        let two = payer_of(store.clone(), &paid, &[12, 30], gate());
        assert!(asks(&two.call_with(on_thread("b", "ada"), "Pay").await.unwrap()));
        let id = approvals(&*store).await[0].id.clone();
        store.revoke(&id, &lead()).await.unwrap();
        let asked = waiting(&*store).await.remove(0);
        let yes = on_thread("b", "ada").decide(asked.id, Decision::Approve);
        two.resume(yes).await.unwrap();
        assert_eq!(paid.take(), [12, 30]);
    }
}

#[tokio::test]
async fn thoughts_are_not_taken() {
    use hooks_agent_core::message::ContentBlock;
    for place in places().await {
        let store = place.open().await;
        let words = SensitiveWords::new(WordList::new(["bluebird"]).unwrap()).block();
        let model = ScriptedModel::new("m", |_| "done");
        let agent = ReActAgent::builder("clerk").model(model).store(store.clone()).hook(words);
        let agent = agent.steering(true).build().unwrap();
        let ada = || on_thread("ada", "ada");
        agent.call_with(ada(), "One").await.unwrap();
        let thought =
            || Msg::from_blocks(Role::User, "ada", vec![ContentBlock::thinking("the bluebird")]);
        let as_input = agent.call_with(ada(), thought()).await;
        let steered = agent.steer(ada(), thought()).await;
        let next = agent.call_with(ada(), "Two").await;
        let thread = ThreadKey::new("clerk", "ada").unwrap();
        let kept = format!("{:?}", store.history(&thread).await.unwrap());
        assert!(!kept.contains("bluebird"), "input {as_input:?} steered {steered:?} next {next:?}");
    }
}

#[tokio::test]
async fn a_message_whose_answer_was_lost_is_taken_once() {
    let place = sqlite();
    let store = place.open().await;
    let agent = done_agent(store.clone());
    let key = ThreadKey::new("clerk", "default").unwrap();
    agent.call("One").await.unwrap();
    let claim = hooks_agent_core::store::Claim::new();
    let once: Arc<str> = "k".into();
    store.steer(&key, &claim, once.clone(), Msg::user("only once")).await.unwrap();
    agent.call("Two").await.unwrap();
    agent.steer(CallOptions::new(), "x").await.unwrap();
    agent.call("Three").await.unwrap();
    agent.steer(CallOptions::new(), "y").await.unwrap();
    agent.call("Four").await.unwrap();
    store.steer(&key, &claim, once, Msg::user("only once")).await.unwrap();
    agent.call("Five").await.unwrap();
    let kept = history(&*store, "default").await;
    assert_eq!(count(&kept, "only once"), 1, "{kept:?}");
}

#[tokio::test]
async fn another_namespace_has_other_approvals() {
    use hooks_agent_sql::store::SqliteStore;
    let folder = tempfile::tempdir().unwrap();
    let paid = Paid::default();
    let store = SqliteStore::open(folder.path().join("a.db")).await.unwrap();
    let other: Arc<dyn Store> = Arc::new(store.namespace("other").unwrap());
    let store: Arc<dyn Store> = Arc::new(store);
    let agent = payer_of(store.clone(), &paid, &[12], gate());
    remember_by(
        &agent,
        &*store,
        || on_thread("a", "ada"),
        lead(),
        Reach::Always,
        ApprovalRule::exact(),
    )
    .await
    .unwrap();
    let agent = payer_of(other.clone(), &paid, &[12], gate());
    assert!(asks(&agent.call_with(on_thread("b", "ada"), "Pay").await.unwrap()));
}

#[tokio::test]
async fn a_lead_who_is_no_manager_remembers_nothing_for_managers() {
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        let late = Arc::new(AtomicBool::new(true));
        let is_late = late.clone();
        let leads = || Approvers::roles(["lead"]);
        let night = on(move |event: &mut PreActing<'_>| {
            if is_late.load(Ordering::SeqCst) {
                event.ask_with(Question::new("it is late").remembered_by(leads()))
            } else {
                Flow::Continue
            }
        })
        .named("night");
        let strict = gate().approvers(Approvers::roles(["manager"]));
        let agent = ReActAgent::builder("clerk")
            .model(payer([pay("1", 12)]))
            .tool(pay_tool(&paid))
            .store(store.clone())
            .hook(HumanInTheLoop::new().ask_with("pay", strict))
            .hook(night)
            .build()
            .unwrap();
        let ada = || on_thread("ada", "ada");
        agent.call_with(ada(), "Pay").await.unwrap();
        let asked = waiting(&*store).await.remove(0);
        let once =
            Verdict::new(asked.id, Decision::Approve).by(User::new("max").with_role("manager"));
        assert!(asks(&agent.resume(ada().verdict(once)).await.unwrap()));
        let asked = waiting(&*store).await.remove(0);
        let yes = Verdict::new(asked.id, Decision::Approve)
            .by(lead())
            .remember(Reach::Always, ApprovalRule::exact().at_most("euros", 1_000_000));
        if agent.resume(ada().verdict(yes)).await.is_err() {
            continue;
        }
        paid.take();
        late.store(false, Ordering::SeqCst);
        let big = ReActAgent::builder("clerk")
            .model(payer([pay("1", 999_999)]))
            .tool(pay_tool(&paid))
            .store(store.clone())
            .hook(
                HumanInTheLoop::new()
                    .ask_with("pay", gate().approvers(Approvers::roles(["manager"]))),
            )
            .build()
            .unwrap();
        let reply = big.call_with(on_thread("x", "bob"), "Pay").await.unwrap();
        assert!(asks(&reply), "no manager was asked: {:?}", paid.take());
    }
}

#[tokio::test]
async fn a_restored_thread_keeps_its_inbox() {
    let model = ScriptedModel::new("m", |_| "done");
    let agent = ReActAgent::builder("clerk").model(model).steering(true).build().unwrap();
    let a = || CallOptions::new().thread("a");
    agent.call_with(a(), "One").await.unwrap();
    agent.steer(a(), "said").await.unwrap();
    agent.threads().restore("a", agent.threads().history("a").await.unwrap()).unwrap();
    agent.call_with(a(), "Two").await.unwrap();
    let kept = texts(&agent.threads().history("a").await.unwrap());
    assert_eq!(count(&kept, "said"), 1, "{kept:?}");
}

#[tokio::test]
async fn attack3_nobody_speaks_to_a_first_call_that_begins() {
    for place in places().await {
        let store = place.open().await;
        let model = || ScriptedModel::new("m", |_| "done");
        let bob = ReActAgent::builder("clerk").model(model()).store(store.clone()).steering(true);
        let bob = Arc::new(bob.build().unwrap());
        let said: Arc<Mutex<Vec<String>>> = Arc::default();
        let (by, noted) = (bob.clone(), said.clone());
        let during = hooks_agent_core::on!(async move |_: &mut PreCall<'_>| -> HookResult {
            let steered = by.steer(on_thread("t", "bob"), "Pay bob").await;
            noted.lock().unwrap().push(format!("{steered:?}"));
            Ok(())
        });
        let agent = ReActAgent::builder("clerk").model(model()).store(store.clone());
        let agent = agent.steering(true).hook(during).build().unwrap();
        agent.call_with(on_thread("t", "ada"), "Go").await.unwrap();
        bob.call_with(on_thread("t", "ada"), "Next").await.unwrap();
        let kept = history(&*store, "t").await;
        assert_eq!(count(&kept, "Pay bob"), 0, "{said:?} {kept:?}");
    }
}

#[expect(dead_code, reason = "for later attacks")]
fn unused(_: &Place, _: StoreError) {}
