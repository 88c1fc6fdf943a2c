//! Messages that fail, panic or end the process.

use serde_json::{Value, json};

use crate::agents::{LIMITS, WELL};
use crate::stage::Stage;

/// Checks that a call ends with this error, and that the next one on its thread works. Returns how many
/// messages the call left in the history.
async fn ends(stage: &Stage, key: &str, text: &str, reason: &str) -> usize {
    let before = history(stage, key).await;
    let (status, reply) = stage.engine.call(key, "call", &json!({ "text": text })).await;
    assert_eq!(status, 500, "{reply}");
    assert!(reply.to_string().contains(reason), "{reply}");
    let after = history(stage, key).await;
    assert_eq!(after[..before.len()], before);
    let (status, reply) = stage.engine.call(key, "call", &json!({ "text": "hello" })).await;
    assert_eq!((status, &reply["content"][0]["text"]), (200, &json!("said: ")), "{reply}");
    after.len() - before.len()
}

async fn history(stage: &Stage, key: &str) -> Vec<Value> {
    let (status, history) = stage.engine.call(key, "history", &Value::Null).await;
    assert_eq!(status, 200, "{history}");
    history.as_array().unwrap().clone()
}

#[tokio::test]
async fn an_error_of_the_model_ends_the_call_once() {
    let Some(stage) = Stage::new().await else { return };
    let reason = "model `broken` answered with status 400";
    // The message that had no answer.
    assert_eq!(ends(&stage, "broken/a", "fail", reason).await, 1);
    assert_eq!(stage.world.log("models"), ["broken fail 0", "broken hello 0"]);
}

#[tokio::test]
async fn a_panic_of_a_hook_ends_the_call_once_and_is_named() {
    let Some(stage) = Stage::new().await else { return };
    assert_eq!(ends(&stage, "panics/a", "panic", "the vase fell down").await, 0);
}

#[tokio::test]
async fn a_message_that_ends_the_process_is_given_up_after_a_number_of_runs() {
    let Some(mut stage) = Stage::of_build("small").await else { return };
    let call = stage.engine.send("clerk/a", &json!({ "text": "abort" })).await;
    // The first run completes a step, the answer of the model.
    let runs = LIMITS.runs_without_step + 1;
    for _ in 0..runs {
        stage.ended().await;
        stage.start("small").await;
    }
    let (status, reply) = stage.engine.attach(&call).await;
    assert_eq!(status, 500, "{reply}");
    assert!(reply.to_string().contains("completed no step in 5 runs"), "{reply}");
    assert_eq!(stage.world.log("tools").iter().filter(|it| **it == "abort abort 00").count(), runs);
    let (status, reply) = stage.engine.call("clerk/a", "call", &json!({ "text": "look" })).await;
    assert_eq!((status, &reply["content"][0]["text"]), (200, &json!("said: looked at look 00")));
}

#[tokio::test]
async fn an_error_that_passes_is_tried_again_without_the_steps_that_are_recorded() {
    let Some(stage) = Stage::new().await else { return };
    let call = stage.engine.send("down/a", &json!({ "text": "look" })).await;
    // A try that was logged by its model may still end well once the file is there.
    for _ in 0..1_000 {
        if stage.world.log("failures").len() >= 4 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    std::fs::write(stage.world.0.join(WELL), "").unwrap();
    let (status, reply) = stage.engine.attach(&call).await;
    assert_eq!((status, &reply["content"][0]["text"]), (200, &json!("said: looked at look 00")));
    assert_eq!(stage.world.log("tools"), ["look look 00"]);
    let models = stage.world.log("models");
    assert_eq!(models.iter().filter(|line| *line == "down look 0").count(), 1);
    // The engine waits longer and longer.
    let times: Vec<u128> =
        stage.world.log("failures").iter().map(|time| time.parse().unwrap()).collect();
    let waits: Vec<_> = times.windows(2).map(|times| times[1] - times[0]).collect();
    assert!(waits.len() >= 3 && waits.last() > waits.first(), "{waits:?}");
}

#[tokio::test]
async fn a_call_that_outgrows_a_limit_ends_with_its_name_and_leaves_the_history() {
    let Some(stage) = Stage::of_build("small").await else { return };
    // What a tool has done stays, its result is said to be unknown.
    assert_eq!(ends(&stage, "clerk/step", "big", "`step_bytes` allows 20000").await, 3);
    let results = stage.engine.results("clerk/step").await;
    assert!(results[0].contains("its outcome is unknown"), "{results:?}");
    let much = ["some"; 20].join(" ");
    let kept = ends(&stage, "clerk/journal", &much, "see `journal_bytes`").await;
    assert_eq!(kept, 2 + 20);
    let long = ["look"; 20].join(" then ");
    let kept = ends(&stage, "clerk/entries", &long, "see `journal_entries`").await;
    assert!(kept > 20, "{kept}");
    let reason = "`history_bytes` allows 4000";
    assert_eq!(ends(&stage, "clerk/history", "some", reason).await, 0);
    // The history is kept compressed, the end is not.
    let large = "x".repeat(70_000);
    let reason = "its end has";
    assert_eq!(ends(&stage, "clerk/end", &large, reason).await, 0);
}
