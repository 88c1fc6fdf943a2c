//! Passes messages between the streams of an agent and those of a server.

use std::time::Duration;

use futures::future::pending;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc::{self, Receiver, Sender, WeakSender};
use tokio::time::sleep;

use crate::mcp::messages::channel::{Channel, Passage};
use crate::mcp::messages::message::{self, NO_MESSAGE};
use crate::mcp::proxy::McpProxy;
use crate::mcp::report::Report;
use crate::mcp::stdio::lines::{Line, Lines};

/// How many messages wait for a reader.
const WAITING: usize = 16;

impl McpProxy {
    /// Passes messages between the streams of an agent and those of a server, each a line, until the server
    /// ends its output, or the agent has ended its own for the time of [grace](Self::grace).
    pub async fn pass(
        self,
        agent: (impl AsyncRead + Unpin, impl AsyncWrite + Unpin),
        server: (impl AsyncRead + Unpin, impl AsyncWrite + Unpin),
    ) {
        let (report, grace) = (self.report.clone(), self.grace);
        let channel = Channel::new(self.shared());
        pass(&channel, &report, grace, agent, server, pending()).await;
    }
}

/// Passes messages until the output of the server ends, `has_ended` does, or the agent has closed its side for
/// as long as `grace`. Each request of the agent that has no answer then gets an error.
pub(crate) async fn pass(
    channel: &Channel,
    report: &Report,
    grace: Duration,
    agent: (impl AsyncRead + Unpin, impl AsyncWrite + Unpin),
    server: (impl AsyncRead + Unpin, impl AsyncWrite + Unpin),
    has_ended: impl Future<Output = ()>,
) {
    let (to_agent, for_agent) = mpsc::channel(WAITING);
    let (to_server, for_server) = mpsc::channel(WAITING);
    // What answers the server does not keep its input open.
    let back = to_server.downgrade();
    let passed = async {
        tokio::select! {
            () = async {
                from_agent(channel, report, agent.0, to_server, &to_agent).await;
                sleep(grace).await;
            } => {}
            () = from_server(channel, report, server.0, &to_agent, back) => {}
            () = has_ended => {}
            // A server that reads nothing more may still write.
            () = async {
                write(for_server, server.1).await;
                pending::<()>().await;
            } => {}
        }
        for answer in channel.unanswered("the MCP server has ended") {
            let _ = to_agent.send(answer).await;
        }
        drop(to_agent);
    };
    let mut written = std::pin::pin!(write(for_agent, agent.1));
    tokio::select! {
        // The agent reads nothing more.
        () = &mut written => {}
        () = passed => written.await,
    }
}

async fn from_agent(
    channel: &Channel,
    report: &Report,
    input: impl AsyncRead + Unpin,
    on: Sender<Value>,
    back: &Sender<Value>,
) {
    let mut lines = Lines::new(input);
    while let Some(line) = lines.next().await {
        let passage = match line {
            Line::Text(text) => channel.of_agent(&text).await,
            Line::TooLong => {
                Passage::Back(message::error(&Value::Null, NO_MESSAGE, "it is longer than 32 MiB"))
            }
        };
        // A side that is gone takes nothing: the other loops see it.
        let _ = match passage {
            Passage::On(message) => on.send(message).await,
            Passage::Back(message) => back.send(message).await,
            Passage::Dropped(reason) => {
                report.line(format_args!("a message of the agent is dropped: {reason}"));
                Ok(())
            }
        };
    }
}

async fn from_server(
    channel: &Channel,
    report: &Report,
    output: impl AsyncRead + Unpin,
    on: &Sender<Value>,
    back: WeakSender<Value>,
) {
    let mut lines = Lines::new(output);
    while let Some(line) = lines.next().await {
        let passage = match line {
            Line::Text(text) => channel.of_server(&text).await,
            Line::TooLong => {
                let reason = "the answer is longer than 32 MiB";
                match channel.unanswered_only(reason) {
                    Some(answer) => Passage::On(answer),
                    None => Passage::Dropped("it is longer than 32 MiB"),
                }
            }
        };
        let _ = match (passage, back.upgrade()) {
            (Passage::On(message), _) => on.send(message).await,
            (Passage::Back(message), Some(back)) => back.send(message).await,
            (Passage::Back(_), None) => Ok(()),
            (Passage::Dropped(reason), _) => {
                report.line(format_args!("a message of the MCP server is dropped: {reason}"));
                Ok(())
            }
        };
    }
}

/// Writes messages as lines, until there are no more or nobody reads them.
async fn write(mut messages: Receiver<Value>, mut to: impl AsyncWrite + Unpin) {
    while let Some(message) = messages.recv().await {
        let line = format!("{message}\n");
        let written = async {
            to.write_all(line.as_bytes()).await?;
            to.flush().await
        };
        if written.await.is_err() {
            return;
        }
    }
    let _ = to.shutdown().await;
}
