//! A program that is replaced while a call runs.

use hooks_restate::{CallRequest, Worker};
use restate_sdk::prelude::*;
use serde_json::{Value, json};

use crate::agents::GO;
use crate::stage::Stage;
use crate::worker::World;

#[tokio::test]
async fn a_call_that_an_older_build_began_ends_on_a_newer_one_with_a_step_more() {
    let Some(mut stage) = Stage::of_build("old").await else { return };
    let call = stage.engine.send("deployed/a", &json!({ "text": "legacy look then slow" })).await;
    for line in ["slow legacy look then slow 10"] {
        stage.world.until("tools", line).await;
    }
    stage.kill().await;
    std::fs::write(stage.world.0.join(GO), "").unwrap();
    stage.start("new").await;
    let (status, reply) = stage.engine.attach(&call).await;
    let of = "legacy look then slow";
    let said = format!("said: old was here; looked at {of} 01; slowly did {of} 10; new was here");
    assert_eq!((status, reply["content"][0]["text"].as_str()), (200, Some(&*said)), "{reply}");
    // The tool that was at work when the process ended alone runs again.
    let mut ran = stage.world.lines("tools");
    ran.dedup();
    assert_eq!(ran.len(), 4);
    assert_eq!(stage.world.log("tools").len(), 5, "{:?}", stage.world.log("tools"));
    let models = stage.world.log("models");
    assert_eq!(models, [0, 1, 2, 3].map(|round| format!("deployed {of} {round}")));
}

#[tokio::test]
async fn a_call_of_an_agent_that_is_gone_ends_with_an_error_and_frees_the_thread() {
    let Some(mut stage) = Stage::of_build("old").await else { return };
    let call = stage.engine.send("gone/a", &json!({ "text": "slow" })).await;
    stage.world.until("tools", "slow slow 00").await;
    stage.kill().await;
    std::fs::write(stage.world.0.join(GO), "").unwrap();
    stage.start("new").await;
    let (status, reply) = stage.engine.attach(&call).await;
    assert_eq!(status, 404, "{reply}");
    assert!(reply.to_string().contains("no agent named `gone`"), "{reply}");
    stage.kill().await;
    stage.start("old").await;
    let (status, reply) = stage.engine.call("gone/a", "call", &json!({ "text": "look" })).await;
    assert_eq!((status, &reply["content"][0]["text"]), (200, &json!("said: looked at look 00")));
}

#[tokio::test]
async fn a_log_of_a_later_version_is_refused_until_a_program_of_that_version_is_there() {
    let Some(mut stage) = Stage::of_build("later").await else { return };
    let call = stage.engine.send("clerk/a", &json!({ "text": "look" })).await;
    let begin = json!({ "begin": { "v": 2, "agent": "clerk" } }).to_string();
    stage.world.until("later", &begin).await;
    stage.kill().await;
    stage.start("new").await;
    let reason = "of version 2, this program reads versions up to 1";
    stage.engine.until_column(&call, "last_failure", reason).await;
    assert!(stage.world.log("models").is_empty());
    stage.kill().await;
    std::fs::write(stage.world.0.join(GO), "").unwrap();
    stage.start("later").await;
    assert_eq!(stage.engine.attach(&call).await, (200, json!("ended by the later version")));
}

#[tokio::test]
async fn a_call_that_another_agent_began_is_refused() {
    let Some(mut stage) = Stage::of_build("other").await else { return };
    let call = stage.engine.send("clerk/a", &json!({ "text": "look" })).await;
    let begin = json!({ "begin": { "v": 1, "agent": "robber" } }).to_string();
    stage.world.until("later", &begin).await;
    stage.kill().await;
    stage.start("new").await;
    let (status, reply) = stage.engine.attach(&call).await;
    let reason = "it is a call of agent `robber`, this program runs `clerk`";
    assert!(status == 409 && reply.to_string().contains(reason), "{status} {reply}");
    assert!(stage.world.log("models").is_empty());
}

/// What another version of `hooks-restate` may be: how it begins a log, and the world.
struct Later(Value, World);

#[restate_sdk::object(name = "Agents", client_visibility = "pub(crate)")]
impl Later {
    #[handler]
    async fn call(
        &self,
        ctx: ObjectContext<'_>,
        _: Json<CallRequest>,
    ) -> Result<Json<Value>, HandlerError> {
        let _ = ctx.get::<Vec<u8>>("history").await?;
        ctx.set("running", ctx.invocation_id().to_owned());
        let Self(begin, world) = self;
        let log = ctx.run(async || Ok(begin.to_string())).name("log").await?;
        world.note("later", &log);
        while !world.0.join(GO).exists() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        Ok(Json(json!("ended by the later version")))
    }
}

/// Returns a worker of a later version.
pub(crate) fn later(world: &World) -> Worker {
    let begin = json!({ "begin": { "v": 2, "agent": "clerk" } });
    Worker::empty().bind(Later(begin, world.clone()))
}

/// Returns a worker that begins the calls of another agent.
pub(crate) fn other(world: &World) -> Worker {
    let begin = json!({ "begin": { "v": 1, "agent": "robber" } });
    Worker::empty().bind(Later(begin, world.clone()))
}
