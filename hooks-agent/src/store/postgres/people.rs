//! Questions to people.

use hooks_agent_core::store::{Filter, StoreError, Verdict, Waiting, check_name};
use sqlx::Connection;
use sqlx::postgres::PgConnection;

use crate::store::postgres::statements::{DECIDE, EXPIRE, QUESTIONS};
use crate::store::postgres::store::PostgresStore;
use crate::store::sql::{DecidedRow, decided_rows, filtered, waiting_row, write_json};

impl PostgresStore {
    pub(super) async fn questions(&self, filter: &Filter) -> Result<Vec<Waiting>, StoreError> {
        let filters = self.filters(filter);
        if filters.is_of_nothing() {
            return Ok(Vec::new());
        }
        let mut conn = self.connections().pool.get().await?;
        let rows = filtered!(filters.waiting()).fetch_all(&mut *conn);
        let rows = self.connections().statement.run(rows).await;
        conn.done(rows)?.iter().map(waiting_row).collect()
    }

    /// Stores decisions. A request that has stored them already does nothing.
    pub(super) async fn decide_all(
        &self,
        verdicts: &[Verdict],
        request: i64,
    ) -> Result<(), StoreError> {
        for by in verdicts.iter().filter_map(|verdict| verdict.by.as_deref()) {
            check_name("name of who decides", by)?;
        }
        let mut conn = self.connections().pool.get().await?;
        let decided = decide(&mut conn, self.name(), verdicts, request);
        let decided = self.connections().statement.run(decided).await;
        conn.done(decided)?
    }

    pub(super) async fn refuse_expired(&self) -> Result<u64, StoreError> {
        let expired = Verdict::expired("");
        let refusal = write_json(&expired.decision)?;
        let mut conn = self.connections().pool.get().await?;
        let expired = sqlx::query(EXPIRE)
            .bind(self.name())
            .bind(refusal)
            .bind(expired.by.as_deref())
            .execute(&mut *conn);
        let expired = self.connections().statement.run(expired).await;
        conn.done(expired).map(|done| done.rows_affected())
    }
}

/// Stores decisions in one transaction. The inner error is why they are refused.
async fn decide(
    conn: &mut PgConnection,
    namespace: &str,
    verdicts: &[Verdict],
    request: i64,
) -> Result<Result<(), StoreError>, sqlx::Error> {
    let mut step = conn.begin().await?;
    let decided = store_decisions(&mut step, namespace, verdicts, request).await;
    match decided {
        Ok(Ok(())) => step.commit().await.map(Ok),
        refused => step.rollback().await.and(refused),
    }
}

async fn store_decisions(
    step: &mut PgConnection,
    namespace: &str,
    verdicts: &[Verdict],
    request: i64,
) -> Result<Result<(), StoreError>, sqlx::Error> {
    // The rows are locked: nobody else decides between reading and writing.
    let ids: Vec<_> = verdicts.iter().map(|verdict| verdict.id.replace('\0', "")).collect();
    let rows = sqlx::query(QUESTIONS).bind(namespace).bind(ids).fetch_all(&mut *step).await?;
    let rows = match decided_rows(&rows, verdicts, request) {
        Ok(rows) => rows,
        Err(error) => return Ok(Err(error)),
    };
    for DecidedRow { id, decision, by, at } in rows {
        let query = sqlx::query(DECIDE).bind(id).bind(decision).bind(by).bind(at).bind(request);
        query.execute(&mut *step).await?;
    }
    Ok(Ok(()))
}
