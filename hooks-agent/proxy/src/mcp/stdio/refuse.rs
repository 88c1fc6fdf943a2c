//! Tells an agent why there is no proxy.

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

use crate::mcp::messages::message::{self, Message, NOT_ANSWERED};
use crate::mcp::stdio::lines::{Line, Lines};

/// Answers the first request of an agent, which is its handshake, by an error with this reason, so that the agent
/// shows it. Returns when it has, or the agent has ended its stream.
///
/// ```
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// use hooks_agent::proxy::mcp::refuse;
///
/// let input = br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#;
/// let mut output = Vec::new();
/// refuse("policy.toml: no such file", &input[..], &mut output).await;
/// assert!(String::from_utf8(output).unwrap().contains("no such file"));
/// # });
/// ```
pub async fn refuse(
    reason: &str,
    input: impl AsyncRead + Unpin,
    mut output: impl AsyncWrite + Unpin,
) {
    let mut lines = Lines::new(input);
    while let Some(line) = lines.next().await {
        let (id, is_request) = match line {
            Line::TooLong => (Value::Null, false),
            Line::Text(text) => match Message::read(&text) {
                Ok(Message::Request { id, .. }) => (id, true),
                Ok(_) => continue,
                Err(no) => (no.id, false),
            },
        };
        let answer = format!("{}\n", message::error(&id, NOT_ANSWERED, reason));
        let written = async {
            output.write_all(answer.as_bytes()).await?;
            output.flush().await
        };
        if written.await.is_err() || is_request {
            return;
        }
    }
}
