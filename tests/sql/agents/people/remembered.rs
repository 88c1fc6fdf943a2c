//! Approvals that are remembered: what they answer, and what people are asked nevertheless.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use hooks_agent_builtin::people::{Gate, HumanInTheLoop};
use hooks_agent_core::call::User;
use hooks_agent_core::event::PreActing;
use hooks_agent_core::hook::on;
use hooks_agent_core::message::{Approvers, GenerateReason, Question};
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{
    Approval, ApprovalRule, Decision, DecisionError, Durability, Filter, NotRemembered, Reach,
    Store, StoreError, ThreadKey, Verdict, export, import,
};
use hooks_agent_core::stream::AgentEventKind;
use hooks_agent_core::tool::FunctionTool;
use serde_json::{Value, json};

use crate::agents::stores::{Paid, Payment, Place, pay, pay_tool, payer, places, waiting};

fn lead() -> User {
    User::new("eve").with_role("lead")
}

fn gate() -> Gate {
    Gate::new().remembered_by(Approvers::roles(["lead"]))
}

/// An agent that pays these amounts in one answer, if people let it.
fn payer_of(store: Arc<dyn Store>, paid: &Paid, euros: &[u64], gate: Gate) -> ReActAgent {
    let calls = (1..).zip(euros).map(|(id, euros)| pay(&format!("{id}"), *euros));
    let calls: Vec<_> = calls.collect();
    ReActAgent::builder("clerk")
        .model(payer(calls))
        .tool(pay_tool(paid))
        .store(store)
        .hook(HumanInTheLoop::new().ask_with("pay", gate))
        .build()
        .unwrap()
}

fn on_thread(thread: &str, user: &str) -> CallOptions {
    CallOptions::new().thread(thread).user(user)
}

/// Asks on the thread of Ada, and remembers the approval.
async fn remember(place: &Place, paid: &Paid, euros: u64, reach: Reach, rule: ApprovalRule) {
    let agent = payer_of(place.open().await, paid, &[euros], gate());
    agent.call_with(on_thread("ada", "ada"), "Pay").await.unwrap();
    let asked = waiting(&*place.open().await).await.remove(0);
    let yes = Verdict::new(asked.id, Decision::Approve).by(lead()).remember(reach, rule);
    place.open().await.decide(vec![yes]).await.unwrap();
    assert_eq!(
        agent.resume(on_thread("ada", "ada")).await.unwrap().text(),
        format!("paid {euros}")
    );
    assert_eq!(paid.take(), [euros]);
}

/// Pays, in another process; returns whether nobody was asked. What waits is refused.
async fn pays(place: &Place, paid: &Paid, euros: u64, (thread, user): (&str, &str)) -> bool {
    let agent = payer_of(place.open().await, paid, &[euros], gate());
    let reply = agent.call_with(on_thread(thread, user), "Pay").await.unwrap();
    if reply.reason == Some(GenerateReason::PermissionAsking) {
        assert!(paid.take().is_empty());
        let asked = waiting(&*place.open().await).await.remove(0);
        let no = on_thread(thread, user).decide(asked.id, Decision::Reject(String::new()));
        agent.resume(no).await.unwrap();
        return false;
    }
    assert_eq!((reply.text(), paid.take()), (format!("paid {euros}"), vec![euros]));
    assert!(waiting(&*place.open().await).await.is_empty());
    true
}

async fn approvals(place: &Place) -> Vec<Approval> {
    place.open().await.approvals(Filter::agent("clerk")).await.unwrap()
}

#[tokio::test]
async fn an_approval_on_a_thread_answers_the_same_call_there_and_no_other() {
    for place in places().await {
        let paid = Paid::default();
        remember(&place, &paid, 12, Reach::Thread, ApprovalRule::exact().uses(2)).await;
        assert!(!pays(&place, &paid, 12, ("bob", "bob")).await, "another thread");
        assert!(!pays(&place, &paid, 11, ("ada", "ada")).await, "other arguments");
        assert!(pays(&place, &paid, 12, ("ada", "ada")).await);
        assert!(pays(&place, &paid, 12, ("ada", "ada")).await);
        assert!(!pays(&place, &paid, 12, ("ada", "ada")).await, "it is used up");
        let approval = approvals(&place).await.remove(0);
        assert_eq!((&*approval.given_by, approval.uses), ("eve", 2));
        assert!(!approval.is_usable(approval.given_at));
    }
}

#[tokio::test]
async fn an_approval_for_a_user_reaches_to_other_threads_and_no_other_user() {
    for place in places().await {
        let paid = Paid::default();
        remember(&place, &paid, 12, Reach::User, ApprovalRule::exact()).await;
        assert!(pays(&place, &paid, 12, ("other", "ada")).await);
        assert!(!pays(&place, &paid, 12, ("bob", "bob")).await);
    }
}

#[tokio::test]
async fn approvals_of_other_users_and_threads_are_not_read() {
    for place in places().await {
        let paid = Paid::default();
        let rule = ApprovalRule::exact;
        remember(&place, &paid, 5, Reach::User, rule()).await;
        remember(&place, &paid, 6, Reach::Thread, rule()).await;
        if !matches!(place, Place::Sqlite(_)) {
            continue;
        }
        // One that is read cannot be, and people are asked.
        place
            .execute(
                "INSERT INTO approval (id, namespace, agent, thread, \"user\", tool, body, given_by,
                    given_at, expires, most_uses, scope)
                SELECT id || 'x', namespace, agent, thread, 'bob', tool, '{', given_by, given_at,
                    expires, most_uses, replace(scope, 'ada', 'bob') FROM approval",
            )
            .await;
        assert!(pays(&place, &paid, 5, ("other", "ada")).await);
        assert!(pays(&place, &paid, 6, ("ada", "ada")).await);
        assert!(!pays(&place, &paid, 5, ("of bob", "bob")).await);
    }
}

#[tokio::test]
async fn an_approval_for_everybody_is_good_for_a_range_and_a_sum() {
    for place in places().await {
        let paid = Paid::default();
        let rule = ApprovalRule::exact().at_most("euros", 150).sum("euros", 300);
        remember(&place, &paid, 150, Reach::Always, rule).await;
        assert!(pays(&place, &paid, 150, ("bob", "bob")).await);
        assert!(!pays(&place, &paid, 151, ("bob", "bob")).await, "more than what was shown");
        assert!(pays(&place, &paid, 100, ("eve", "eve")).await);
        assert!(!pays(&place, &paid, 51, ("eve", "eve")).await, "50 are left");
        assert!(pays(&place, &paid, 50, ("eve", "eve")).await);
        let approval = approvals(&place).await.remove(0);
        assert_eq!((approval.uses, approval.sum), (3, 300_000_000));
    }
}

#[tokio::test]
async fn an_approval_that_expired_or_is_revoked_answers_nothing() {
    for place in places().await {
        let paid = Paid::default();
        let over = ApprovalRule::exact().expires_after(Duration::ZERO);
        remember(&place, &paid, 12, Reach::Thread, over).await;
        assert!(!pays(&place, &paid, 12, ("ada", "ada")).await);
        remember(&place, &paid, 12, Reach::Thread, ApprovalRule::exact()).await;
        let usable = Filter::agent("clerk").tool("pay").usable();
        let store = place.open().await;
        let [approval] = &*store.approvals(usable.clone()).await.unwrap() else { panic!() };
        let bob = User::new("bob");
        assert!(!store.revoke("nothing", &bob).await.unwrap());
        assert!(store.revoke(&approval.id, &bob).await.unwrap());
        assert!(!store.revoke(&approval.id, &bob).await.unwrap(), "it is revoked already");
        assert!(!pays(&place, &paid, 12, ("ada", "ada")).await);
        assert!(store.approvals(usable).await.unwrap().is_empty());
        let all = approvals(&place).await;
        assert_eq!(all.len(), 2);
        assert_eq!(all[1].revoked_by.as_deref(), Some("bob"));
        assert!(all[1].revoked_at.is_some());
        assert!(store.prune(Filter::all()).await.unwrap() >= 2);
        assert!(approvals(&place).await.is_empty());
    }
}

#[tokio::test]
async fn another_tool_of_the_name_is_asked_about() {
    for place in places().await {
        let paid = Paid::default();
        remember(&place, &paid, 12, Reach::Always, ApprovalRule::exact()).await;
        let other =
            FunctionTool::new("pay", "Pays, and tells the press.", async |_: Payment| "told");
        let agent = ReActAgent::builder("clerk").model(payer([pay("1", 12)])).tool(other);
        let agent = agent.hook(HumanInTheLoop::new().ask_with("pay", gate()));
        let agent = agent.store(place.open().await).build().unwrap();
        let reply = agent.call_with(on_thread("x", "ada"), "Pay").await.unwrap();
        assert_eq!(reply.reason, Some(GenerateReason::PermissionAsking));
        assert_eq!(approvals(&place).await[0].uses, 0);
    }
}

#[tokio::test]
async fn another_asker_or_other_approvers_ask_again() {
    let night = || on(|event: &mut PreActing<'_>| event.ask("it is late")).named("night");
    let people = |gate: Gate| HumanInTheLoop::new().ask_with("pay", gate);
    let strict = gate().approvers(Approvers::roles(["manager"]));
    for place in places().await {
        let paid = Paid::default();
        remember(&place, &paid, 12, Reach::Always, ApprovalRule::exact()).await;
        let builder = async || {
            let builder = ReActAgent::builder("clerk").model(payer([pay("1", 12)]));
            builder.tool(pay_tool(&paid)).store(place.open().await)
        };
        let agents = [
            builder().await.hook(people(gate())).hook(night()).build().unwrap(),
            builder().await.hook(people(strict.clone())).build().unwrap(),
        ];
        for (agent, thread) in agents.iter().zip(["late", "strict"]) {
            let reply = agent.call_with(on_thread(thread, "ada"), "Pay").await.unwrap();
            assert_eq!(reply.reason, Some(GenerateReason::PermissionAsking), "{thread}");
            assert!(paid.take().is_empty());
        }
        // The first question of the first agent was answered; the hook that asks at night was not.
        let asked = waiting(&*place.open().await).await;
        let late = asked.iter().find(|it| *it.thread == *"late").unwrap();
        let now: Vec<_> = late.askers.iter().filter(|it| !it.is_answered).collect();
        assert_eq!(now.len(), 1);
        assert_eq!(now[0].to_string(), "night: it is late");
    }
}

#[tokio::test]
async fn who_may_not_answer_their_own_question_is_not_answered_by_themselves_later() {
    for place in places().await {
        let paid = Paid::default();
        let gate = || gate().approvers(Approvers::roles(["lead"]).not_self());
        let agent = payer_of(place.open().await, &paid, &[12], gate());
        agent.call_with(on_thread("ada", "ada"), "Pay").await.unwrap();
        let asked = waiting(&*place.open().await).await.remove(0);
        let yes = Verdict::new(asked.id, Decision::Approve).by(lead());
        let yes = yes.remember(Reach::Always, ApprovalRule::exact());
        agent.resume(on_thread("ada", "ada").verdict(yes)).await.unwrap();
        let reply = agent.call_with(on_thread("eve", "eve"), "Pay").await.unwrap();
        assert_eq!(reply.reason, Some(GenerateReason::PermissionAsking));
        let reply = agent.call_with(on_thread("bob", "bob"), "Pay").await.unwrap();
        assert_eq!(reply.text(), "paid 12");
    }
}

type Is = fn(&NotRemembered) -> bool;

#[tokio::test]
async fn what_is_remembered_too_far_is_refused_and_the_question_waits() {
    let exact = ApprovalRule::exact;
    let range = || exact().at_most("euros", 20);
    let known = || User::new("ada");
    let cases: Vec<(Verdict, Is)> = {
        let yes = || Verdict::new("", Decision::Approve);
        let edit = Verdict::new("", Decision::Edit(json!({ "euros": 1 }))).by(lead());
        vec![
            (edit.remember(Reach::Thread, exact()), |it| matches!(it, NotRemembered::Decision)),
            (yes().remember(Reach::Thread, exact()), |it| {
                matches!(it, NotRemembered::NotApprover(_))
            }),
            (yes().by(User::unverified("eve")).remember(Reach::Thread, exact()), |it| {
                matches!(it, NotRemembered::NotApprover(_))
            }),
            (yes().by(known()).remember(Reach::User, exact()), |it| {
                matches!(it, NotRemembered::NotApprover(_))
            }),
            (yes().by(known()).remember(Reach::Always, exact()), |it| {
                matches!(it, NotRemembered::NotApprover(_))
            }),
            (yes().by(known()).remember(Reach::Thread, range()), |it| {
                matches!(it, NotRemembered::NotApprover(_))
            }),
            (yes().by(lead()).remember(Reach::Thread, exact().at_most("euros", 11)), |it| {
                matches!(it, NotRemembered::Other(_))
            }),
            (yes().by(lead()).remember(Reach::Thread, range().at_most("cents", 1)), |it| {
                matches!(it, NotRemembered::Other(_))
            }),
            (yes().by(lead()).remember(Reach::Thread, exact().sum("cents", 1)), |it| {
                matches!(it, NotRemembered::Other(_))
            }),
            (
                yes().by(lead()).remember(Reach::Thread, exact().expires_after(Duration::MAX)),
                |it| matches!(it, NotRemembered::TooLong(_)),
            ),
        ]
    };
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        let agent = payer_of(store.clone(), &paid, &[12], gate());
        agent.call_with(on_thread("ada", "ada"), "Pay").await.unwrap();
        let asked = waiting(&store).await;
        for (verdict, is_expected) in &cases {
            let mut verdict = verdict.clone();
            verdict.id = asked[0].id.clone();
            let error = store.decide(vec![verdict.clone()]).await.unwrap_err();
            let StoreError::Decision(DecisionError::NotRemembered { reason, .. }) = &error else {
                panic!("{error:?} of {verdict:?}")
            };
            assert!(is_expected(reason), "{reason:?} of {verdict:?}");
            assert_eq!(waiting(&store).await, asked);
        }
        assert!(store.approvals(Filter::all()).await.unwrap().is_empty());
        // Without a role that may, nobody remembers more than the call on its thread.
        let plain = payer_of(place.open().await, &paid, &[12], Gate::new());
        plain.call_with(on_thread("plain", "ada"), "Pay").await.unwrap();
        let asked = waiting(&store).await.pop().unwrap();
        let far = Verdict::new(asked.id, Decision::Approve).by(lead());
        let far = far.remember(Reach::User, ApprovalRule::exact());
        let error = store.decide(vec![far]).await.unwrap_err();
        let StoreError::Decision(DecisionError::NotRemembered { reason, .. }) = error else {
            panic!("{error:?}")
        };
        assert_eq!(
            reason.to_string(),
            "`HumanInTheLoop` lets nobody remember an answer for this user, or for other arguments: allow it \
             where it asks, by `remembered_by(Approvers::roles([..]))`"
        );
    }
}

#[tokio::test]
async fn a_body_that_says_remember_changes_nothing() {
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        let agent = payer_of(store.clone(), &paid, &[12], gate());
        agent.call_with(on_thread("ada", "ada"), "Pay").await.unwrap();
        let asked = waiting(&store).await.remove(0);
        let rule = serde_json::to_value(ApprovalRule::exact()).unwrap();
        let body = json!({
            "id": asked.id, "decision": "approve",
            "remember": { "reach": "always", "rule": rule }, "approval": "x", "by": "eve",
        });
        let verdict: Verdict = serde_json::from_value(body).unwrap();
        assert!(verdict.remember.is_none());
        store.decide(vec![verdict.by(lead())]).await.unwrap();
        assert!(store.approvals(Filter::all()).await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn of_two_calls_in_one_answer_people_are_asked_about_the_other() {
    for place in places().await {
        let paid = Paid::default();
        remember(&place, &paid, 12, Reach::Always, ApprovalRule::exact()).await;
        let agent = payer_of(place.open().await, &paid, &[12, 30], gate());
        let reply = agent.call_with(on_thread("two", "ada"), "Pay").await.unwrap();
        assert_eq!(reply.pending().iter().map(|it| &*it.id).collect::<Vec<_>>(), ["2"]);
        assert!(paid.take().is_empty(), "all questions are decided before a tool runs");
        // In another process, which answers the second one alone.
        let agent = payer_of(place.open().await, &paid, &[12, 30], gate());
        let asked = waiting(&*place.open().await).await;
        assert_eq!(asked.iter().map(|it| &*it.call_id).collect::<Vec<_>>(), ["2"]);
        let options = on_thread("two", "ada").decide(asked[0].id.clone(), Decision::Approve);
        assert_eq!(agent.resume(options).await.unwrap().text(), "paid 12; paid 30");
        assert_eq!(paid.take(), [12, 30]);
        assert_eq!(approvals(&place).await[0].uses, 1);
    }
}

#[tokio::test]
async fn a_hook_that_asks_before_the_tool_is_answered_too_and_the_stream_says_so() {
    for place in places().await {
        for durability in [Durability::Step, Durability::Call] {
            let (store, paid) = (place.open().await, Paid::default());
            let ask = on(|event: &mut PreActing<'_>| event.ask_with(Question::new("really?")));
            let agent = ReActAgent::builder("clerk").model(payer([pay("1", 12), pay("2", 12)]));
            let agent = agent.tool(pay_tool(&paid)).store(store.clone()).durability(durability);
            let agent = agent.hook(ask.named("careful")).build().unwrap();
            let thread = format!("{durability:?}");
            agent.call_with(on_thread(&thread, "ada"), "Pay").await.unwrap();
            let of_thread = Filter::agent("clerk").thread(&*thread);
            let asked = store.waiting(of_thread.clone()).await.unwrap().remove(0);
            let yes = Verdict::new(asked.id, Decision::Approve).by("ada");
            let yes = yes.remember(Reach::Thread, ApprovalRule::exact());
            let mut kinds = Vec::new();
            let mut stream = agent.stream_with(on_thread(&thread, "ada").verdict(yes), []);
            let mut last = None;
            while let Some(event) = stream.next().await {
                let kind = event.unwrap().kind;
                match &kind {
                    AgentEventKind::PermissionRemembered(question) => {
                        let decided = question.decided.as_ref().unwrap();
                        assert_eq!((&*question.call_id, decided.by.as_deref()), ("2", Some("ada")));
                        let approvals = store.approvals(of_thread.clone()).await.unwrap();
                        assert_eq!(decided.approval.as_ref(), Some(&approvals[0].id));
                        kinds.push("remembered");
                    }
                    AgentEventKind::ToolFinished(_) => kinds.push("finished"),
                    AgentEventKind::PermissionAsked(_) => kinds.push("asked"),
                    AgentEventKind::Finished(reply) => last = Some(reply.text()),
                    _ => {}
                }
            }
            assert_eq!(last.as_deref(), Some("paid 12; paid 12"));
            assert_eq!(kinds, ["finished", "remembered", "finished"]);
            assert_eq!(paid.take(), [12, 12]);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_calls_at_once_no_more_are_answered_than_the_approval_is_good_for() {
    for place in places().await {
        let paid = Paid::default();
        remember(&place, &paid, 12, Reach::Always, ApprovalRule::exact().uses(3)).await;
        let mut calls = Vec::new();
        for index in 0..8 {
            let agent = payer_of(place.open().await, &paid, &[12], gate());
            let call =
                async move { agent.call_with(on_thread(&format!("{index}"), "bob"), "Pay").await };
            calls.push(tokio::spawn(call));
        }
        let mut asked = 0;
        for call in calls {
            let reply = call.await.unwrap().unwrap();
            asked += usize::from(reply.reason == Some(GenerateReason::PermissionAsking));
        }
        assert_eq!((asked, paid.take()), (5, vec![12; 3]));
        assert_eq!(approvals(&place).await[0].uses, 3);
    }
}

#[tokio::test]
async fn what_is_forgotten_answers_no_later_thread_or_user() {
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        remember(&place, &paid, 12, Reach::Thread, ApprovalRule::exact()).await;
        store.forget(Filter::agent("clerk").thread("ada")).await.unwrap();
        assert!(approvals(&place).await.is_empty());
        assert!(!pays(&place, &paid, 12, ("ada", "ada")).await, "a new thread of the name");
        remember(&place, &paid, 12, Reach::User, ApprovalRule::exact()).await;
        store.forget(Filter::agent("clerk").thread("ada")).await.unwrap();
        assert_eq!(approvals(&place).await.len(), 1, "it is for the user");
        store.forget(Filter::all().user("bob")).await.unwrap();
        assert_eq!(approvals(&place).await.len(), 1);
        store.forget(Filter::all().user("ada")).await.unwrap();
        assert!(approvals(&place).await.is_empty());
    }
}

#[tokio::test]
async fn an_export_has_no_approvals() {
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        remember(&place, &paid, 12, Reach::Always, ApprovalRule::exact()).await;
        let mut written = Vec::new();
        let thread = ThreadKey::new("clerk", "ada").unwrap();
        export(&store, &thread, &mut written).await.unwrap();
        let other = hooks_agent_core::thread::MemoryStore::new();
        import(&other, &*written).await.unwrap();
        assert!(other.approvals(Filter::all()).await.unwrap().is_empty());
        assert!(!String::from_utf8(written).unwrap().contains("given_by"));
    }
}

#[tokio::test]
async fn a_question_of_a_sub_agent_is_answered_on_the_same_way_down_alone() {
    for place in places().await {
        let paid = Paid::default();
        let boss = async || {
            let ask = HumanInTheLoop::new().ask_with("pay", gate());
            let clerk = ReActAgent::builder("sub").model(payer([pay("1", 12)]));
            let clerk = clerk.tool(pay_tool(&paid)).hook(ask).build().unwrap();
            let task =
                hooks_agent_core::message::ToolUse::new("t", "sub", json!({ "task": "Pay" }));
            let boss =
                ReActAgent::builder("clerk").model(payer([task])).tool(clerk.to_tool("Pays."));
            boss.store(place.open().await).build().unwrap()
        };
        boss().await.call_with(on_thread("one", "ada"), "Pay").await.unwrap();
        let asked = waiting(&*place.open().await).await.remove(0);
        assert_eq!(asked.agents, ["sub"]);
        let yes = Verdict::new(asked.id, Decision::Approve).by(lead());
        let yes = yes.remember(Reach::User, ApprovalRule::exact());
        let reply = boss().await.resume(on_thread("one", "ada").verdict(yes)).await.unwrap();
        assert_eq!(reply.text(), "paid 12");
        let reply = boss().await.call_with(on_thread("two", "ada"), "Pay").await.unwrap();
        assert_eq!(reply.text(), "paid 12", "{:?}", reply.pending());
        assert_eq!(paid.take(), [12, 12]);
        // The agent itself, called without the other one, asks.
        assert!(!pays(&place, &paid, 12, ("three", "ada")).await);
    }
}

/// What the approvals of the store let run, as written by hand: no more.
fn may_run(shown: &Value, asked: &Value) -> bool {
    shown["to"] == asked["to"]
        && shown.as_object().unwrap().len() == asked.as_object().unwrap().len()
        && asked["euros"]
            .as_f64()
            .is_some_and(|euros| (0.0..=shown["euros"].as_f64().unwrap()).contains(&euros))
}

#[test]
fn a_suggested_rule_lets_nothing_run_that_exceeds_what_was_shown() {
    use proptest::prelude::*;
    let amount = prop_oneof![
        (-3_i64..200).prop_map(Value::from),
        (-3.0..200.0_f64).prop_map(Value::from),
        Just(json!(u64::MAX)),
        Just(json!(i64::MIN)),
        Just(json!("150")),
        Just(json!(null)),
        Just(json!([150])),
    ];
    let arguments = (prop_oneof!["Bakery", "Casino"], amount, any::<bool>()).prop_map(
        |(to, euros, has_more)| {
            if has_more {
                json!({ "to": to, "euros": euros, "now": true })
            } else {
                json!({ "to": to, "euros": euros })
            }
        },
    );
    let shown = (0_i64..200).prop_map(|euros| json!({ "to": "Bakery", "euros": euros }));
    proptest!(|(shown in shown, asked in arguments)| {
        let rules = ApprovalRule::suggestions(&shown);
        let exact = rules.iter().filter(|rule| rule.is_exact());
        for rule in exact {
            prop_assert_eq!(rule.covers(&shown, &asked), shown == asked);
        }
        for rule in &rules {
            prop_assert!(rule.covers(&shown, &shown));
            prop_assert!(!rule.covers(&shown, &asked) || may_run(&shown, &asked), "{}", rule);
        }
    });
}
