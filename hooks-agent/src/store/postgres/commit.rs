//! Writes steps.

use hooks_agent_core::store::{Lease, Step, StoreError};
use sqlx::Postgres;
use sqlx::postgres::PgArguments;
use sqlx::query::Query;

use crate::store::postgres::listen::notified_name;
use crate::store::postgres::statements::{COMMIT, OWNER};
use crate::store::postgres::store::PostgresStore;
use crate::store::sql::{Known, StepRows, refusal, signed, unavailable};

impl PostgresStore {
    pub(super) async fn commit_step(&self, lease: &Lease, step: &Step) -> Result<(), StoreError> {
        let rows = StepRows::of(step)?;
        let digest = rows.digest(step);
        // Nobody is notified unless the step releases the thread.
        let name =
            if step.releases { notified_name(self.name(), &lease.thread) } else { String::new() };
        let query = sqlx::query(COMMIT)
            .bind(lease.row)
            .bind(self.name())
            .bind(lease.owner.to_string())
            .bind(signed(lease.fence))
            .bind(signed(step.version))
            .bind(rows.next)
            .bind(&rows.state)
            .bind(digest)
            .bind(i64::from(step.in_call))
            .bind(step.user.as_deref())
            .bind(step.releases);
        let query = bind_rows(query, &rows).bind(&self.connections().listener.channel).bind(name);
        let mut conn = self.connections().pool.get().await?;
        let limit = self.connections().statement;
        let written = limit.run(query.fetch_all(&mut *conn)).await;
        if !written.as_ref().is_ok_and(Vec::is_empty) {
            return conn.done(written).map(drop);
        }
        let owner = sqlx::query(OWNER).bind(lease.row).bind(self.name());
        let rows = limit.run(owner.fetch_all(&mut *conn)).await;
        match refusal(lease, step.version, digest, &conn.done(rows)?)? {
            Known::Written => Ok(()),
            // The owner was another one a moment before.
            Known::Nothing => Err(unavailable("the thread changed hands")),
        }
    }
}

/// Binds the rows of a step as arrays, one for each column.
fn bind_rows<'q>(
    query: Query<'q, Postgres, PgArguments>,
    rows: &StepRows,
) -> Query<'q, Postgres, PgArguments> {
    let StepRows { messages, values, calls, asked, .. } = rows;
    query
        .bind(rows.archived.clone())
        .bind(messages.iter().map(|(seq, ..)| *seq).collect::<Vec<_>>())
        .bind(messages.iter().map(|(_, place, _)| *place).collect::<Vec<_>>())
        .bind(messages.iter().map(|(.., body)| body.clone()).collect::<Vec<_>>())
        .bind(rows.removed.clone())
        .bind(values.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>())
        .bind(values.iter().map(|(_, body)| body.clone()).collect::<Vec<_>>())
        .bind(calls.iter().map(|(key, ..)| key.clone()).collect::<Vec<_>>())
        .bind(calls.iter().map(|(_, state, ..)| *state).collect::<Vec<_>>())
        .bind(calls.iter().map(|(.., is_live, _)| *is_live).collect::<Vec<_>>())
        .bind(calls.iter().map(|(.., body)| body.clone()).collect::<Vec<_>>())
        .bind(asked.iter().map(|(id, ..)| id.clone()).collect::<Vec<_>>())
        .bind(asked.iter().map(|(_, body, _)| body.clone()).collect::<Vec<_>>())
        .bind(asked.iter().map(|(.., expires)| *expires).collect::<Vec<_>>())
        .bind(rows.closed.clone())
}
