//! Questions to people are in the store, and are decided from anywhere.

use std::sync::Arc;

use hooks_agent_builtin::people::{Gate, HumanInTheLoop};
use hooks_agent_core::call::User;
use hooks_agent_core::error::{AgentError, InputError};
use hooks_agent_core::event::PreActing;
use hooks_agent_core::hook::on;
use hooks_agent_core::message::{Approvers, DecisionKind, GenerateReason, Msg, PendingReason};
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{
    Decision, DecisionError, Filter, Store, StoreError, Verdict, Waiting,
};
use hooks_agent_core::tool::Permission;
use serde_json::json;

use crate::agents::stores::{Paid, builder, clerk, pay, pay_tool, payer, places, refused, waiting};

fn on_ada() -> CallOptions {
    CallOptions::new().thread("ada")
}

/// Leaves the question about the 12 euros on the thread of Ada.
async fn ask(store: &Arc<dyn Store>, paid: &Paid) -> Waiting {
    let reply = clerk(store.clone(), paid).call_with(on_ada(), "Pay").await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::PermissionAsking));
    let mut waiting = waiting(store).await;
    assert_eq!(waiting.len(), 1);
    waiting.remove(0)
}

#[tokio::test]
async fn ds_03_a_question_is_approved_by_another_process() {
    for place in places().await {
        let paid = Paid::default();
        let asked = ask(&place.open().await, &paid).await;
        assert_eq!((&*asked.agent, &*asked.thread, &*asked.call_id), ("clerk", "ada", "1"));
        assert_eq!((&*asked.tool, &asked.arguments), ("pay", &json!({ "euros": 12 })));
        assert_eq!(asked.allowed, DecisionKind::ALL);
        assert_eq!(asked.asked_by.as_deref(), Some("HumanInTheLoop"));
        assert_eq!(asked.schema["required"], json!(["euros"]));
        assert!(asked.since > 0 && asked.expires.is_none() && asked.is_as_shown());

        let store = place.open().await;
        assert_eq!(waiting(&store).await, std::slice::from_ref(&asked));
        let agent = clerk(store.clone(), &paid);
        let options = on_ada().decide(asked.id.clone(), Decision::Approve);
        assert_eq!(agent.resume(options).await.unwrap().text(), "paid 12");
        assert_eq!(paid.take(), [12]);
        assert!(waiting(&store).await.is_empty());
    }
}

#[tokio::test]
async fn ds_04_reject_edit_and_respond_from_another_process() {
    let decisions = [
        (
            Decision::Reject("too dear".to_owned()),
            vec![],
            "User rejected the tool call for `pay` with reason: too dear",
        ),
        (
            Decision::Edit(json!({ "euros": 5 })),
            vec![5],
            "The user edited this tool call before it ran.\n\nExecuted instead: pay with arguments \
             {\"euros\":5}.\n\nTool response:\npaid 5",
        ),
        (Decision::Respond("she paid herself".into()), vec![], "she paid herself"),
    ];
    for place in places().await {
        for (decision, ran, text) in decisions.clone() {
            let paid = Paid::default();
            let asked = ask(&place.open().await, &paid).await;
            let store = place.open().await;
            let options = on_ada().decide(asked.id, decision);
            assert_eq!(clerk(store.clone(), &paid).resume(options).await.unwrap().text(), text);
            assert_eq!(paid.take(), ran);
            assert!(waiting(&store).await.is_empty());
        }
    }
}

#[tokio::test]
async fn ds_04_an_edit_that_breaks_the_schema_is_refused_and_the_question_waits() {
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        let asked = ask(&store, &paid).await;
        for edit in [json!({ "euros": "many" }), json!({}), json!([12]), json!(null)] {
            let options = on_ada().decide(asked.id.clone(), Decision::Edit(edit));
            let error = refused(clerk(store.clone(), &paid).resume(options).await.unwrap_err());
            assert!(matches!(error, DecisionError::Schema { .. }), "{error}");
        }
        assert_eq!(waiting(&store).await, [asked]);
        assert!(paid.take().is_empty());
    }
}

#[tokio::test]
async fn an_edit_leaves_the_answer_as_it_is_and_records_what_ran() {
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        let asked = ask(&store, &paid).await;
        let agent = clerk(store, &paid);
        agent
            .resume(on_ada().decide(asked.id, Decision::Edit(json!({ "euros": 5 }))))
            .await
            .unwrap();
        let history = agent.threads().memory("ada").unwrap().messages();
        let call = history.iter().flat_map(Msg::tool_uses).next().unwrap();
        let result = history.iter().flat_map(Msg::tool_results).next().unwrap();
        assert_eq!(call.input, json!({ "euros": 12 }));
        assert_eq!(result.ran.as_ref().unwrap().input, json!({ "euros": 5 }));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ds_05_of_two_who_approve_at_once_one_wins_and_the_tool_runs_once() {
    for place in places().await {
        for _ in 0..8 {
            let paid = Paid::default();
            let asked = ask(&place.open().await, &paid).await;
            let (one, other) = (place.open().await, place.open().await);
            let approve = |store: Arc<dyn Store>, who: &'static str| {
                let agent = clerk(store, &paid);
                let verdict = Verdict::new(asked.id.clone(), Decision::Approve).by(who);
                tokio::spawn(async move { agent.resume(on_ada().verdict(verdict)).await })
            };
            let both = [approve(one.clone(), "eve"), approve(other, "bob")];
            let mut refusals = Vec::new();
            for ended in both {
                match ended.await.unwrap() {
                    Ok(reply) => assert_eq!(reply.text(), "paid 12"),
                    Err(error) => refusals.push(refused(error)),
                }
            }
            let [DecisionError::AlreadyDecided { id, by, when }] = &*refusals else {
                panic!("{refusals:?}")
            };
            assert_eq!(*id, asked.id);
            assert!(matches!(by.as_deref(), Some("eve" | "bob")) && *when >= asked.since);
            assert_eq!(paid.take(), [12]);
            one.forget(Filter::agent("clerk")).await.unwrap();
        }
    }
}

#[tokio::test]
async fn ds_06_of_three_questions_the_undecided_one_waits_again() {
    for place in places().await {
        let paid = Paid::default();
        let three = |store: Arc<dyn Store>| {
            let model = payer([pay("1", 1), pay("2", 2), pay("3", 3)]);
            let builder = ReActAgent::builder("clerk").model(model).tool(pay_tool(&paid));
            builder.store(store).hook(HumanInTheLoop::new().ask("pay")).build().unwrap()
        };
        let store = place.open().await;
        three(store.clone()).call_with(on_ada(), "Pay").await.unwrap();
        let asked = waiting(&store).await;
        let ids: Vec<_> = asked.iter().map(|asked| asked.call_id.as_str()).collect();
        assert_eq!((asked.len(), ids.contains(&"3")), (3, true));
        let of = |id: &str| asked.iter().find(|it| it.call_id == id).unwrap().id.clone();

        let options = on_ada()
            .decide(of("1"), Decision::Approve)
            .decide(of("2"), Decision::Reject("no".to_owned()));
        let reply = three(place.open().await).resume(options).await.unwrap();
        assert_eq!(reply.reason, Some(GenerateReason::PermissionAsking));
        let pending: Vec<_> = reply.pending().iter().map(|pending| &*pending.id).collect();
        assert_eq!(pending, ["3"]);
        let left = waiting(&store).await;
        assert_eq!((left.len(), &*left[0].call_id, &left[0].id), (1, "3", &of("3")));
        assert!(paid.take().is_empty());

        // What was decided stays decided, also in another process.
        let options = on_ada().decide(of("3"), Decision::Edit(json!({ "euros": 30 })));
        three(place.open().await).resume(options).await.unwrap();
        assert_eq!(paid.take(), [1, 30]);
    }
}

#[tokio::test]
async fn several_decisions_are_stored_all_or_none() {
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        let asked = ask(&store, &paid).await;
        let other = clerk(store.clone(), &paid);
        other.call_with(CallOptions::new().thread("bob"), "Pay").await.unwrap();
        let before = waiting(&store).await;
        assert_eq!(before.len(), 2);
        let verdicts = vec![
            Verdict::new(before[0].id.clone(), Decision::Approve),
            Verdict::new(before[1].id.clone(), Decision::Edit(json!({}))),
        ];
        let error = store.decide(verdicts).await.unwrap_err();
        assert!(matches!(error, StoreError::Decision(DecisionError::Schema { .. })), "{error}");
        let verdicts =
            [&*asked.id, "nobody"].map(|id| Verdict::new(id, Decision::Approve)).to_vec();
        let error = store.decide(verdicts).await.unwrap_err();
        assert!(matches!(error, StoreError::Decision(DecisionError::Unknown { .. })), "{error}");
        assert_eq!(waiting(&store).await, before);
        assert!(store.waiting(Filter::all().decided()).await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_decision_says_who_decided_and_when() {
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        let asked = ask(&store, &paid).await;
        let verdict = |who: &str| vec![Verdict::new(asked.id.clone(), Decision::Approve).by(who)];
        store.decide(verdict("ada@example.org")).await.unwrap();
        let decided = store.waiting(Filter::all().decided()).await.unwrap().remove(0);
        let decided = decided.decided.unwrap();
        assert_eq!(decided.by.as_deref(), Some("ada@example.org"));
        let late = store.decide(verdict("bob")).await.unwrap_err();
        let StoreError::Decision(late @ DecisionError::AlreadyDecided { .. }) = late else {
            panic!("{late}")
        };
        assert!(late.to_string().ends_with("was decided by ada@example.org"), "{late}");
        let DecisionError::AlreadyDecided { when, .. } = late else { unreachable!() };
        assert_eq!(when, decided.at);

        // The call that follows it needs no decision, and a later one is refused as before.
        let agent = clerk(place.open().await, &paid);
        assert_eq!(agent.resume(on_ada()).await.unwrap().text(), "paid 12");
        let late = store.decide(verdict("bob")).await.unwrap_err();
        let is_decided = |by: &str| by == "ada@example.org";
        assert!(
            matches!(&late, StoreError::Decision(DecisionError::AlreadyDecided { by: Some(by), .. }) if is_decided(by)),
            "{late}"
        );
    }
}

#[tokio::test]
async fn a_decision_about_one_thread_does_not_touch_another() {
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        let asked = ask(&store, &paid).await;
        let agent = clerk(store.clone(), &paid);
        let on_bob = || CallOptions::new().thread("bob");
        agent.call_with(on_bob(), "Pay").await.unwrap();
        let before = waiting(&store).await;

        // A decision is about a question of the thread that is resumed.
        let options = on_bob().decide(asked.id.clone(), Decision::Approve);
        let error = refused(agent.resume(options).await.unwrap_err());
        assert!(matches!(error, DecisionError::Unknown { .. }), "{error}");
        assert_eq!(waiting(&store).await, before);

        agent.resume(on_ada().decide(asked.id, Decision::Approve)).await.unwrap();
        assert_eq!(paid.take(), [12]);
        let left = waiting(&store).await;
        assert_eq!((left.len(), &*left[0].thread), (1, "bob"));
        let reply = agent.resume(on_bob()).await.unwrap();
        assert_eq!(reply.reason, Some(GenerateReason::PermissionAsking));
    }
}

#[tokio::test]
async fn questions_of_permissions_and_of_hooks_are_in_the_list_too() {
    for place in places().await {
        for by_hook in [true, false] {
            let (store, paid) = (place.open().await, Paid::default());
            let agent = |store| {
                if by_hook {
                    let ask = on(|event: &mut PreActing<'_>| event.ask("it is money"));
                    return builder(store, &paid).hook(ask.named("careful")).build().unwrap();
                }
                let tool = pay_tool(&paid).permission(|_| Permission::Ask);
                let builder = ReActAgent::builder("clerk").model(payer([pay("1", 12)])).tool(tool);
                builder.store(store).build().unwrap()
            };
            agent(store.clone()).call_with(on_ada(), "Pay").await.unwrap();
            let asked = waiting(&store).await.remove(0);
            let (text, by) = if by_hook { ("it is money", Some("careful")) } else { ("", None) };
            assert_eq!((&*asked.description, asked.asked_by.as_deref()), (text, by));
            assert_eq!(asked.why, PendingReason::Permission(text.to_owned()));
            let options = on_ada().decide(asked.id, Decision::Edit(json!({ "euros": 5 })));
            agent(place.open().await).resume(options).await.unwrap();
            assert_eq!(paid.take(), [5]);
        }
    }
}

#[tokio::test]
async fn questions_of_sub_agents_come_with_their_path_and_are_decided_by_id() {
    for place in places().await {
        let paid = Paid::default();
        let agents = |store: Arc<dyn Store>| {
            let model = payer([pay("1", 12)]);
            let cashier = ReActAgent::builder("cashier").model(model).tool(pay_tool(&paid));
            let cashier = cashier.store(store.clone()).build().unwrap();
            let task = ToolUse::new("a", "cashier", json!({ "task": "Pay" }));
            let builder = ReActAgent::builder("clerk").model(payer([task])).store(store);
            let builder = builder.tool(cashier.to_tool("Pays"));
            builder.hook(HumanInTheLoop::new().ask("pay")).build().unwrap()
        };
        for decision in [Decision::Approve, Decision::Edit(json!({ "euros": 5 }))] {
            let store = place.open().await;
            agents(store.clone()).call_with(on_ada(), "Pay").await.unwrap();
            let asked = store.waiting(Filter::all()).await.unwrap();
            let [asked] = &*asked else { panic!("{asked:?}") };
            assert_eq!((&*asked.agent, &*asked.call_id), ("clerk", "a/1"));
            assert_eq!(asked.agents, ["cashier"]);
            assert_eq!((&*asked.tool, &asked.arguments), ("pay", &json!({ "euros": 12 })));
            assert_eq!(asked.schema["required"], json!(["euros"]));
            let options = on_ada().decide(asked.id.clone(), decision.clone());
            let reply = agents(place.open().await).resume(options).await.unwrap();
            let expected = if decision == Decision::Approve { 12 } else { 5 };
            assert!(reply.text().contains(&format!("paid {expected}")), "{}", reply.text());
            assert_eq!(paid.take(), [expected]);
            assert!(store.waiting(Filter::all()).await.unwrap().is_empty());
        }
    }
}

#[tokio::test]
async fn what_waits_survives_json() {
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        let asked = ask(&store, &paid).await;
        let page = serde_json::to_string(&asked).unwrap();
        let back: Waiting = serde_json::from_str(&page).unwrap();
        assert_eq!(back, asked);
        assert!(back.is_as_shown());
        // What a page changes in the arguments is found.
        let mut changed = asked.clone();
        changed.arguments = json!({ "euros": 1200 });
        assert!(!changed.is_as_shown());
    }
}

#[tokio::test]
async fn a_message_after_a_decision_follows_the_tool_calls() {
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        let asked = ask(&store, &paid).await;
        store.decide(vec![Verdict::new(asked.id, Decision::Approve)]).await.unwrap();
        let agent = clerk(place.open().await, &paid);
        agent.call_with(on_ada(), "And now?").await.unwrap();
        assert_eq!(paid.take(), [12]);
        let history = agent.threads().memory("ada").unwrap().messages();
        let roles: Vec<_> = history.iter().map(|msg| msg.role).collect();
        let expected = [Role::User, Role::Assistant, Role::Tool, Role::User, Role::Assistant];
        assert_eq!(roles, expected);
    }
}

#[tokio::test]
async fn the_id_of_a_call_decides_its_question_on_its_thread() {
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        ask(&store, &paid).await;
        let agent = clerk(store.clone(), &paid);
        // Of another thread, or in the whole store, it names nothing.
        let other = CallOptions::new().thread("bob").decide("1", Decision::Approve);
        let error = refused(agent.resume(other).await.unwrap_err());
        assert!(matches!(error, DecisionError::Unknown { .. }), "{error}");
        let error = store.decide(vec![Verdict::new("1", Decision::Approve)]).await.unwrap_err();
        assert!(matches!(error, StoreError::Decision(DecisionError::Unknown { .. })), "{error}");
        assert!(paid.take().is_empty());

        let reply = agent.resume(on_ada().decide("1", Decision::Approve)).await.unwrap();
        assert_eq!((reply.text(), paid.take()), ("paid 12".to_owned(), vec![12]));
        // It names nothing any more.
        let again = on_ada().decide("1", Decision::Approve);
        let error = refused(agent.resume(again).await.unwrap_err());
        assert!(matches!(error, DecisionError::Unknown { .. }), "{error}");
    }
}

#[tokio::test]
async fn a_question_is_not_decided_by_its_id_and_by_that_of_its_call() {
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        let asked = ask(&store, &paid).await;
        let both = on_ada().decide("1", Decision::Approve).decide(asked.id, Decision::Approve);
        let error = refused(clerk(store, &paid).resume(both).await.unwrap_err());
        assert!(matches!(error, DecisionError::Twice { .. }), "{error}");
        assert!(paid.take().is_empty());
    }
}

#[tokio::test]
async fn a_message_does_not_pass_by_a_question() {
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        let asked = ask(&store, &paid).await;
        let agent = clerk(store.clone(), &paid);
        let error = agent.call_with(on_ada(), "And now?").await.unwrap_err();
        assert!(
            matches!(&error, AgentError::Input(InputError::Undecided { ids, questions })
                if *ids == ["1"] && *questions == [asked.id.clone()]),
            "{error:?}"
        );
        assert!(error.to_string().contains(&*asked.id), "{error}");
        assert_eq!(waiting(&store).await, [asked]);
        assert!(paid.take().is_empty());
    }
}

#[tokio::test]
async fn an_agent_that_gives_up_what_waits_runs_nothing_of_it() {
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        let agent = || {
            let model = payer([pay("1", 1), pay("2", 2)]);
            let builder = ReActAgent::builder("clerk").model(model).tool(pay_tool(&paid));
            let builder = builder.store(store.clone()).hook(HumanInTheLoop::new().ask("pay"));
            builder.recover_pending(true).build().unwrap()
        };
        agent().call_with(on_ada(), "Pay").await.unwrap();
        let asked = waiting(&store).await;
        // A result for one does not let the other run.
        let pending = agent().resume(on_ada()).await.unwrap().pending()[0].clone();
        let error = agent().call_with(on_ada(), pending.answered("done")).await.unwrap_err();
        assert!(matches!(error, AgentError::Input(InputError::Undecided { .. })), "{error:?}");
        // Nor does a decision about one.
        let options = on_ada().decide(asked[0].id.clone(), Decision::Approve);
        let reply = agent().call_with(options, "Never mind").await.unwrap();
        assert_eq!(reply.text(), "heard: Never mind");
        assert!(paid.take().is_empty());
        assert!(waiting(&store).await.is_empty());
    }
}

#[tokio::test]
async fn an_approver_is_checked_by_the_store_whichever_process_decides() {
    let manager = |id: &str| User::new(id).with_role("manager");
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        let gate = Gate::new().approvers(Approvers::roles(["manager"]).not_self());
        let builder =
            builder(store.clone(), &paid).hook(HumanInTheLoop::new().ask_with("pay", gate));
        let agent = builder.build().unwrap();
        agent.call_with(on_ada().user("ada"), "Pay").await.unwrap();
        // Another process knows the question from the store alone.
        let store = place.open().await;
        let asked = waiting(&store).await.remove(0);
        assert!(asked.is_as_shown());
        assert_eq!(asked.user.as_deref(), Some("ada"));
        let verdict = || Verdict::new(asked.id.clone(), Decision::Approve);
        let strangers =
            [verdict(), verdict().by("bob"), verdict().by(manager("ada")), verdict().by("ada")];
        for verdict in strangers {
            let error = store.decide(vec![verdict]).await.unwrap_err();
            let StoreError::Decision(error) = error else { panic!("{error}") };
            assert!(matches!(error, DecisionError::NotApprover { .. }), "{error:?}");
            assert_eq!(waiting(&store).await, std::slice::from_ref(&asked));
        }
        store.decide(vec![verdict().by(manager("bob"))]).await.unwrap();
        assert_eq!(agent.resume(on_ada()).await.unwrap().text(), "paid 12");
        assert_eq!(paid.take(), [12]);
    }
}
