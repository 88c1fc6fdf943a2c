//! A call whose process ends, in a thread of this process.

use std::pin::pin;
use std::sync::Arc;

use futures::future::{Either, select};
use hooks_agent_core::prelude::*;

use crate::agents::gate::Gate;

/// Runs a call of an agent until a tool of the gate has started, and never again: as in a process that
/// ends there, nothing is dropped, and its lease is not renewed.
pub(crate) async fn crash(
    build: impl AsyncFnOnce(&Gate) -> ReActAgent + Send + 'static,
    messages: impl Into<Messages> + Send + 'static,
) {
    tokio::task::spawn_blocking(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let gate = Gate::new();
            let agent = Arc::new(build(&gate).await);
            let mut call = Box::pin(agent.call_owned(CallOptions::new(), messages));
            match select(call.as_mut(), pin!(gate.entered())).await {
                Either::Left((ended, _)) => panic!("the call ended: {ended:?}"),
                Either::Right(_) => std::mem::forget(call),
            }
        });
    })
    .await
    .unwrap();
}
