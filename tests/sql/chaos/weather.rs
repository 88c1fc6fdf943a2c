//! Faults between processes and their server.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use hooks_fixtures::{Proxy, Wire};

use crate::chaos::cluster::Cluster;

/// How long each weather lasts.
const LASTS: Duration = Duration::from_millis(150);

/// A server behind a wire, both of which fail.
pub(crate) struct Weather {
    cluster: Cluster,
    wire: Proxy,
    changes: usize,
    restarts: usize,
}

impl Weather {
    pub(crate) async fn over(cluster: Cluster) -> Self {
        let wire = Proxy::start(format!("127.0.0.1:{}", cluster.port())).await.unwrap();
        Self { cluster, wire, changes: 0, restarts: 0 }
    }

    /// Returns the address of the store behind the wire.
    pub(crate) fn address(&self) -> String {
        format!("server:{}", self.wire.address().port())
    }

    /// Changes for ever. Every twentieth time the server ends at once, and starts again.
    pub(crate) async fn change(&mut self) {
        let mut clock = tokio::time::interval(LASTS);
        loop {
            clock.tick().await;
            self.changes += 1;
            if self.changes.is_multiple_of(20) {
                self.cluster.restart().await;
                self.restarts += 1;
            }
            let random = RandomState::new().hash_one(self.changes);
            self.wire.set(match random % 8 {
                0 => Wire::Cut,
                1 => Wire::Swallow,
                2 => Wire::LoseAnswer,
                3 => Wire::Delay(Duration::from_millis(random / 8 % 30)),
                _ => Wire::Pass,
            });
        }
    }

    /// Clears up. Returns what there was.
    pub(crate) async fn clear(&mut self) -> String {
        self.wire.set(Wire::Cut);
        // The change may have stopped while the server did.
        self.cluster.restart().await;
        self.wire.set(Wire::Pass);
        format!("{} changes of the wire, {} restarts", self.changes, self.restarts + 1)
    }
}
