//! Leases.

use std::collections::BTreeSet;
use std::time::Duration;

use hooks_agent_core::store::{Acquired, Lease, StoreError, ThreadKey};
use sqlx::postgres::{PgConnection, PgRow};

use crate::call::RunId;
use crate::store::postgres::listen::notified_name;
use crate::store::postgres::statements::{ACQUIRE, RELEASE, RENEW, WAIT, WAIT_NO_MORE, WITHDRAW};
use crate::store::postgres::store::PostgresStore;
use crate::store::sql::{Columns, millis, random_id, signed, store_error, unsigned};

/// How long a request for a lease keeps its place without being repeated.
const WAITING: Duration = Duration::from_secs(3);

impl PostgresStore {
    pub(super) async fn acquire_thread(
        &self,
        key: &ThreadKey,
        owner: RunId,
    ) -> Result<Acquired, StoreError> {
        let name = owner.to_string();
        let mut conn = self.connections().pool.get().await?;
        let granted = self.connections().statement.run(self.request(&mut conn, key, &name)).await;
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

    /// Requests a lease, and notes that the call waits if it is refused.
    async fn request(
        &self,
        conn: &mut PgConnection,
        key: &ThreadKey,
        owner: &str,
    ) -> Result<Vec<PgRow>, sqlx::Error> {
        let granted = self.grant(conn, key, owner).await?;
        if !granted.is_empty() {
            return Ok(granted);
        }
        sqlx::query(WAIT)
            .bind(self.name())
            .bind(key.agent())
            .bind(key.thread())
            .bind(owner)
            .bind(millis(WAITING))
            .execute(&mut *conn)
            .await?;
        // The owner that released it meanwhile saw nobody wait.
        self.grant(conn, key, owner).await
    }

    async fn grant(
        &self,
        conn: &mut PgConnection,
        key: &ThreadKey,
        owner: &str,
    ) -> Result<Vec<PgRow>, sqlx::Error> {
        sqlx::query(ACQUIRE)
            .bind(random_id())
            .bind(self.name())
            .bind(key.agent())
            .bind(key.thread())
            .bind(owner)
            .bind(millis(self.connections().lease_time))
            .fetch_all(conn)
            .await
    }

    pub(super) async fn withdraw_request(
        &self,
        key: &ThreadKey,
        owner: RunId,
    ) -> Result<(), StoreError> {
        let mut conn = self.connections().pool.get().await?;
        let name = owner.to_string();
        let done = self.connections().statement.run(self.withdraw(&mut conn, key, &name)).await;
        conn.done(done)
    }

    async fn withdraw(
        &self,
        conn: &mut PgConnection,
        key: &ThreadKey,
        owner: &str,
    ) -> Result<(), sqlx::Error> {
        sqlx::query(WITHDRAW)
            .bind(self.name())
            .bind(key.agent())
            .bind(key.thread())
            .bind(owner)
            .bind(&self.connections().listener.channel)
            .bind(notified_name(self.name(), key))
            .fetch_all(&mut *conn)
            .await?;
        let waits_no_more = sqlx::query(WAIT_NO_MORE)
            .bind(self.name())
            .bind(key.agent())
            .bind(key.thread())
            .bind(owner);
        waits_no_more.execute(conn).await.map(drop)
    }

    pub(super) async fn renew_leases(&self, leases: &[Lease]) -> Result<Vec<Lease>, StoreError> {
        if leases.is_empty() {
            return Ok(Vec::new());
        }
        let mut conn = self.connections().pool.get().await?;
        let renewed = sqlx::query(RENEW)
            .bind(self.name())
            .bind(millis(self.connections().lease_time))
            .bind(leases.iter().map(|lease| lease.row).collect::<Vec<_>>())
            .bind(leases.iter().map(|lease| lease.owner.to_string()).collect::<Vec<_>>())
            .bind(leases.iter().map(|lease| signed(lease.fence)).collect::<Vec<_>>())
            .fetch_all(&mut *conn);
        let renewed = self.connections().statement.run(renewed).await;
        let mut kept = BTreeSet::new();
        for row in conn.done(renewed)? {
            let columns = |error| store_error(&error);
            kept.insert((row.int(0).map_err(columns)?, unsigned(row.int(1).map_err(columns)?)));
        }
        let is_lost = |lease: &&Lease| !kept.contains(&(lease.row, lease.fence));
        Ok(leases.iter().filter(is_lost).cloned().collect())
    }

    pub(super) async fn release_lease(&self, lease: &Lease) -> Result<(), StoreError> {
        let mut conn = self.connections().pool.get().await?;
        let released = sqlx::query(RELEASE)
            .bind(lease.row)
            .bind(self.name())
            .bind(lease.owner.to_string())
            .bind(signed(lease.fence))
            .bind(&self.connections().listener.channel)
            .bind(notified_name(self.name(), &lease.thread))
            .fetch_all(&mut *conn);
        let released = self.connections().statement.run(released).await;
        conn.done(released).map(drop)
    }
}
