//! Questions to people, and what they decide.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use agent_hooks::{AgentContext, Interceptor, Verdict};
use hooks_agent_core::message::GenerateReason;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::Decision as People;
use hooks_agent_interceptors::{AskPeople, Interceptors, Profile, async_trait, intercept};
use serde_json::{Value, json};
use tokio::task::yield_now;

use crate::attacked::check;
use crate::support::{Records, at, decides, deciding, deny, look, looker, looking, with};

/// Edited arguments that no verdict covers.
#[tokio::test]
async fn edited_arguments_run_under_a_verdict_about_other_arguments() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let said = seen.clone();
    let asked = AtomicUsize::new(0);
    let (interceptors, records) = deciding(at("pre_tool_call", move |context| {
        said.lock().unwrap().push(context["target"].to_string());
        if context["target"]["at"] == "/etc/passwd" {
            return deny("never");
        }
        match asked.fetch_add(1, Ordering::Relaxed) {
            0 => Verdict::escalate(Some("sensitive".to_owned()), None),
            _ => Verdict::allow(),
        }
    }));
    let agent = looker(interceptors.ask_people(AskPeople::new()));
    agent.call("Go").await.unwrap();
    let options = CallOptions::new().confirm_edited("1", json!({ "at": "/etc/passwd" }));
    let reply = agent.resume(options).await.unwrap();
    let seen = seen.lock().unwrap().clone();
    println!("B {} {seen:?} {:?}", reply.text(), records.points());
    assert!(
        !reply.text().contains("Tool response:\n{\"at\":\"/etc/passwd\"}")
            || seen.iter().any(|it| it.contains("passwd")),
        "{} {seen:?} {:?}",
        reply.text(),
        records.points()
    );
}

fn tool_points(records: &Records) -> Vec<String> {
    let mut points = records.points();
    points.retain(|it| it.contains("tool_call"));
    points
}

fn asks_once() -> impl Interceptor {
    let asked = AtomicUsize::new(0);
    decides(at("pre_tool_call", move |_| match asked.fetch_add(1, Ordering::Relaxed) {
        0 => Verdict::escalate(Some("sensitive".to_owned()), None),
        _ => Verdict::allow(),
    }))
}

/// A rejected call has a permitted point without a pair.
#[tokio::test]
async fn a_rejected_call_is_not_recorded_as_permitted() {
    let (interceptors, records) = with(asks_once());
    let agent = looker(interceptors.ask_people(AskPeople::new()));
    agent.call("Go").await.unwrap();
    let options = CallOptions::new().decide("1", People::Reject("not today".to_owned()));
    agent.resume(options).await.unwrap();
    assert_ne!(tool_points(&records), ["pre_tool_call"]);
}

/// An answer of people in place of a tool.
#[tokio::test]
async fn what_people_answer_in_place_of_a_tool_is_asked_about_before_the_model_reads_it() {
    let (interceptors, _) = deciding(at("pre_model_call", |context| {
        if context["target"].to_string().contains("ANSWER-4711") {
            deny("secrets")
        } else {
            Verdict::allow()
        }
    }));
    let asks = on(|event: &mut PreActing<'_>| event.ask("the house rules"));
    let agent = ReActAgent::builder("looker").model(looking(json!({}))).tool(look());
    let agent = agent.hook(asks).hook(interceptors).build().unwrap();
    agent.call("Go").await.unwrap();
    let options = CallOptions::new().decide("1", People::Respond("ANSWER-4711".into()));
    assert!(agent.resume(options).await.is_err());
}

/// Only one of two questions is decided.
#[tokio::test]
async fn two_questions_of_which_one_is_decided() {
    for at_once in [false, true] {
        let (interceptors, records) = deciding(at("pre_tool_call", |_| {
            Verdict::escalate(Some("sensitive".to_owned()), None)
        }));
        let model = ScriptedModel::new("scripted", |request| -> ScriptedAnswer {
            match request.messages.last().unwrap().tool_results().next() {
                Some(_) => "Done.".into(),
                None => ["1", "2"]
                    .map(|id| ContentBlock::ToolUse(ToolUse::new(id, "look", json!({ "n": id }))))
                    .to_vec()
                    .into(),
            }
        });
        let agent = ReActAgent::builder("looker").model(model).tool(look());
        let agent = agent.parallel_tools(at_once).hook(interceptors.ask_people(AskPeople::new()));
        let agent = agent.build().unwrap();
        agent.call("Go").await.unwrap();
        let mut replies = Vec::new();
        for id in ["1", "1", "2", "2"] {
            let reply = agent.resume(CallOptions::new().confirm(id)).await;
            replies.push(match reply {
                Ok(reply) => format!("{:?} {:?}", reply.reason, reply.pending().len()),
                Err(error) => error.to_string(),
            });
        }
        println!("{at_once} {replies:?}");
        let all = records.all();
        for it in &all {
            println!(
                "{} {} {} {:?} {:?}",
                it.session_id,
                it.sequence,
                it.interception_point,
                it.verdict.reason,
                it.resolved_by
            );
        }
        let pre = all
            .iter()
            .filter(|it| it.interception_point.as_str() == "pre_tool_call" && it.proceeds())
            .count();
        let post =
            all.iter().filter(|it| it.interception_point.as_str() == "post_tool_call").count();
        assert_eq!(pre, post);
        let mut places: Vec<_> =
            all.iter().map(|it| (it.session_id.clone(), it.sequence)).collect();
        let count = places.len();
        places.dedup();
        assert_eq!(places.len(), count, "each place has one record");
    }
}

/// Labels of one thread in another one, of a call that runs meanwhile.
#[tokio::test]
async fn labels_of_a_call_that_asks_do_not_reach_another_thread() {
    let labels = decides(at("pre_tool_call", |context| {
        let is_ann = context["extensions"]["hooks"]["thread"] == "ann";
        let result_labels = if is_ann { vec!["of_ann".to_owned()] } else { vec![] };
        Verdict { result_labels, ..Verdict::allow() }
    }));
    let asks = decides(at("pre_tool_call", |context| {
        if context["tool_call"]["name"] == "look" {
            Verdict::escalate(Some("sensitive".to_owned()), None)
        } else {
            Verdict::allow()
        }
    }));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let said = seen.clone();
    let notes = intercept(move |context| {
        if context["extensions"]["hooks"]["thread"] == "bob" {
            said.lock().unwrap().push(format!(
                "{} {}",
                context.point(),
                context["extensions"]["labels"]
            ));
        }
        Verdict::allow()
    });
    let interceptors = Interceptors::new(Profile::default())
        .add("notes", notes)
        .add("labels", labels)
        .add("asks", asks)
        .ask_people(AskPeople::new());
    let model = ScriptedModel::new("scripted", |request| -> ScriptedAnswer {
        match &*request.last_text() {
            "two" => ["wait", "look"]
                .map(|name| ContentBlock::ToolUse(ToolUse::new(name, name, json!({}))))
                .to_vec()
                .into(),
            _ => "Done.".into(),
        }
    });
    let (started, is_started) = tokio::sync::oneshot::channel();
    let started = Mutex::new(Some(started));
    let go = Arc::new(tokio::sync::Semaphore::new(0));
    let gate = go.clone();
    let waits = FunctionTool::new("wait", "Waits.", move |_: Value| {
        let started = started.lock().unwrap().take();
        let gate = gate.clone();
        async move {
            for _ in 0..50 {
                yield_now().await;
            }
            started.unwrap().send(()).unwrap();
            drop(gate.acquire().await);
            "waited"
        }
    });
    let agent = ReActAgent::builder("bot").model(model).tool(look()).tool(waits);
    let agent = agent.parallel_tools(true).hook(interceptors).build().unwrap();
    let agent = Arc::new(agent);
    let ann = CallOptions::new().thread("ann");
    let ann = tokio::spawn(agent.clone().call_owned(ann, "two"));
    is_started.await.unwrap();
    agent.call_with(CallOptions::new().thread("bob"), "Hello").await.unwrap();
    go.add_permits(1);
    let reply = ann.await.unwrap().unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::PermissionAsking));
    let seen = seen.lock().unwrap();
    assert!(seen.iter().all(|it| it.ends_with(" null")), "{seen:?}");
}

/// Tools that ask for permission, and agents below that ask, have whole pairs.
#[tokio::test]
async fn questions_of_tools_and_of_sub_agents_have_whole_pairs() {
    for decision in
        [None, Some(People::Reject("no".to_owned())), Some(People::Respond("4711".into()))]
    {
        let (interceptors, records) = deciding(|_| Verdict::allow());
        let tool = look().permission(|_| Permission::Ask);
        let agent = ReActAgent::builder("bot").model(looking(json!({}))).tool(tool);
        let agent = agent.hook(interceptors).build().unwrap();
        agent.call("Go").await.unwrap();
        let options = match &decision {
            None => CallOptions::new().confirm("1"),
            Some(decision) => CallOptions::new().decide("1", decision.clone()),
        };
        agent.resume(options).await.unwrap();
        assert_eq!(check(&records), Ok(()), "{decision:?} {:?}", records.points());
    }
    for answer in ["confirm", "reject", "edit"] {
        let (interceptors, records) = deciding(at("pre_tool_call", |context| {
            if context["agent"]["name"] == "below" && context["target"]["at"] == "secret" {
                Verdict::escalate(Some("sensitive".to_owned()), None)
            } else {
                Verdict::allow()
            }
        }));
        let below =
            ReActAgent::builder("below").model(looking(json!({ "at": "secret" }))).tool(look());
        let below = below.build().unwrap();
        let model = ScriptedModel::new("scripted", |request| -> ScriptedAnswer {
            match request.messages.last().unwrap().tool_results().next() {
                None => ToolUse::new("b", "below", json!({ "task": "Go" })).into(),
                Some(result) => format!("Above: {}", result.output.as_str()).into(),
            }
        });
        let agent = ReActAgent::builder("above").model(model).tool(below.to_tool("Runs."));
        let agent = agent.recover_pending(true).hook(interceptors.ask_people(AskPeople::new()));
        let agent = agent.build().unwrap();
        let reply = agent.call("Go").await.unwrap();
        assert_eq!(reply.reason, Some(GenerateReason::PermissionAsking), "{reply:?}");
        let id = reply.pending()[0].id.clone();
        let options = match answer {
            "confirm" => CallOptions::new().confirm(&id),
            "edit" => CallOptions::new().confirm_edited(&id, json!({ "at": "sky" })),
            "reject" => CallOptions::new().decide(&*id, People::Reject("no".to_owned())),
            _ => CallOptions::new(),
        };
        let reply = match answer {
            "give up" => agent.call("Never mind").await,
            _ => agent.resume(options).await,
        };
        let all = records.all();
        let permitted = all
            .iter()
            .filter(|it| it.interception_point.as_str() == "pre_tool_call" && it.proceeds())
            .count();
        let post = all.iter().filter(|it| it.interception_point.as_str() == "post_tool_call");
        assert_eq!(permitted, post.count(), "{answer} {reply:?} {:?}", records.points());
        let mut sessions: BTreeMap<_, Vec<_>> = BTreeMap::default();
        for it in &all {
            sessions.entry(it.session_id.clone()).or_default().push(it.sequence);
        }
        for sequences in sessions.values() {
            let whole: Vec<_> = (0..).take(sequences.len()).collect();
            assert_eq!(*sequences, whole, "{answer} {reply:?} {:?}", records.points());
        }
    }
}

/// Two interceptors that ask in the same words.
#[tokio::test]
async fn an_approval_of_one_interceptor_lifts_no_deny_of_another_that_asks_the_same() {
    let asks =
        || decides(at("pre_tool_call", |_| Verdict::escalate(Some("sensitive".to_owned()), None)));
    let records = Records::default();
    let profile = Profile::FirstDeny { on_approval: agent_hooks::OnApproval::Resume };
    let interceptors = Interceptors::new(profile)
        .add("money", asks())
        .add("law", asks())
        .ask_people(AskPeople::new())
        .records(records.0.clone());
    let agent = looker(interceptors);
    let reply = agent.call("Go").await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::PermissionAsking));
    let reply = agent.resume(CallOptions::new().confirm("1")).await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::PermissionAsking), "{:?}", records.points());
}

/// Arguments that a hook changes between the question and the approval.
#[tokio::test]
async fn an_approval_is_not_for_arguments_that_a_hook_has_changed() {
    struct Counts(AtomicUsize);
    #[agent_hook(priority = -5)]
    impl Counts {
        async fn around_tool(
            &self,
            call: ToolCall<'_>,
            next: NextTool<'_>,
        ) -> Result<ToolResult, ToolError> {
            let mut call = call.into_tool_use();
            let number = self.0.fetch_add(1, Ordering::Relaxed);
            Arc::make_mut(&mut call).input = json!({ "at": format!("place {number}") });
            next.run(call).await
        }
    }
    let seen = Arc::new(Mutex::new(Vec::new()));
    let said = seen.clone();
    let (interceptors, records) = deciding(at("pre_tool_call", move |context| {
        said.lock().unwrap().push(context["target"].to_string());
        Verdict::escalate(Some("sensitive".to_owned()), None)
    }));
    let agent =
        ReActAgent::builder("looker").model(looking(json!({ "at": "secret" }))).tool(look());
    let agent = agent.hook(Counts(AtomicUsize::new(0)));
    let agent = agent.hook(interceptors.ask_people(AskPeople::new())).build().unwrap();
    let reply = agent.call("Go").await.unwrap();
    let shown = reply.pending()[0].call.input.to_string();
    let reply = agent.resume(CallOptions::new().confirm("1")).await.unwrap();
    assert!(
        !reply.text().contains("place 1"),
        "shown {shown}, {} {:?} {:?}",
        reply.text(),
        seen.lock().unwrap(),
        records.points()
    );
}

/// An approval that is decided twice at once.
#[tokio::test]
async fn a_decision_twice_at_once_runs_the_tool_once() {
    let runs = Arc::new(AtomicUsize::new(0));
    let count = runs.clone();
    let tool = FunctionTool::new("look", "Looks.", move |_: Value| {
        count.fetch_add(1, Ordering::Relaxed);
        async {
            yield_now().await;
            "seen"
        }
    });
    let (interceptors, records) =
        deciding(at("pre_tool_call", |_| Verdict::escalate(Some("sensitive".to_owned()), None)));
    let agent = ReActAgent::builder("looker").model(looking(json!({}))).tool(tool);
    let agent = Arc::new(agent.hook(interceptors.ask_people(AskPeople::new())).build().unwrap());
    agent.call("Go").await.unwrap();
    let resumes: Vec<_> = (0..4)
        .map(|_| {
            tokio::spawn(agent.clone().call_owned(CallOptions::new().confirm("1"), Messages::new()))
        })
        .collect();
    for resume in resumes {
        let _ = resume.await.unwrap();
    }
    assert_eq!(runs.load(Ordering::Relaxed), 1);
    assert_eq!(tool_points(&records).len(), 2, "{:?}", records.points());
}

/// A resumed call that is dropped at each poll.
#[tokio::test]
async fn a_resumed_call_that_is_dropped_leaves_no_permission() {
    struct Asks;
    #[async_trait]
    impl Interceptor for Asks {
        async fn intercept(&self, context: &AgentContext) -> Verdict {
            for _ in 0..3 {
                yield_now().await;
            }
            if context["interception_point"] == "pre_tool_call" {
                Verdict::escalate(Some("sensitive".to_owned()), None)
            } else {
                Verdict::allow()
            }
        }
    }
    for times in 0..80 {
        let (interceptors, records) = with(Asks);
        let agent = looker(interceptors.ask_people(AskPeople::new()));
        agent.call("Go").await.unwrap();
        {
            let mut call = Box::pin(agent.resume(CallOptions::new().confirm("1")));
            for _ in 0..times {
                let is_pending = std::future::poll_fn(|cx| {
                    std::task::Poll::Ready(
                        std::future::Future::poll(call.as_mut(), cx).is_pending(),
                    )
                });
                if !is_pending.await {
                    break;
                }
                yield_now().await;
            }
        }
        for _ in 0..30 {
            yield_now().await;
        }
        let _ = agent.resume(CallOptions::new().confirm("1")).await;
        let _ = agent.resume(CallOptions::new().confirm("1")).await;
        let all = records.all();
        let permitted = all
            .iter()
            .filter(|it| it.interception_point.as_str() == "pre_tool_call" && it.proceeds())
            .count();
        let post = all.iter().filter(|it| it.interception_point.as_str() == "post_tool_call");
        assert_eq!(permitted, post.count(), "{times} {:?}", records.points());
        let mut places: Vec<_> =
            all.iter().map(|it| (it.session_id.clone(), it.sequence)).collect();
        let count = places.len();
        places.dedup();
        assert_eq!(places.len(), count, "{times} each place has one record {all:#?}");
    }
}
