//! Calls on one thread and on many.

use serde_json::json;

use crate::stage::Stage;

/// Returns how many tools ran at once at most.
fn most_at_once(log: &[String]) -> usize {
    let (mut inside, mut most) = (0_usize, 0);
    for line in log {
        if line.starts_with("enter") {
            inside += 1;
        } else {
            inside -= 1;
        }
        most = most.max(inside);
    }
    assert_eq!(inside, 0);
    most
}

#[tokio::test]
async fn twenty_calls_on_one_thread_run_one_after_the_other_in_their_order() {
    let Some(Stage { engine, world, .. }) = &Stage::new().await else { return };
    let mut calls = Vec::new();
    for number in 0..20 {
        let text = format!("alone {number:02}");
        calls.push(engine.send("clerk/a", &json!({ "text": text })).await);
    }
    for call in &calls {
        let (status, reply) = engine.attach(call).await;
        assert_eq!((status, &reply["content"][0]["text"]), (200, &json!("said: was alone")));
    }
    let log = world.log("alone");
    assert_eq!(most_at_once(&log), 1);
    let entered: Vec<_> = log.iter().filter(|line| line.starts_with("enter")).cloned().collect();
    let expected: Vec<_> = (0..20).map(|number| format!("enter alone {number:02} 00")).collect();
    assert_eq!(entered, expected);
    let (_, history) = engine.call("clerk/a", "history", &serde_json::Value::Null).await;
    assert_eq!(history.as_array().unwrap().len(), 20 * 4);
}

#[tokio::test]
async fn calls_on_twenty_threads_run_at_once() {
    let Some(Stage { engine, world, .. }) = &Stage::new().await else { return };
    let mut calls = Vec::new();
    for number in 0..20 {
        // All wait for each other.
        calls.push(engine.send(&format!("clerk/{number}"), &json!({ "text": "slow" })).await);
    }
    for _ in 0..1_000 {
        if world.log("tools").len() == 20 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    assert_eq!(world.log("tools").len(), 20, "not all run at once");
    std::fs::write(world.0.join(crate::agents::GO), "").unwrap();
    for call in &calls {
        let (status, reply) = engine.attach(call).await;
        assert_eq!(
            (status, &reply["content"][0]["text"]),
            (200, &json!("said: slowly did slow 00"))
        );
    }
}
