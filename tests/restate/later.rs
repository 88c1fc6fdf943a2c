//! What a later version of `hooks-restate` may be: it writes a log of version 2.

use hooks_restate::{CallRequest, Worker};
use restate_sdk::prelude::*;
use serde_json::{Value, json};

use crate::agents::GO;
use crate::worker::World;

struct Later(World);

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
        let begin = json!({ "begin": { "v": 2, "agent": "clerk" } });
        let log = ctx.run(async || Ok(begin.to_string())).name("log").await?;
        self.0.note("later", &log);
        while !self.0.0.join(GO).exists() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        Ok(Json(json!("ended by the later version")))
    }
}

/// Returns a worker of the later version.
pub(crate) fn worker(world: &World) -> Worker {
    Worker::empty().bind(Later(world.clone()))
}
