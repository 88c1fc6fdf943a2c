//! The events of compressions.

use hooks_agent_core::message::Messages;
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::{CompressContext, ContextConfig};
use hooks_agent_core::testing::Script;
use hooks_agent_policy::command::CommandEntry;
use hooks_core::{BoxError, BoxFuture};
use serde_json::json;

use crate::agents::{hooks, says};
use crate::notes::{Notes, at};

/// A compressor that keeps the last message.
struct KeepLast;

impl CompressContext for KeepLast {
    fn compress<'a>(
        &'a self,
        messages: Messages,
        _: &'a ContextConfig,
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Messages, BoxError>> {
        let last = messages.iter().next_back().cloned().into_iter().collect::<Vec<_>>();
        Box::pin(async move { Ok(last.into()) })
    }
}

/// Returns how many messages the model got in the second call, with these hooks.
async fn compressed(entries: Vec<CommandEntry>) -> (usize, Msg) {
    let script = Script::new().says("one").says("two");
    let agent = ReActAgent::builder("assistant")
        .model(script.clone())
        .compressor(KeepLast, ContextConfig::new(10))
        .hook(hooks(entries))
        .build()
        .unwrap();
    agent.call("a long message that fills the window of the model").await.unwrap();
    let reply = agent.call("another long message that fills the window").await.unwrap();
    (script.requests().last().map_or(0, |request| request.messages.len()), reply)
}

#[tokio::test]
async fn a_compression_may_be_blocked() {
    let notes = Notes::new();
    let after = || at("PostCompact", &notes.append());
    assert_eq!(compressed(vec![after()]).await.0, 1);
    assert_eq!(notes.inputs()[0]["trigger"], "auto");
    let count = notes.inputs().len();
    let keep = at("PreCompact", "exit 2").matcher("auto");
    assert_eq!(compressed(vec![keep, after()]).await.0, 3);
    assert_eq!(notes.inputs().len(), count);
    assert_eq!(compressed(vec![at("PreCompact", "exit 2").matcher("manual")]).await.0, 1);
}

#[tokio::test]
async fn a_command_may_end_the_call_at_a_compression() {
    let line = says(&json!({ "continue": false, "stopReason": "too long" }));
    let (asked, reply) = compressed(vec![at("PreCompact", &line)]).await;
    assert_eq!(asked, 0);
    assert_eq!(reply.metadata["stop_reason"], "too long");
}
