//! Tool calls and answers that hooks and models leave without content of a tool.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hooks_agent_core::call::RunId;
use hooks_agent_core::journal::MemoryJournal;
use hooks_agent_core::message::Usage;
use hooks_agent_core::model::{ChatChunk, ChatModel, ChatRequest, ChatStream};
use hooks_agent_core::prelude::*;

use hooks_fixtures::journaled::World;

/// Answers in place of a tool while the switch is on.
struct Closed(Arc<AtomicBool>);

#[agent_hook]
impl Closed {
    async fn answer(
        &self,
        call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        if self.0.load(Ordering::Relaxed) {
            return Ok(ToolResult::error(call.tool_use(), "closed"));
        }
        next.run(call.into_tool_use()).await
    }
}

#[tokio::test]
async fn a_tool_that_a_hook_answered_for_does_not_run_in_a_later_run() {
    let (world, journal, id) = (World::default(), MemoryJournal::new(), RunId::random());
    let is_closed = Arc::new(AtomicBool::new(true));
    let agent = || {
        let agent = ReActAgent::builder("above").model(world.model("above", &[&["left"]]));
        agent.tool(world.tool("left")).hook(Closed(is_closed.clone())).build().unwrap()
    };
    let run = |agent: ReActAgent| {
        let options = CallOptions::new().run_id(id).journal(journal.again());
        async move { agent.call_with(options, "Go").await.unwrap() }
    };
    let first = run(agent()).await;
    journal.cut(2);
    is_closed.store(false, Ordering::Relaxed);
    assert_eq!(run(agent()).await, first);
    assert!(world.effects().is_empty());
}

/// A model that has nothing to say at first.
struct Empty(AtomicBool);

impl ChatModel for Empty {
    fn name(&self) -> &'static str {
        "empty"
    }

    fn stream(&self, _: ChatRequest) -> ChatStream {
        let text = self.0.swap(true, Ordering::Relaxed).then(|| ChatChunk::Text("Here.".into()));
        let chunks = text.into_iter().chain([ChatChunk::end(Usage::default())]);
        Box::pin(futures::stream::iter(chunks.map(Ok).collect::<Vec<_>>()))
    }
}

#[tokio::test]
async fn an_answer_without_content_is_recorded_as_an_error_that_may_pass() {
    let journal = MemoryJournal::new();
    let model = Empty(AtomicBool::new(false));
    let agent = ReActAgent::builder("above").model(model).build().unwrap();
    let options = CallOptions::new().journal(journal.clone());
    assert!(agent.call_with(options, "Go").await.unwrap_err().is_transient());
    assert!(journal.record("model/1/1").unwrap().is_transient());
}
