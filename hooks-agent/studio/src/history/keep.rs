//! Writes runs into the store.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use hooks_agent_core::store::{KeptRun, RunHistory, StoreError};
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use crate::history::kept::kept;
use crate::history::queue::{History, Keep};
use crate::history::resumed::resumed;
use crate::ring::Log;

/// How much is written at once.
const AT_ONCE: usize = 64;

/// How often a write is tried, and how long it waits after the first time.
const TRIES: u32 = 4;
const PATIENCE: Duration = Duration::from_millis(250);

/// How long a studio that stops writes what is left.
const LAST: Duration = Duration::from_secs(5);

/// Writes runs until the studio stops, then those that are left.
pub(crate) async fn keep(history: &History, has_prices: bool, stopping: &CancellationToken) {
    let mut receiver = tokio::select! {
        receiver = history.receiver.lock() => receiver,
        // Another server of the studio writes.
        () = stopping.cancelled() => return,
    };
    let mut batch = Vec::with_capacity(AT_ONCE);
    let keeping = async {
        loop {
            tokio::select! {
                biased;
                _ = receiver.recv_many(&mut batch, AT_ONCE) => {}
                () = stopping.cancelled() => return,
            }
            if let Some(runs) = history.runs() {
                write(history, runs, &batch, has_prices, stopping).await;
            }
            batch.clear();
        }
    };
    let late = async {
        stopping.cancelled().await;
        tokio::time::sleep(LAST).await;
    };
    tokio::select! {
        () = keeping => {}
        () = late => {}
    }
    history.lose(batch.len() + receiver.len());
}

async fn write(
    history: &History,
    runs: &dyn RunHistory,
    batch: &[Keep],
    has_prices: bool,
    stopping: &CancellationToken,
) {
    // A run that is there twice is written once, as it is now.
    let mut logs = BTreeMap::new();
    for keep in batch {
        if let Keep::Run(log) = keep {
            logs.insert(log.head.run, log.clone());
        }
    }
    let logs: Vec<_> = logs.into_values().collect();
    let count = logs.len();
    // On a thread that may take its time. A panic costs these runs, and not the server.
    let wanted = spawn_blocking(move || kept_all(&logs, has_prices)).await.unwrap_or_default();
    history.lose(count - wanted.len());
    add(history, runs, wanted, stopping).await;
    for keep in batch {
        if let Keep::Resumed { agent, thread, by, before } = keep
            && let Err(error) = resumed(runs, (agent, thread), *by, *before).await
        {
            warn(&error);
        }
    }
}

fn kept_all(logs: &[Arc<Log>], has_prices: bool) -> Vec<KeptRun> {
    logs.iter().filter_map(|log| kept(log, has_prices)).collect()
}

async fn add(
    history: &History,
    runs: &dyn RunHistory,
    wanted: Vec<KeptRun>,
    stopping: &CancellationToken,
) {
    for tried in 1..=TRIES {
        let Err(error) = runs.add(wanted.clone()).await else { return };
        warn(&error);
        let is_refused = matches!(error, StoreError::Run(_) | StoreError::Name(_));
        if is_refused || tried == TRIES {
            break;
        }
        tokio::select! {
            () = tokio::time::sleep(PATIENCE * 4_u32.pow(tried - 1)) => {}
            () = stopping.cancelled() => break,
        }
    }
    // One that the store does not take does not hold up the others.
    for run in wanted {
        if runs.add(vec![run]).await.is_err() {
            history.lose(1);
        }
    }
}

fn warn(error: &StoreError) {
    tracing::warn!(
        target: "hooks_agent::studio",
        error = error as &dyn std::error::Error, "runs cannot be kept in the history"
    );
}
