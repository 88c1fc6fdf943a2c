//! Leases.

use std::collections::BTreeSet;
use std::time::Duration;

use hooks_agent_core::store::{Acquired, Lease, StoreError, ThreadKey};

use crate::call::RunId;
use crate::store::sql::{Columns, millis, random_id, signed, store_error, unsigned, write_json};
use crate::store::sqlite::statements::{ACQUIRE, RELEASE, RENEW, WAIT, WAIT_NO_MORE, WITHDRAW};
use crate::store::sqlite::store::SqliteStore;

/// How long a request for a lease keeps its place without being repeated.
const WAITING: Duration = Duration::from_secs(3);

impl SqliteStore {
    pub(super) async fn acquire_thread(
        &self,
        key: &ThreadKey,
        owner: RunId,
    ) -> Result<Acquired, StoreError> {
        let name = owner.to_string();
        let mut conn = self.connections().writer.get().await?;
        let granted = sqlx::query(ACQUIRE)
            .bind(random_id())
            .bind(self.name())
            .bind(key.agent())
            .bind(key.thread())
            .bind(&name)
            .bind(millis(self.connections().lease_time))
            .fetch_all(&mut *conn)
            .await;
        if granted.as_ref().is_ok_and(Vec::is_empty) {
            let waits = sqlx::query(WAIT)
                .bind(self.name())
                .bind(key.agent())
                .bind(key.thread())
                .bind(&name)
                .bind(millis(WAITING))
                .execute(&mut *conn)
                .await;
            return conn.done(waits).map(|_| Acquired::Busy);
        }
        let columns = |error| store_error(&error);
        let rows = conn.done(granted)?;
        let Some(row) = rows.first() else { return Ok(Acquired::Busy) };
        let fence = unsigned(row.int(1).map_err(columns)?);
        Ok(Acquired::Granted {
            lease: Lease::new(key.clone(), owner, row.int(0).map_err(columns)?, fence),
            version: unsigned(row.int(2).map_err(columns)?),
            is_takeover: row.int(3).map_err(columns)? != 0,
            user: row.text_or_null(4).map_err(columns)?.map(Into::into),
        })
    }

    pub(super) async fn withdraw_request(
        &self,
        key: &ThreadKey,
        owner: RunId,
    ) -> Result<(), StoreError> {
        let name = owner.to_string();
        let mut conn = self.connections().writer.get().await?;
        for statement in [WITHDRAW, WAIT_NO_MORE] {
            let done = sqlx::query(statement)
                .bind(self.name())
                .bind(key.agent())
                .bind(key.thread())
                .bind(&name)
                .execute(&mut *conn)
                .await;
            if done.is_err() {
                return conn.done(done).map(drop);
            }
        }
        conn.done(Ok(()))
    }

    pub(super) async fn renew_leases(&self, leases: &[Lease]) -> Result<Vec<Lease>, StoreError> {
        if leases.is_empty() {
            return Ok(Vec::new());
        }
        let wanted: Vec<_> = leases
            .iter()
            .map(|lease| (lease.row, lease.owner.to_string(), signed(lease.fence)))
            .collect();
        let mut conn = self.connections().writer.get().await?;
        let renewed = sqlx::query(RENEW)
            .bind(self.name())
            .bind(millis(self.connections().lease_time))
            .bind(write_json(&wanted)?)
            .fetch_all(&mut *conn)
            .await;
        let mut kept = BTreeSet::new();
        for row in conn.done(renewed)? {
            let columns = |error| store_error(&error);
            kept.insert((row.int(0).map_err(columns)?, unsigned(row.int(1).map_err(columns)?)));
        }
        let is_lost = |lease: &&Lease| !kept.contains(&(lease.row, lease.fence));
        Ok(leases.iter().filter(is_lost).cloned().collect())
    }

    pub(super) async fn release_lease(&self, lease: &Lease) -> Result<(), StoreError> {
        let mut conn = self.connections().writer.get().await?;
        let released = sqlx::query(RELEASE)
            .bind(lease.row)
            .bind(self.name())
            .bind(lease.owner.to_string())
            .bind(signed(lease.fence))
            .execute(&mut *conn)
            .await;
        conn.done(released).map(drop)
    }
}
