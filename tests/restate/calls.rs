//! Calls while nothing fails.

use serde_json::{Value, json};

use crate::agents::GO;
use crate::engine::{Engine, free_port};
use crate::stage::Stage;
use crate::worker::{World, start};

#[tokio::test]
async fn a_call_ends_with_its_reply_and_its_history_is_kept() {
    let Some(engine) = Engine::start().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let world = World(folder.path().into());
    let port = free_port();
    let _worker = start(port, folder.path()).await;
    engine.register(port).await;
    let (status, reply) = engine.call("steps/a", "call", &json!({ "text": "one" })).await;
    assert_eq!((status, &reply["content"][0]["text"]), (200, &json!("one is done.")), "{reply}");
    assert_eq!(world.lines("models"), ["one 0", "one 1", "one 2", "one 3"]);
    assert_eq!(world.lines("effects").len(), 6);
    let (status, reply) = engine.call("steps/a", "call", &json!({ "text": "two" })).await;
    assert_eq!((status, &reply["content"][0]["text"]), (200, &json!("two is done.")), "{reply}");
    let (_, history) = engine.call("steps/a", "history", &Value::Null).await;
    assert_eq!(history.as_array().unwrap().len(), 2 * (1 + 3 * 3 + 1), "{history}");
}

#[tokio::test]
async fn a_tool_that_works_for_longer_than_the_engine_waits_runs_once() {
    let Some(stage) = Stage::of_build("impatient").await else { return };
    let call = stage.engine.send("clerk/a", &json!({ "text": "slow" })).await;
    stage.world.until("tools", "slow slow 00").await;
    // Longer than both timeouts of the engine.
    tokio::time::sleep(std::time::Duration::from_millis(3_500)).await;
    std::fs::write(stage.world.0.join(GO), "").unwrap();
    let (status, reply) = stage.engine.attach(&call).await;
    assert_eq!((status, &reply["content"][0]["text"]), (200, &json!("said: slowly did slow 00")));
    assert_eq!(stage.world.log("tools"), ["slow slow 00"]);
    assert_eq!(stage.world.log("ends"), ["done slow 00"]);
}
