//! Steps of calls.

use hooks_agent_core::store::{Lease, Step, StoreError};
use sqlx::Database;

use crate::database::{Access, DatabaseError, List, Statement, signed};
use crate::store::connections::Connections;
use crate::store::release::Releases;
use crate::store::rows::{Known, StepRows, refusal};
use crate::store::sql_store::SqlStore;
use crate::store::statements::Statements;

impl<D: Statements> SqlStore<D> {
    pub(crate) async fn commit_step(&self, lease: &Lease, step: &Step) -> Result<(), StoreError> {
        let rows = StepRows::of(step)?;
        let digest = rows.digest(step);
        let commit = self.commit_of(lease, step, &rows, digest);
        let Connections { place, writer, statement: limit, .. } = self.connections();
        let mut conn = writer.get().await?;
        let written = if step.reservations.is_empty() {
            limit.run(D::fetch(&mut conn, commit)).await
        } else {
            match limit.run(self.commit_reserving(&mut conn, step, commit)).await {
                Ok(Err(refused)) => {
                    conn.done(Ok(()))?;
                    return Err(refused);
                }
                Ok(Ok(written)) => written,
                Err(error) => Err(error),
            }
        };
        if !D::is_refused(&written) {
            conn.done(written)?;
            return Ok(());
        }
        let owner = Statement::new(D::OWNER).bind(lease.row).bind(self.name());
        let rows = limit.run(D::fetch(&mut conn, owner)).await;
        match refusal(lease, step.version, digest, &conn.done(rows)?)? {
            Known::Written => Ok(()),
            Known::Nothing => Err(match written {
                Err(error) => place.error(error),
                // The owner was another one a moment before.
                Ok(_) => DatabaseError::unavailable("the thread changed hands"),
            }
            .into()),
        }
    }

    /// Returns the statement that writes a step.
    fn commit_of<'a>(
        &'a self,
        lease: &'a Lease,
        step: &'a Step,
        rows: &'a StepRows,
        digest: i64,
    ) -> Statement<'a> {
        let commit = Statement::new(D::COMMIT)
            .bind(lease.row)
            .bind(self.name())
            .bind(lease.owner.to_string())
            .bind(signed(lease.fence))
            .bind(signed(step.version))
            .bind(rows.next)
            .bind(&rows.state)
            .bind(digest)
            .bind(step.in_call)
            .bind(step.user.as_deref())
            .bind(step.releases);
        let releases = &self.connections().releases;
        let thread = step.releases.then_some(&lease.thread);
        releases.bind(bind_rows(commit, rows), self.name(), thread)
    }

    /// Reserves and writes a step in one transaction: both or neither. The inner errors are why it reserves
    /// nothing, and that of the statement.
    async fn commit_reserving(
        &self,
        conn: &mut D::Connection,
        step: &Step,
        commit: Statement<'_>,
    ) -> Result<Result<Written<D>, StoreError>, DatabaseError> {
        let mut both = D::begin(conn, Access::Write, None).await?;
        if let Err(refused) = self.reserve_in(&mut both, &step.reservations).await? {
            both.rollback().await?;
            return Ok(Err(refused));
        }
        let written = D::fetch(&mut both, commit).await;
        if written.is_err() || D::is_refused(&written) {
            both.rollback().await?;
        } else {
            both.commit().await?;
        }
        Ok(Ok(written))
    }
}

/// What a statement returned that writes a step.
type Written<D> = Result<Vec<<D as Database>::Row>, DatabaseError>;

/// Adds the rows of a step.
fn bind_rows<'a>(statement: Statement<'a>, rows: &'a StepRows) -> Statement<'a> {
    let StepRows { messages, values, calls, asked, .. } = rows;
    statement
        .bind(List::ints(rows.archived.iter().copied()))
        .bind(vec![
            List::ints(messages.iter().map(|(seq, ..)| *seq)),
            List::ints(messages.iter().map(|(_, place, _)| *place)),
            List::texts(messages.iter().map(|(.., body)| body)),
        ])
        .bind(List::texts(&rows.removed))
        .bind(vec![
            List::texts(values.iter().map(|(name, _)| name)),
            List::texts(values.iter().map(|(_, body)| body)),
        ])
        .bind(vec![
            List::texts(calls.iter().map(|(key, ..)| key)),
            List::ints(calls.iter().map(|(_, state, ..)| *state)),
            List::ints(calls.iter().map(|(.., is_live, _)| *is_live)),
            List::texts(calls.iter().map(|(.., body)| body)),
        ])
        .bind(vec![
            List::texts(asked.iter().map(|(id, ..)| id)),
            List::texts(asked.iter().map(|(_, body, _)| body)),
            List::Ints(asked.iter().map(|(.., expires)| *expires).collect()),
        ])
        .bind(List::texts(&rows.closed))
}
