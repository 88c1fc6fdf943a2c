//! `Streaming`: what an agent does, passed on to somebody who does not hold the agent.

mod events;
mod guards;
mod readers;

use futures::future::join;
use hooks_agent_builtin::answer::{StreamReceiver, Streaming};
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;

/// The numbers up to `count`, each a chunk of a model.
fn numbers(count: usize) -> String {
    (0..count).fold(String::new(), |text, number| text + &number.to_string() + " ")
}

/// What an event is, in few words.
fn short(event: &AgentEvent) -> String {
    match &event.kind {
        AgentEventKind::ReasoningChunk(piece) | AgentEventKind::SummaryChunk(piece) => {
            match piece {
                ContentBlock::Text { text } => text.clone(),
                ContentBlock::Thinking { thinking, .. } => format!("({thinking})"),
                other => format!("{other:?}"),
            }
        }
        AgentEventKind::ToolStarted(call) => format!("{} {}", call.name, call.input),
        AgentEventKind::ToolChunk { call, text } => format!("{}.. {text}", call.name),
        AgentEventKind::ToolFinished(result) => {
            let failed = if result.is_error { "!" } else { "" };
            format!("{}: {}{failed}", result.name, result.output.as_str())
        }
        AgentEventKind::Finished(reply) => format!("= {}", reply.text()),
        AgentEventKind::Failed { kind } => format!("failed: {kind}"),
        AgentEventKind::Lagged { dropped } => format!("-{dropped}"),
        other => format!("{other:?}"),
    }
}

/// All events until no agent has the hook.
async fn all(mut events: StreamReceiver) -> Vec<AgentEvent> {
    let mut all = Vec::new();
    while let Some(event) = events.recv().await {
        all.push(event);
    }
    all
}

/// What a reader sees of one call of an agent.
async fn seen(
    call: impl Future<Output = Result<Msg, AgentError>>,
    events: StreamReceiver,
) -> Vec<String> {
    // The call owns the agent, so its end is that of the stream.
    let (_, seen) = join(call, all(events)).await;
    seen.iter().map(short).collect()
}

fn bot(script: &Script, streaming: Streaming) -> ReActAgent {
    ReActAgent::builder("bot").model(script.clone()).hook(streaming).build().unwrap()
}
