//! Calls while nothing fails.

use hooks_agent::prelude::*;
use hooks_restate::Worker;
use restate_sdk::prelude::*;
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

/// Two calls in one invocation.
struct Twice(ReActAgent);

#[restate_sdk::object(name = "Twice", client_visibility = "pub(crate)")]
impl Twice {
    #[handler]
    async fn go(&self, ctx: ObjectContext<'_>) -> Result<Vec<u8>, HandlerError> {
        let first = hooks_restate::run(&ctx, &self.0, "Pay").await?.text();
        let second = hooks_restate::run(&ctx, &self.0, "Pay").await?.text();
        Ok(format!("{first} {second}").into_bytes())
    }
}

#[tokio::test]
async fn two_calls_of_one_invocation_have_idempotency_keys_of_their_own() {
    let Some(engine) = Engine::start().await else { return };
    let model = ScriptedModel::new("pays", |request| -> ScriptedAnswer {
        match request.messages.last().and_then(|msg| msg.tool_results().next()) {
            Some(result) => result.output.as_str().into(),
            None => ToolUse::new("1", "pay", json!({})).into(),
        }
    });
    let pay = FunctionTool::with_context("pay", "Pays.", async |_: Value, cx: ToolContext| {
        cx.idempotency_key()
    });
    let agent = ReActAgent::builder("pays").model(model).tool(pay).build().unwrap();
    let port = free_port();
    let listener = Worker::listen_shared(([127, 0, 0, 1], port).into()).unwrap();
    let worker = Worker::empty().bind(Twice(agent));
    let serving = tokio::spawn(worker.serve(listener, std::future::pending()));
    engine.register(port).await;
    let answer = engine.http.post(format!("{}/Twice/a/go", engine.ingress())).send().await.unwrap();
    let text = answer.text().await.unwrap();
    let (first, second) = text.split_once(' ').unwrap_or_else(|| panic!("{text}"));
    assert!(!first.is_empty() && first != second, "{text}");
    serving.abort();
}
