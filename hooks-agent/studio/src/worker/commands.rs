//! Does what people decide at the studio.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::body::to_bytes;
use axum::response::Response;
use hooks_agent_core::call::RunId;

use crate::join::{Command, Order, Outcome};
use crate::server::{decide, interrupt, revoke};
use crate::worker::backoff::Backoff;
use crate::worker::link::Link;
use crate::worker::message::Message;

/// How many bytes of an answer are sent.
const MOST: usize = 1 << 20;

/// Asks the studio for commands until the worker stops, and carries them out beside each other.
pub(super) async fn take(link: &Arc<Link>, name: &str) {
    let asking = async {
        let mut studio = link.studio.subscribe();
        let mut backoff = Backoff::default();
        loop {
            // The sender of a link is not dropped before this.
            let Ok(known) = studio.wait_for(Option::is_some).await.map(|known| *known) else {
                return;
            };
            match link.exchange(asks(link, name, known)).await {
                Ok(answer) => {
                    backoff.reset();
                    for command in answer.commands {
                        tokio::spawn(carry_out(link.clone(), answer.studio, command));
                    }
                }
                Err(failed) => tokio::time::sleep(backoff.next(&failed)).await,
            }
        }
    };
    tokio::select! {
        () = asking => {}
        () = link.stopping.cancelled() => {}
    }
}

/// Returns a message that waits for a command.
fn asks(link: &Link, name: &str, studio: Option<RunId>) -> Vec<u8> {
    let message = Message {
        worker: link.id,
        name,
        studio,
        waits: true,
        leaves: false,
        dropped: link.dropped.load(Ordering::Relaxed),
        runs: &[],
        hidden: &[],
        questions: None,
        outcomes: &[],
    };
    message.json(&[])
}

async fn carry_out(link: Arc<Link>, studio: RunId, Command { number, order }: Command) {
    let response = match order {
        Order::Interrupt { run } => interrupt(link.ring(), run),
        Order::Decide { id, request, by } => decide(&link.desk, id, request, by.into()).await,
        Order::Revoke { id, by } => {
            let response = revoke(&link.desk, &id, &by.into()).await;
            link.has_revoked.store(true, Ordering::Relaxed);
            response
        }
    };
    link.add_outcome(studio, outcome(number, response).await);
}

async fn outcome(command: u64, response: Response) -> Outcome {
    let (head, body) = response.into_parts();
    let bytes = to_bytes(body, MOST).await.unwrap_or_default();
    let body = serde_json::from_slice(&bytes).unwrap_or_default();
    Outcome { command, status: head.status.as_u16(), body }
}
