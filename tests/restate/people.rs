//! Questions to people, also over restarts of the worker and of the server.

use serde_json::{Value, json};

use crate::agents::GO;
use crate::stage::Stage;

/// Returns the text of a reply.
fn text(reply: &Value) -> &str {
    reply["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {reply}"))
}

#[tokio::test]
async fn a_question_waits_is_listed_and_blocks_no_reader_until_it_is_decided() {
    let Some(Stage { engine, world, .. }) = &Stage::new().await else { return };
    let decisions = [
        (json!("approve"), "said: paid pay 00", vec!["pay pay 00"]),
        (json!({ "edit": { "of": "less" } }), "paid less", vec!["pay less"]),
        (json!({ "reject": "too dear" }), "too dear", vec![]),
        (json!({ "respond": "it is paid" }), "it is paid", vec![]),
    ];
    let mut ran = Vec::new();
    for (number, (decision, said, tools)) in decisions.into_iter().enumerate() {
        let key = format!("asks/{number}");
        let call = engine.send(&key, &json!({ "text": "pay" })).await;
        let questions = engine.questions(&key, 1).await;
        assert_eq!(questions[0]["tool"], "pay");
        assert_eq!(questions[0]["arguments"], json!({ "of": "pay 00", "task": "" }));
        assert_eq!(engine.call(&key, "history", &Value::Null).await, (200, json!([])));
        let (status, answer) = engine.decide(&key, &questions[0], decision).await;
        assert_eq!(status, 200, "{answer}");
        let (status, reply) = engine.attach(&call).await;
        assert_eq!(status, 200, "{reply}");
        assert!(text(&reply).contains(said), "{reply}");
        ran.extend(tools.into_iter().map(str::to_owned));
        assert_eq!(world.log("tools"), ran);
        engine.questions(&key, 0).await;
    }
}

#[tokio::test]
async fn a_question_survives_kills_of_the_worker_and_of_the_server() {
    let Some(mut stage) = Stage::new().await else { return };
    let call = stage.engine.send("asks/a", &json!({ "text": "pay" })).await;
    let before = stage.engine.questions("asks/a", 1).await;
    stage.restart().await;
    let after = stage.engine.questions("asks/a", 1).await;
    assert_eq!(before, after);
    assert_eq!(stage.engine.decide("asks/a", &after[0], json!("approve")).await.0, 200);
    let (status, reply) = stage.engine.attach(&call).await;
    assert_eq!((status, text(&reply)), (200, "said: paid pay 00"));
    assert_eq!(stage.world.log("tools"), ["pay pay 00"]);
    assert_eq!(stage.world.log("models"), ["asks pay 0", "asks pay 1"]);
}

#[tokio::test]
async fn a_decision_that_is_given_while_no_worker_runs_is_carried_out_by_the_next() {
    let Some(mut stage) = Stage::new().await else { return };
    let call = stage.engine.send("asks/a", &json!({ "text": "pay" })).await;
    let questions = stage.engine.questions("asks/a", 1).await;
    stage.kill().await;
    let decided = async { stage.engine.decide("asks/a", &questions[0], json!("approve")).await };
    let later = async {
        let worker = crate::worker::start(stage.port(), &stage.world.0).await;
        (worker, stage.engine.attach(&call).await)
    };
    let (decided, (_worker, (status, reply))) = tokio::join!(decided, later);
    assert_eq!(decided.0, 200, "{}", decided.1);
    assert_eq!((status, text(&reply)), (200, "said: paid pay 00"));
    assert_eq!(stage.world.log("tools"), ["pay pay 00"]);
}

#[tokio::test]
async fn of_two_people_who_decide_at_once_exactly_one_wins() {
    let Some(Stage { engine, world, .. }) = &Stage::new().await else { return };
    for number in 0..5 {
        let key = format!("asks/{number}");
        let call = engine.send(&key, &json!({ "text": "pay" })).await;
        let questions = engine.questions(&key, 1).await;
        let (yes, no) = tokio::join!(
            engine.decide(&key, &questions[0], json!("approve")),
            engine.decide(&key, &questions[0], json!({ "reject": "no" })),
        );
        let mut statuses = [yes.0, no.0];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409], "{yes:?} {no:?}");
        let (wins, loser) = if yes.0 == 200 { ("approve", no.1) } else { ("reject", yes.1) };
        assert!(loser.to_string().contains("was decided by ann"), "{loser}");
        let (status, reply) = engine.attach(&call).await;
        assert_eq!(status, 200, "{reply}");
        let has_paid = text(&reply).contains("paid");
        assert_eq!(has_paid, wins == "approve", "{reply}");
        // After the end of the call too.
        let (status, late) = engine.decide(&key, &questions[0], json!("approve")).await;
        assert_eq!(status, 409, "{late}");
        assert!(late.to_string().contains("was decided by ann"), "{late}");
    }
    assert!(world.log("tools").len() <= 5);
}

#[tokio::test]
async fn a_decision_that_is_refused_changes_nothing() {
    let Some(Stage { engine, world, .. }) = &Stage::new().await else { return };
    let call = engine.send("strict/a", &json!({ "text": "pay pay" })).await;
    let questions = engine.questions("strict/a", 2).await;
    let verdict = |of: &Value, decision: Value| json!({ "id": of["id"], "decision": decision });
    let (first, second) = (&questions[0], &questions[1]);
    let unknown = json!({ "id": "nobody" });
    let refused = [
        (409, json!([verdict(first, json!({ "reject": "no" }))]), "cannot be decided by `reject`"),
        (409, json!([verdict(&unknown, json!("approve"))]), "no question has the id `nobody`"),
        (
            409,
            json!([verdict(first, json!("approve")), verdict(first, json!("approve"))]),
            "two decisions about",
        ),
        (
            409,
            json!([verdict(first, json!("approve")), verdict(&unknown, json!("approve"))]),
            "no question has the id",
        ),
        (400, json!([verdict(first, json!("perhaps"))]), "perhaps"),
        (400, json!({ "id": first["id"] }), ""),
    ];
    for (expected, verdicts, reason) in refused {
        let (status, answer) = engine.call("strict/a", "decide", &verdicts).await;
        assert_eq!(status, expected, "{answer}");
        assert!(answer.to_string().contains(reason), "{answer}");
        assert_eq!(engine.questions("strict/a", 2).await, questions);
    }
    let verdicts = json!([verdict(first, json!("approve")), verdict(second, json!("approve"))]);
    assert_eq!(engine.call("strict/a", "decide", &verdicts).await.0, 200);
    let (status, reply) = engine.attach(&call).await;
    assert_eq!((status, text(&reply)), (200, "said: paid pay pay 00; paid pay pay 01"));
    assert_eq!(world.lines("tools"), ["pay pay pay 00", "pay pay pay 01"]);

    let call = engine.send("asks/a", &json!({ "text": "pay" })).await;
    let questions = engine.questions("asks/a", 1).await;
    let edit = json!({ "edit": { "of": 7 } });
    let (status, answer) = engine.decide("asks/a", &questions[0], edit).await;
    assert_eq!(status, 409, "{answer}");
    assert!(answer.to_string().contains("do not fit its schema"), "{answer}");
    assert_eq!(engine.questions("asks/a", 1).await, questions);
    assert_eq!(engine.decide("asks/a", &questions[0], json!("approve")).await.0, 200);
    assert_eq!(engine.attach(&call).await.0, 200);
}

#[tokio::test]
async fn of_several_questions_some_are_decided_before_a_restart_and_some_after() {
    let Some(mut stage) = Stage::new().await else { return };
    let call = stage.engine.send("asks/a", &json!({ "text": "pay pay pay" })).await;
    let questions = stage.engine.questions("asks/a", 3).await;
    assert_eq!(stage.engine.decide("asks/a", &questions[2], json!("approve")).await.0, 200);
    assert_eq!(stage.engine.questions("asks/a", 2).await, questions[..2]);
    stage.restart().await;
    assert_eq!(stage.engine.questions("asks/a", 2).await, questions[..2]);
    assert_eq!(stage.engine.decide("asks/a", &questions[0], json!("approve")).await.0, 200);
    stage.restart().await;
    assert_eq!(stage.engine.questions("asks/a", 1).await, questions[1..2]);
    assert!(stage.world.log("tools").is_empty());
    let reject = json!({ "reject": "once too often" });
    assert_eq!(stage.engine.decide("asks/a", &questions[1], reject).await.0, 200);
    let (status, reply) = stage.engine.attach(&call).await;
    assert_eq!(status, 200, "{reply}");
    assert!(text(&reply).contains("once too often"), "{reply}");
    assert_eq!(stage.world.lines("tools"), ["pay pay pay pay 00", "pay pay pay pay 02"]);
}

#[tokio::test]
async fn a_question_that_nobody_decides_in_time_is_refused_for_the_model() {
    let Some(mut stage) = Stage::new().await else { return };
    let (status, reply) = stage.engine.call("hasty/alive", "call", &json!({ "text": "pay" })).await;
    assert_eq!(status, 200, "{reply}");
    assert!(text(&reply).contains("no decision in time"), "{reply}");
    let call = stage.engine.send("hasty/dead", &json!({ "text": "pay" })).await;
    let questions = stage.engine.questions("hasty/dead", 1).await;
    stage.kill().await;
    let expires = questions[0]["expires"].as_u64().unwrap();
    let since = questions[0]["since"].as_u64().unwrap();
    assert_eq!(expires - since, 1000);
    tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
    stage.start("new").await;
    let (status, reply) = stage.engine.attach(&call).await;
    assert_eq!(status, 200, "{reply}");
    assert!(text(&reply).contains("no decision in time"), "{reply}");
    assert!(stage.world.log("tools").is_empty());
    let (status, late) = stage.engine.decide("hasty/dead", &questions[0], json!("approve")).await;
    assert_eq!(status, 409, "{late}");
    assert!(late.to_string().contains("has expired"), "{late}");
}

#[tokio::test]
async fn a_question_of_a_sub_agent_reaches_the_caller() {
    let Some(mut stage) = Stage::new().await else { return };
    let call = stage.engine.send("boss/a", &json!({ "text": "asks pay" })).await;
    let questions = stage.engine.questions("boss/a", 1).await;
    assert_eq!((&questions[0]["tool"], &questions[0]["agents"]), (&json!("pay"), &json!(["asks"])));
    stage.restart().await;
    assert_eq!(stage.engine.questions("boss/a", 1).await, questions);
    let edit = json!({ "edit": { "of": 7 } });
    assert_eq!(stage.engine.decide("boss/a", &questions[0], edit).await.0, 409);
    assert_eq!(stage.engine.decide("boss/a", &questions[0], json!("approve")).await.0, 200);
    let (status, reply) = stage.engine.attach(&call).await;
    assert_eq!((status, text(&reply)), (200, "said: said: paid pay 00"), "{reply}");
    assert_eq!(stage.world.log("tools"), ["pay pay 00"]);
}

#[tokio::test]
async fn a_tool_that_needs_no_decision_runs_once_beside_one_that_does() {
    let Some(mut stage) = Stage::new().await else { return };
    std::fs::write(stage.world.0.join(GO), "").unwrap();
    let call = stage.engine.send("asks/a", &json!({ "text": "look pay slow" })).await;
    let questions = stage.engine.questions("asks/a", 1).await;
    stage.restart().await;
    assert_eq!(stage.engine.decide("asks/a", &questions[0], json!("approve")).await.0, 200);
    let (status, reply) = stage.engine.attach(&call).await;
    let of = "look pay slow";
    let said = format!("said: looked at {of} 00; paid {of} 01; slowly did {of} 02");
    assert_eq!((status, text(&reply)), (200, &*said));
    let ran = stage.world.lines("tools");
    assert_eq!(ran, [format!("look {of} 00"), format!("pay {of} 01"), format!("slow {of} 02")]);
}

#[tokio::test]
async fn a_call_that_waits_for_people_is_suspended_and_goes_on_with_their_decision() {
    let Some(stage) = Stage::of_build("impatient").await else { return };
    for (key, signal) in [("asks/a", "decide"), ("asks/b", "interrupt")] {
        let call = stage.engine.send(key, &json!({ "text": "look then pay" })).await;
        let questions = stage.engine.questions(key, 1).await;
        stage.engine.until_column(&call, "status", "suspended").await;
        let expected = if signal == "decide" {
            assert_eq!(stage.engine.decide(key, &questions[0], json!("approve")).await.0, 200);
            "model_stop"
        } else {
            stage.engine.call(key, "interrupt", &Value::Null).await;
            "interrupted"
        };
        let (status, reply) = stage.engine.attach(&call).await;
        assert_eq!((status, &reply["reason"]), (200, &json!(expected)), "{reply}");
        let results = stage.engine.results(key).await;
        assert!(results[0].contains("looked at"), "{results:?}");
    }
    let ran = stage.world.log("tools");
    let of = "look then pay";
    assert_eq!(ran, [format!("look {of} 00"), format!("pay {of} 10"), format!("look {of} 00")]);
}

#[tokio::test]
async fn callers_reach_questions_through_their_agent_alone() {
    let Some(Stage { engine, .. }) = &Stage::new().await else { return };
    let call = engine.send("asks/a", &json!({ "text": "pay" })).await;
    let questions = engine.questions("asks/a", 1).await;
    let url = engine.url("asks/a", "expire").replace("/Agents/", "/AgentDesk/");
    let answer = engine.http.post(url).json(&questions[0]["id"]).send().await.unwrap();
    assert!(answer.status().is_client_error(), "{}", answer.status());
    assert_eq!(engine.questions("asks/a", 1).await, questions);
    assert_eq!(engine.decide("asks/a", &questions[0], json!("approve")).await.0, 200);
    assert_eq!(engine.attach(&call).await.0, 200);
}
