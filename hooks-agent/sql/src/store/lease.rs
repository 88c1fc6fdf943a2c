//! Leases.

use std::collections::BTreeSet;
use std::time::Duration;

use hooks_agent_core::call::RunId;
use hooks_agent_core::store::{Acquired, Claim, Lease, StoreError, ThreadKey};

use crate::database::{
    Access, Columns, DatabaseError, List, Statement, millis, random_id, signed, unsigned,
};
use crate::store::connections::Connections;
use crate::store::release::Releases;
use crate::store::sql_store::SqlStore;
use crate::store::statements::Statements;

/// How long a request for a lease keeps its place without being repeated.
const WAITING: Duration = Duration::from_secs(3);

impl<D: Statements> SqlStore<D> {
    pub(crate) async fn acquire_thread(
        &self,
        key: &ThreadKey,
        owner: RunId,
        claim: &Claim,
    ) -> Result<Acquired, StoreError> {
        let name = owner.to_string();
        let Connections { writer, statement: limit, .. } = self.connections();
        let mut conn = writer.get().await?;
        let granted = limit.run(self.request(&mut conn, key, &name, claim)).await;
        let Some(rows) = conn.done(granted)? else { return Ok(Acquired::OtherUser) };
        let Some(row) = rows.first() else { return Ok(Acquired::Busy) };
        Ok(Acquired::Granted {
            lease: Lease::new(key.clone(), owner, row.int(0)?, unsigned(row.int(1)?)),
            version: unsigned(row.int(2)?),
            is_takeover: row.int(3)? != 0,
            user: row.text_or_null(4)?.map(Into::into),
        })
    }

    /// Requests a lease, and notes that the call waits if it is refused. Returns none if the thread is of
    /// another user.
    async fn request(
        &self,
        conn: &mut D::Connection,
        key: &ThreadKey,
        owner: &str,
        claim: &Claim,
    ) -> Result<Option<Vec<D::Row>>, DatabaseError> {
        let granted = D::fetch(conn, self.grant(key, owner, claim)).await?;
        if !granted.is_empty() {
            return Ok(Some(granted));
        }
        // The grant itself refuses another user: this tells why there is none.
        let other = self.of_thread(D::OTHER_USER, key).bind(claim.user.as_deref()).bind(may(claim));
        if !D::fetch(conn, other).await?.is_empty() {
            return Ok(None);
        }
        let wait = self.of_thread(D::WAIT, key).bind(owner).bind(millis(WAITING));
        D::execute(conn, wait).await?;
        // The owner that released it meanwhile saw nobody wait.
        D::fetch(conn, self.grant(key, owner, claim)).await.map(Some)
    }

    fn grant<'a>(&'a self, key: &'a ThreadKey, owner: &'a str, claim: &'a Claim) -> Statement<'a> {
        Statement::new(D::ACQUIRE)
            .bind(random_id())
            .bind(self.name())
            .bind(key.agent())
            .bind(key.thread())
            .bind(owner)
            .bind(millis(self.connections().lease_time))
            .bind(claim.user.as_deref())
            .bind(may(claim))
    }

    pub(crate) async fn withdraw_request(
        &self,
        key: &ThreadKey,
        owner: RunId,
    ) -> Result<(), StoreError> {
        let name = owner.to_string();
        let Connections { writer, statement: limit, .. } = self.connections();
        let mut conn = writer.get().await?;
        let done = limit.run(self.withdraw(&mut conn, key, &name)).await;
        Ok(conn.done(done)?)
    }

    async fn withdraw(
        &self,
        conn: &mut D::Connection,
        key: &ThreadKey,
        owner: &str,
    ) -> Result<(), DatabaseError> {
        let withdraw = self.of_thread(D::WITHDRAW, key).bind(owner);
        let withdraw = self.connections().releases.bind(withdraw, self.name(), Some(key));
        D::fetch(conn, withdraw).await?;
        D::execute(conn, self.of_thread(D::WAIT_NO_MORE, key).bind(owner)).await.map(drop)
    }

    pub(crate) async fn renew_leases(&self, leases: &[Lease]) -> Result<Vec<Lease>, StoreError> {
        if leases.is_empty() {
            return Ok(Vec::new());
        }
        let renew = Statement::new(D::RENEW)
            .bind(self.name())
            .bind(millis(self.connections().lease_time))
            .bind(vec![
                List::ints(leases.iter().map(|lease| lease.row)),
                List::texts(leases.iter().map(|lease| lease.owner.to_string())),
                List::ints(leases.iter().map(|lease| signed(lease.fence))),
            ]);
        let mut kept = BTreeSet::new();
        for row in self.fetch(Access::Write, renew).await? {
            kept.insert((row.int(0)?, unsigned(row.int(1)?)));
        }
        let is_lost = |lease: &&Lease| !kept.contains(&(lease.row, lease.fence));
        Ok(leases.iter().filter(is_lost).cloned().collect())
    }

    pub(crate) async fn release_lease(&self, lease: &Lease) -> Result<(), StoreError> {
        let release = Statement::new(D::RELEASE)
            .bind(lease.row)
            .bind(self.name())
            .bind(lease.owner.to_string())
            .bind(signed(lease.fence));
        let releases = &self.connections().releases;
        let release = releases.bind(release, self.name(), Some(&lease.thread));
        self.fetch(Access::Write, release).await?;
        Ok(())
    }
}

/// Returns the number of what a claim may do, as the statements have it.
fn may(claim: &Claim) -> i64 {
    match claim {
        _ if claim.takes_over => 2,
        _ if claim.has_input => 0,
        _ => 1,
    }
}
