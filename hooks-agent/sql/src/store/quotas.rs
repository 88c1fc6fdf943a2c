//! Uses of quotas by subjects.

use hooks_agent_core::store::{
    Admitted, NameError, QuotaUse, Reservation, StoreError, Used, Window, admit, check_name,
};

use crate::database::{Access, Columns, DatabaseError, List, Statement, signed, unsigned};
use crate::store::connections::Connections;
use crate::store::sql_store::SqlStore;
use crate::store::statements::Statements;

impl<D: Statements> SqlStore<D> {
    /// Reserves in a transaction of its own. What is written twice, because an answer was lost, is counted once.
    pub(crate) async fn reserve_quotas(
        &self,
        wanted: &[Reservation],
    ) -> Result<Vec<Reservation>, StoreError> {
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let Connections { writer, statement: limit, .. } = self.connections();
        let mut conn = writer.get().await?;
        let reserved = limit.run(async {
            let mut step = D::begin(&mut conn, Access::Write, None).await?;
            let reserved = self.reserve_in(&mut step, wanted).await?;
            match reserved {
                Ok(_) => step.commit().await?,
                Err(_) => step.rollback().await?,
            }
            Ok(reserved)
        });
        let reserved = reserved.await;
        conn.done(reserved)?
    }

    /// Reserves in a transaction, and returns what takes it back. The inner error is why it is refused.
    pub(crate) async fn reserve_in(
        &self,
        step: &mut D::Connection,
        wanted: &[Reservation],
    ) -> Result<Result<Vec<Reservation>, StoreError>, DatabaseError> {
        if let Err(error) = wanted.iter().try_for_each(check_names) {
            return Ok(Err(error.into()));
        }
        // Locked before the sums are read: a statement sees what was written before it began.
        let now = self.lock_subjects(step, wanted).await?;
        let starts = wanted.iter().map(|it| signed(it.window.start(now)));
        let read = Statement::new(D::QUOTA_USED).bind(self.name()).bind(vec![
            List::texts(wanted.iter().map(|it| &*it.quota)),
            List::texts(wanted.iter().map(|it| &*it.subject)),
            List::texts(wanted.iter().map(|it| &*it.key)),
            List::ints(starts),
            List::ints((0..).take(wanted.len())),
        ]);
        let mut known = Vec::with_capacity(wanted.len());
        for row in D::fetch(step, read).await? {
            let oldest = row.int_or_null(1)?.map(unsigned);
            let reserved = row.int_or_null(2)?.map(unsigned);
            known.push(Used::new(unsigned(row.int(0)?), oldest, reserved));
        }
        if known.len() != wanted.len() {
            return Err(sqlx::Error::RowNotFound.into());
        }
        let admitted = match admit(wanted.iter().zip(known), now) {
            Ok(admitted) => admitted,
            Err(error) => return Ok(Err(error.into())),
        };
        let taken_back = admitted.iter().map(Admitted::taken_back).collect();
        let wanted: Vec<_> = admitted.into_iter().map(|it| it.reservation).collect();
        let ends = wanted.iter().map(|it| it.window.end(now).map_or(i64::MAX, signed));
        let write = Statement::new(D::RESERVE).bind(self.name()).bind(signed(now)).bind(vec![
            List::texts(wanted.iter().map(|it| &*it.quota)),
            List::texts(wanted.iter().map(|it| &*it.subject)),
            List::texts(wanted.iter().map(|it| &*it.key)),
            List::ints(wanted.iter().map(|it| signed(it.amount))),
            List::ints(ends),
        ]);
        D::execute(step, write).await?;
        Ok(Ok(taken_back))
    }

    pub(crate) async fn settle_quotas(&self, used: &[Reservation]) -> Result<(), StoreError> {
        if used.is_empty() {
            return Ok(());
        }
        let Connections { writer, statement: limit, .. } = self.connections();
        let mut conn = writer.get().await?;
        let settled = limit.run(async {
            let mut step = D::begin(&mut conn, Access::Write, None).await?;
            // Those who change the same sums do so in the same order.
            self.lock_subjects(&mut step, used).await?;
            let settle = Statement::new(D::SETTLE).bind(self.name()).bind(vec![
                List::texts(used.iter().map(|it| &*it.quota)),
                List::texts(used.iter().map(|it| &*it.subject)),
                List::texts(used.iter().map(|it| &*it.key)),
                List::ints(used.iter().map(|it| signed(it.amount.min(LARGEST)))),
            ]);
            D::execute(&mut step, settle).await?;
            Ok(step.commit().await?)
        });
        let settled = settled.await;
        Ok(conn.done(settled)?)
    }

    /// Locks subjects of quotas until the transaction ends, and returns the time of the database after that.
    async fn lock_subjects(
        &self,
        step: &mut D::Connection,
        of: &[Reservation],
    ) -> Result<u64, DatabaseError> {
        let names =
            of.iter().map(|it| format!("{}\u{1}{}\u{1}{}", self.name(), it.quota, it.subject));
        let lock = Statement::new(D::LOCK_QUOTAS).bind(List::texts(names));
        now_of(&D::fetch(step, lock).await?)
    }

    pub(crate) async fn uses_of(
        &self,
        quota: &str,
        window: &Window,
    ) -> Result<Vec<QuotaUse>, StoreError> {
        let now = now_of(&self.fetch(Access::Read, Statement::new(D::TIME)).await?)?;
        let uses = Statement::new(D::QUOTA_USES).bind(self.name()).bind(quota);
        let rows = self.fetch(Access::Read, uses.bind(signed(window.start(now)))).await?;
        let mut uses = Vec::with_capacity(rows.len());
        for row in rows {
            uses.push(QuotaUse::new(row.text(0)?, unsigned(row.int(1)?)));
        }
        uses.sort_by(|one: &QuotaUse, other| one.subject.cmp(&other.subject));
        Ok(uses)
    }
}

/// The largest amount that is written, as of `admit`.
const LARGEST: u64 = (1 << 53) - 1;

fn check_names(wanted: &Reservation) -> Result<(), NameError> {
    check_name("name of the quota", &wanted.quota)?;
    check_name("subject of the quota", &wanted.subject)?;
    check_name("key of the reservation", &wanted.key)
}

/// Returns the time that is the first column of a row.
fn now_of(rows: &[impl Columns]) -> Result<u64, DatabaseError> {
    let row = rows.first().ok_or(DatabaseError::from(sqlx::Error::RowNotFound))?;
    Ok(unsigned(row.int(0)?))
}
