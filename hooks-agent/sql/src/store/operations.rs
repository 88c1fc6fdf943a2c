//! Operations of operators.

use hooks_agent_core::store::{Filter, StoreError, StoreReport};

use crate::database::{Access, Columns, DatabaseError, List, Statement};
use crate::store::connections::Connections;
use crate::store::rows::{Filters, store_report};
use crate::store::sql_store::SqlStore;
use crate::store::statements::Statements;

impl<D: Statements> SqlStore<D> {
    pub(crate) async fn prune_threads(&self, filter: Filter) -> Result<u64, StoreError> {
        let filters = self.filters(&filter);
        if filters.is_of_nothing() {
            return Ok(0);
        }
        let Connections { writer, maintenance: limit, .. } = self.connections();
        let mut conn = writer.get().await?;
        let pruned = limit.run(self.prune(&mut conn, &filters, filter.is_of_namespace())).await;
        Ok(conn.done(pruned)?)
    }

    /// Removes the history of threads in one transaction.
    async fn prune(
        &self,
        conn: &mut D::Connection,
        filters: &Filters<'_>,
        is_of_namespace: bool,
    ) -> Result<u64, DatabaseError> {
        let limit = self.connections().maintenance;
        let mut step = D::begin(conn, Access::Write, Some(limit)).await?;
        let rows = D::fetch(&mut step, filters.prunable()).await?;
        let ids: Vec<_> = rows.iter().map(|row| row.int(0)).collect::<Result<_, _>>()?;
        let mut count = 0;
        for sql in D::PRUNE {
            let statement = Statement::new(sql).bind(List::ints(ids.iter().copied()));
            count += D::execute(&mut step, statement).await?;
        }
        if is_of_namespace {
            let quotas = Statement::new(D::PRUNE_QUOTAS).bind(self.name());
            count += D::execute(&mut step, quotas).await?;
            D::execute(&mut step, Statement::new(D::PRUNE_SUMS).bind(self.name())).await?;
            let approvals = Statement::new(D::PRUNE_APPROVALS).bind(self.name());
            count += D::execute(&mut step, approvals).await?;
        }
        step.commit().await?;
        Ok(count)
    }

    pub(crate) async fn count_rows(&self) -> Result<StoreReport, StoreError> {
        let Connections { reader, maintenance: limit, .. } = self.connections();
        let mut conn = reader.get().await?;
        let counted = limit.run(async {
            let mut step = D::begin(&mut conn, Access::Read, Some(*limit)).await?;
            let count = Statement::new(D::REPORT).bind(self.name());
            let rows = D::fetch(&mut step, count).await?;
            step.commit().await?;
            Ok(rows)
        });
        let counted = counted.await;
        let rows = conn.done(counted)?;
        let row = rows.first().ok_or(DatabaseError::from(sqlx::Error::RowNotFound))?;
        store_report(row)
    }
}
