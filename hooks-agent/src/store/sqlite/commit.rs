//! Writes steps.

use hooks_agent_core::store::{Lease, Step, StoreError};
use serde::Serialize;

use crate::store::sql::{Known, StepRows, is_raised, refusal, signed, write_json};
use crate::store::sqlite::statements::{COMMIT, OWNER};
use crate::store::sqlite::store::SqliteStore;

impl SqliteStore {
    pub(super) async fn commit_step(&self, lease: &Lease, step: &Step) -> Result<(), StoreError> {
        let rows = StepRows::of(step)?;
        let digest = rows.digest(step);
        let query = sqlx::query(COMMIT)
            .bind(lease.row)
            .bind(self.name())
            .bind(lease.owner.to_string())
            .bind(signed(lease.fence))
            .bind(signed(step.version))
            .bind(rows.next)
            .bind(rows.state)
            .bind(i64::from(step.in_call))
            .bind(step.user.as_deref())
            .bind(i64::from(step.releases))
            .bind(list(&rows.archived)?)
            .bind(list(&rows.messages)?)
            .bind(list(&rows.removed)?)
            .bind(list(&rows.values)?)
            .bind(list(&rows.calls)?)
            .bind(list(&rows.asked)?)
            .bind(list(&rows.closed)?)
            .bind(digest);
        let mut conn = self.connections().writer.get().await?;
        match query.execute(&mut *conn).await {
            Err(error) if is_raised(&error) => {
                let owner = sqlx::query(OWNER).bind(lease.row).bind(self.name());
                let rows = owner.fetch_all(&mut *conn).await;
                match refusal(lease, step.version, digest, &conn.done(rows)?)? {
                    Known::Written => Ok(()),
                    Known::Nothing => Err(self.connections().place.error(&error)),
                }
            }
            written => conn.done(written).map(drop),
        }
    }
}

/// Returns a list for a statement; NULL if it is empty.
fn list<T: Serialize>(items: &[T]) -> Result<Option<String>, StoreError> {
    if items.is_empty() { Ok(None) } else { write_json(&items).map(Some) }
}
