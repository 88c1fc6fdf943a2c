//! Questions to people.

use hooks_agent_core::call::User;
use hooks_agent_core::store::{Filter, StoreError, Verdict, Waiting, check_name};

use crate::database::{Access, DatabaseError, List, Statement};
use crate::store::connections::Connections;
use crate::store::rows::{DecidedRow, decided_rows, waiting_row, write_json};
use crate::store::sql_store::SqlStore;
use crate::store::statements::Statements;

impl<D: Statements> SqlStore<D> {
    pub(crate) async fn questions(&self, filter: &Filter) -> Result<Vec<Waiting>, StoreError> {
        let filters = self.filters(filter);
        if filters.is_of_nothing() {
            return Ok(Vec::new());
        }
        self.fetch(Access::Read, filters.waiting()).await?.iter().map(waiting_row).collect()
    }

    /// Stores decisions. A request that has stored them already does nothing.
    pub(crate) async fn decide_all(
        &self,
        verdicts: &[Verdict],
        request: i64,
    ) -> Result<(), StoreError> {
        for by in verdicts.iter().filter_map(|verdict| verdict.by.as_ref()) {
            check_name("name of who decides", by.id())?;
        }
        let Connections { writer, statement: limit, .. } = self.connections();
        let mut conn = writer.get().await?;
        let decided = limit.run(self.decide(&mut conn, verdicts, request)).await;
        conn.done(decided)?
    }

    pub(crate) async fn refuse_expired(&self) -> Result<u64, StoreError> {
        let expired = Verdict::expired("");
        let refusal = write_json(&expired.decision)?;
        let by = expired.by.as_ref().map(User::id);
        let expire = Statement::new(D::EXPIRE).bind(self.name()).bind(refusal).bind(by);
        Ok(self.execute(expire).await?)
    }

    /// Stores decisions in one transaction. The inner error is why they are refused.
    async fn decide(
        &self,
        conn: &mut D::Connection,
        verdicts: &[Verdict],
        request: i64,
    ) -> Result<Result<(), StoreError>, DatabaseError> {
        let mut step = D::begin(conn, Access::Write, None).await?;
        let decided = self.store_decisions(&mut step, verdicts, request).await?;
        match decided {
            Ok(()) => step.commit().await?,
            Err(_) => step.rollback().await?,
        }
        Ok(decided)
    }

    async fn store_decisions(
        &self,
        step: &mut D::Connection,
        verdicts: &[Verdict],
        request: i64,
    ) -> Result<Result<(), StoreError>, DatabaseError> {
        // A database has no NUL in a text, and thus no question of such an id.
        let ids = verdicts.iter().map(|verdict| verdict.id.replace('\0', ""));
        let questions = Statement::new(D::QUESTIONS).bind(self.name()).bind(List::texts(ids));
        let rows = D::fetch(step, questions).await?;
        let (rows, approvals) = match decided_rows(&rows, verdicts, request) {
            Ok(rows) => rows,
            Err(error) => return Ok(Err(error)),
        };
        for row in rows {
            self.write_decision(step, row, request).await?;
        }
        for approval in approvals {
            if let Err(error) = self.remember(step, &approval).await? {
                return Ok(Err(error));
            }
        }
        Ok(Ok(()))
    }

    pub(crate) async fn write_decision(
        &self,
        step: &mut D::Connection,
        DecidedRow { id, decision, by, at }: DecidedRow,
        request: i64,
    ) -> Result<(), DatabaseError> {
        let decide = Statement::new(D::DECIDE);
        let decide = decide.bind(id).bind(decision).bind(by).bind(at).bind(request);
        D::execute(step, decide).await?;
        Ok(())
    }
}
