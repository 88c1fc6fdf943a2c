//! Calls that are cancelled or interrupted.

use serde_json::{Value, json};

use crate::agents::GO;
use crate::stage::Stage;

/// Checks that the next call of a thread works, and lets slow tools end.
async fn works_again(stage: &Stage, key: &str) {
    std::fs::write(stage.world.0.join(GO), "").unwrap();
    let (status, reply) = stage.engine.call(key, "call", &json!({ "text": "slow" })).await;
    assert_eq!((status, &reply["content"][0]["text"]), (200, &json!("said: slowly did slow 00")));
}

#[tokio::test]
async fn an_interrupt_reaches_a_running_tool_and_is_recorded_truthfully() {
    let Some(stage) = Stage::new().await else { return };
    let call = stage.engine.send("clerk/a", &json!({ "text": "look then slow" })).await;
    stage.world.until("tools", "slow look then slow 10").await;
    let interrupted = stage.engine.call("clerk/a", "interrupt", &Value::Null).await;
    assert_eq!(interrupted, (200, json!(true)));
    stage.world.until("ends", "dropped look then slow 10").await;
    let (status, reply) = stage.engine.attach(&call).await;
    assert_eq!((status, &reply["reason"]), (200, &json!("interrupted")), "{reply}");
    let results = stage.engine.results("clerk/a").await;
    assert_eq!(results.len(), 2);
    assert!(results[0].contains("looked at look then slow 00"), "{results:?}");
    assert!(results[1].contains("its outcome is unknown"), "{results:?}");
    let idle = stage.engine.call("clerk/a", "interrupt", &Value::Null).await;
    assert_eq!(idle, (200, json!(false)));
    works_again(&stage, "clerk/a").await;
}

#[tokio::test]
async fn a_cancelled_invocation_ends_with_409_and_its_history_is_kept() {
    let Some(stage) = Stage::new().await else { return };
    let call = stage.engine.send("clerk/a", &json!({ "text": "look then slow" })).await;
    stage.world.until("tools", "slow look then slow 10").await;
    stage.engine.cancel(&call).await;
    stage.world.until("ends", "dropped look then slow 10").await;
    let (status, reply) = stage.engine.attach(&call).await;
    assert_eq!(status, 409, "{reply}");
    assert!(reply.to_string().contains("cancelled"), "{reply}");
    let results = stage.engine.results("clerk/a").await;
    assert_eq!(results.len(), 2);
    assert!(results[0].contains("looked at look then slow 00"), "{results:?}");
    assert!(results[1].contains("its outcome is unknown"), "{results:?}");
    works_again(&stage, "clerk/a").await;
}

#[tokio::test]
async fn an_interrupt_or_a_cancellation_ends_a_question() {
    let Some(stage) = Stage::new().await else { return };
    for key in ["asks/interrupted", "asks/cancelled"] {
        let call = stage.engine.send(key, &json!({ "text": "pay" })).await;
        let questions = stage.engine.questions(key, 1).await;
        let expected = if key == "asks/cancelled" {
            stage.engine.cancel(&call).await;
            409
        } else {
            stage.engine.call(key, "interrupt", &Value::Null).await;
            200
        };
        let (status, reply) = stage.engine.attach(&call).await;
        assert_eq!(status, expected, "{reply}");
        if expected == 200 {
            assert_eq!(reply["reason"], "interrupted");
        }
        stage.engine.questions(key, 0).await;
        let (status, late) = stage.engine.decide(key, &questions[0], json!("approve")).await;
        assert_eq!(status, 409, "{late}");
        let results = stage.engine.results(key).await;
        assert_eq!(results.len(), 1);
        assert!(results[0].contains("interrupted before this call was answered"), "{results:?}");
        works_again(&stage, key).await;
    }
    assert_eq!(stage.world.log("tools").len(), 2, "{:?}", stage.world.log("tools"));
}

#[tokio::test]
async fn an_interrupt_survives_the_kill_of_the_worker() {
    let Some(mut stage) = Stage::new().await else { return };
    for key in ["clerk/interrupted", "clerk/cancelled"] {
        let call = stage.engine.send(key, &json!({ "text": "look then slow" })).await;
        stage.world.until("tools", "slow look then slow 10").await;
        stage.kill().await;
        // The worker does not know of it.
        let expected = if key == "clerk/cancelled" {
            stage.engine.cancel(&call).await;
            stage.start("new").await;
            409
        } else {
            let interrupt = stage.engine.call(key, "interrupt", &Value::Null);
            let (answer, worker) =
                tokio::join!(interrupt, crate::worker::start(stage.port(), &stage.world.0));
            assert_eq!(answer, (200, json!(true)));
            stage.adopt(worker);
            200
        };
        let (status, reply) = stage.engine.attach(&call).await;
        assert_eq!(status, expected, "{reply}");
        let results = stage.engine.results(key).await;
        assert_eq!(results.len(), 2);
        assert!(results[0].contains("looked at look then slow 00"), "{results:?}");
        assert!(results[1].contains("its outcome is unknown"), "{results:?}");
        std::fs::remove_file(stage.world.0.join("tools")).unwrap();
    }
    works_again(&stage, "clerk/interrupted").await;
    works_again(&stage, "clerk/cancelled").await;
}

#[tokio::test]
async fn calls_that_are_stopped_end_although_the_worker_is_killed_at_any_moment_after_it() {
    let Some(mut stage) = Stage::new().await else { return };
    for number in 0..16_u64 {
        let key = format!("clerk/{number}");
        let call = stage.engine.send(&key, &json!({ "text": "look then slow" })).await;
        stage.world.until("tools", "slow look then slow 10").await;
        let expected = match number % 2 {
            0 => {
                stage.engine.cancel(&call).await;
                409
            }
            _ => {
                stage.engine.call(&key, "interrupt", &Value::Null).await;
                200
            }
        };
        // The moments are spread over what the end of a call takes.
        tokio::time::sleep(std::time::Duration::from_micros(500 * number)).await;
        stage.kill().await;
        stage.start("new").await;
        let (status, reply) = stage.engine.attach(&call).await;
        assert_eq!(status, expected, "{number}: {reply}");
        let results = stage.engine.results(&key).await;
        assert!(results[0].contains("looked at look then slow 00"), "{number}: {results:?}");
        assert!(results[1].contains("its outcome is unknown"), "{number}: {results:?}");
        assert_eq!(stage.world.log("tools").len(), 2, "{number}: {:?}", stage.world.log("tools"));
        std::fs::remove_file(stage.world.0.join("tools")).unwrap();
    }
}
