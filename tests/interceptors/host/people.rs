//! Denies that people lift.

use agent_hooks::{OnApproval, Verdict};
use hooks_agent_core::message::GenerateReason;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::Decision;
use hooks_agent_interceptors::{AskPeople, Interceptors, Profile};
use serde_json::json;

use crate::support::{Records, at, decides, deciding, deny, looker};

fn asking() -> (ReActAgent, Records) {
    let (interceptors, records) = deciding(at("pre_tool_call", |context| {
        if context["tool_call"]["args"]["at"] == "nothing" {
            Verdict::allow()
        } else {
            Verdict::escalate(Some("sensitive".to_owned()), Some("It looks at secrets.".to_owned()))
        }
    }));
    (looker(interceptors.ask_people(AskPeople::new())), records)
}

fn tool_points(records: &Records) -> Vec<String> {
    let mut points = records.points();
    points.retain(|it| it.contains("tool_call"));
    // Sessions have no order.
    points.sort_by_key(|it| it.starts_with("post_tool_call"));
    points
}

#[tokio::test]
async fn a_deny_that_people_lift_is_one_record_with_the_identity_that_they_were_asked_about() {
    let (agent, records) = asking();
    let reply = agent.call("Go").await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::PermissionAsking));
    let pending = &reply.pending()[0];
    assert_eq!(pending.askers[0].reason, "It looks at secrets. (sensitive)");
    assert_eq!(tool_points(&records), [] as [String; 0], "it comes with the decision");

    let reply = agent.resume(CallOptions::new().confirm("1")).await.unwrap();
    assert_eq!(reply.text(), r#"I read: {"at":"secret"}"#);
    assert_eq!(tool_points(&records), ["pre_tool_call", "post_tool_call"]);
    let all = records.all();
    let before = all.iter().find(|it| it.interception_point.as_str() == "pre_tool_call").unwrap();
    let after = all.iter().find(|it| it.interception_point.as_str() == "post_tool_call").unwrap();
    assert_eq!(before.resolved_by, Some("approval"));
    assert_ne!(before.session_id, after.session_id, "a call that is resumed is another session");
    let first: Vec<_> = all.iter().filter(|it| it.session_id == before.session_id).collect();
    let sequences = first.iter().map(|it| it.sequence);
    assert!(sequences.eq(0..=first.last().unwrap().sequence), "its place was kept");
}

#[tokio::test]
async fn a_rejection_is_recorded_and_the_tool_does_not_run() {
    let (agent, records) = asking();
    agent.call("Go").await.unwrap();
    let options = CallOptions::new().decide("1", Decision::Reject("not today".to_owned()));
    let reply = agent.resume(options).await.unwrap();
    assert!(reply.text().contains("not today"), "{}", reply.text());
    assert_eq!(tool_points(&records), ["pre_tool_call deny rejected"]);
    let all = records.all();
    let rejected = all.iter().find(|it| it.resolved_by.is_some()).unwrap();
    assert_eq!(rejected.resolved_by, Some("rejection"));
}

#[tokio::test]
async fn arguments_that_people_edit_are_what_runs_and_the_record_says_so() {
    let (agent, records) = asking();
    agent.call("Go").await.unwrap();
    let options = CallOptions::new().confirm_edited("1", json!({ "at": "the sky" }));
    let reply = agent.resume(options).await.unwrap();
    assert!(reply.text().contains("the sky"), "{}", reply.text());
    assert_eq!(tool_points(&records), ["pre_tool_call", "post_tool_call"]);
    let all = records.all();
    assert_eq!(all.iter().find_map(|it| it.resolved_by), Some("approval"));
}

#[tokio::test]
async fn arguments_that_people_edit_are_asked_about_before_they_run() {
    let records = Records::default();
    let asks = decides(at("pre_tool_call", |_| Verdict::escalate(Some("look".to_owned()), None)));
    let denies = decides(at("pre_tool_call", |context| {
        let (args, target) = (&context["tool_call"]["args"], &context["target"]);
        if args["at"] == "the safe" && args == target {
            deny("never there")
        } else {
            Verdict::allow()
        }
    }));
    let interceptors = Interceptors::new(Profile::RunAll)
        .add("asks", asks)
        .add("denies", denies)
        .ask_people(AskPeople::new())
        .records(records.0.clone());
    let agent = looker(interceptors);
    agent.call("Go").await.unwrap();
    let options = CallOptions::new().confirm_edited("1", json!({ "at": "the safe" }));
    let reply = agent.resume(options).await.unwrap();
    assert!(reply.text().contains("never there"), "{}", reply.text());
    assert_eq!(tool_points(&records), ["pre_tool_call deny never there"]);
}

#[tokio::test]
async fn arguments_that_people_edit_may_be_asked_about_by_another_interceptor() {
    let records = Records::default();
    let asks = |at_: &'static str, why: &'static str| {
        decides(at("pre_tool_call", move |context| {
            if context["target"]["at"] == at_ {
                Verdict::escalate(Some(why.to_owned()), None)
            } else {
                Verdict::allow()
            }
        }))
    };
    let profile = Profile::FirstDeny { on_approval: OnApproval::Resume };
    let interceptors = Interceptors::new(profile)
        .add("one", asks("secret", "one"))
        .add("two", asks("the safe", "two"))
        .ask_people(AskPeople::new())
        .records(records.0.clone());
    let agent = looker(interceptors);
    agent.call("Go").await.unwrap();
    let edited = CallOptions::new().confirm_edited("1", json!({ "at": "the safe" }));
    let reply = agent.resume(edited).await.unwrap();
    assert_eq!(reply.pending()[0].askers[0].reason, "two");
    let edited = CallOptions::new().confirm_edited("1", json!({ "at": "the safe" }));
    let reply = agent.resume(edited).await.unwrap();
    assert!(reply.text().contains("the safe"), "{}", reply.text());
    assert_eq!(tool_points(&records), ["pre_tool_call", "post_tool_call"]);
}

#[tokio::test]
async fn a_question_that_is_given_up_is_recorded() {
    let (interceptors, records) =
        deciding(at("pre_tool_call", |_| Verdict::escalate(Some("sensitive".to_owned()), None)));
    let model = crate::support::looking(json!({}));
    let agent = ReActAgent::builder("looker").model(model).tool(crate::support::look());
    let agent = agent.recover_pending(true).hook(interceptors.ask_people(AskPeople::new()));
    let agent = agent.build().unwrap();
    agent.call("Go").await.unwrap();
    agent.call("Never mind").await.unwrap();
    let asked = tool_points(&records);
    assert_eq!(asked, ["pre_tool_call deny host_error:approval_unresolved"]);
}

#[tokio::test]
async fn another_point_cannot_wait_for_people_so_its_deny_stands() {
    let (interceptors, records) =
        deciding(at("input", |_| Verdict::escalate(Some("ask".to_owned()), None)));
    let agent = looker(interceptors.ask_people(AskPeople::new()));
    assert!(agent.call("Go").await.is_err());
    assert_eq!(records.denied(), ["host_error:approval_unresolved"]);
}

#[tokio::test]
async fn a_decision_is_for_the_context_that_was_shown() {
    // Another approval of the same tool call, for another hook, answers nothing.
    let (interceptors, records) =
        deciding(at("pre_tool_call", |_| Verdict::escalate(Some("sensitive".to_owned()), None)));
    let first = on(|event: &mut PreActing<'_>| event.ask("the house rules"));
    let model = crate::support::looking(json!({}));
    let agent = ReActAgent::builder("looker").model(model).tool(crate::support::look()).hook(first);
    let agent = agent.hook(interceptors.ask_people(AskPeople::new())).build().unwrap();
    let reply = agent.call("Go").await.unwrap();
    assert_eq!(reply.pending()[0].askers[0].reason, "the house rules");
    let reply = agent.resume(CallOptions::new().confirm("1")).await.unwrap();
    assert_eq!(
        reply.reason,
        Some(GenerateReason::PermissionAsking),
        "the interceptors ask for themselves"
    );
    assert_eq!(reply.pending()[0].askers[0].reason, "sensitive");
    let reply = agent.resume(CallOptions::new().confirm("1")).await.unwrap();
    assert_eq!(reply.text(), "I read: {}");
    assert_eq!(tool_points(&records), ["pre_tool_call", "post_tool_call"]);
}

#[tokio::test]
async fn an_approval_of_one_interceptor_lifts_no_deny_of_another() {
    let asks = |why: &'static str| {
        decides(at("pre_tool_call", move |_| Verdict::escalate(Some(why.to_owned()), None)))
    };
    let records = Records::default();
    let profile = Profile::FirstDeny { on_approval: OnApproval::Resume };
    let interceptors = Interceptors::new(profile)
        .add("money", asks("money"))
        .add("law", asks("law"))
        .ask_people(AskPeople::new())
        .records(records.0.clone());
    let agent = looker(interceptors);
    let asked = |reply: &Msg| reply.pending()[0].askers.last().unwrap().reason.clone();
    assert_eq!(asked(&agent.call("Go").await.unwrap()), "money");
    let reply = agent.resume(CallOptions::new().confirm("1")).await.unwrap();
    assert_eq!(
        reply.reason,
        Some(GenerateReason::PermissionAsking),
        "the second one asks for itself"
    );
    assert_eq!(tool_points(&records), [] as [String; 0]);
    let law = reply.pending()[0].askers.iter().any(|asker| asker.reason == "law");
    assert!(law, "{:?}", reply.pending());
    let reply = agent.resume(CallOptions::new().confirm("1")).await.unwrap();
    assert_eq!(reply.text(), r#"I read: {"at":"secret"}"#);
    assert_eq!(tool_points(&records), ["pre_tool_call", "post_tool_call"]);
}
