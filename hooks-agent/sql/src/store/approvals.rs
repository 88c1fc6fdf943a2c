//! Approvals that are remembered.

use std::collections::BTreeSet;
use std::sync::Arc;

use hooks_agent_core::call::User;
use hooks_agent_core::store::{
    Approval, Filter, StoreError, Waiting, check_name, recall as answers,
};

use crate::database::{Access, Columns, DatabaseError, List, Statement, signed, unsigned};
use crate::store::connections::Connections;
use crate::store::rows::{DecidedRow, approval_of, scope_of, scopes_of, waiting_row, write_json};
use crate::store::sql_store::SqlStore;
use crate::store::statements::Statements;

impl<D: Statements> SqlStore<D> {
    pub(crate) async fn approval_list(&self, filter: &Filter) -> Result<Vec<Approval>, StoreError> {
        let filters = self.filters(filter);
        if filters.is_of_nothing() {
            return Ok(Vec::new());
        }
        self.fetch(Access::Read, filters.approvals()).await?.iter().map(approval_of).collect()
    }

    /// Writes an approval in the transaction that stores the decision.
    pub(crate) async fn remember(
        &self,
        step: &mut D::Connection,
        approval: &Approval,
    ) -> Result<Result<(), StoreError>, DatabaseError> {
        let body = match write_json(approval) {
            Ok(body) => body,
            Err(error) => return Ok(Err(error)),
        };
        let remember = Statement::new(D::REMEMBER)
            .bind(&*approval.id)
            .bind(self.name())
            .bind(&*approval.agent)
            .bind(approval.of_thread())
            .bind(approval.user.as_deref())
            .bind(&approval.tool)
            .bind(body)
            .bind(&*approval.given_by)
            .bind(signed(approval.given_at))
            .bind(signed(approval.expires))
            .bind(signed(approval.rule.most_uses()))
            .bind(approval.most_sum().map(signed))
            .bind(scope_of(approval));
        D::execute(step, remember).await?;
        Ok(Ok(()))
    }

    pub(crate) async fn recall_questions(
        &self,
        ids: &[Arc<str>],
        request: i64,
    ) -> Result<Vec<Waiting>, StoreError> {
        let Connections { writer, statement: limit, .. } = self.connections();
        let mut conn = writer.get().await?;
        let recalled = limit.run(async {
            let mut step = D::begin(&mut conn, Access::Write, None).await?;
            let recalled = self.recall_in(&mut step, ids, request).await?;
            match recalled {
                Ok(_) => step.commit().await?,
                Err(_) => step.rollback().await?,
            }
            Ok(recalled)
        });
        let recalled = recalled.await;
        conn.done(recalled)?
    }

    /// Answers questions in a transaction. The inner error is why it is given up.
    async fn recall_in(
        &self,
        step: &mut D::Connection,
        ids: &[Arc<str>],
        request: i64,
    ) -> Result<Result<Vec<Waiting>, StoreError>, DatabaseError> {
        let ids = ids.iter().map(|id| id.replace('\0', ""));
        let questions = Statement::new(D::QUESTIONS).bind(self.name()).bind(List::texts(ids));
        let rows = D::fetch(step, questions).await?;
        let now = rows.first().map_or(Ok(0), |row| row.int(7)).map(unsigned)?;
        let questions: Result<Vec<_>, _> = rows.iter().map(waiting_row).collect();
        let mut questions = match questions {
            Ok(questions) => questions,
            Err(error) => return Ok(Err(error)),
        };
        let reached = questions.iter().flat_map(|question| {
            let scopes = scopes_of(&question.thread, question.user.as_deref());
            scopes.into_iter().map(|scope| (&*question.agent, &*question.tool, scope))
        });
        let reached: BTreeSet<_> = reached.collect();
        let usable = Statement::new(D::USABLE).bind(self.name()).bind(vec![
            List::texts(reached.iter().map(|(agent, ..)| *agent)),
            List::texts(reached.iter().map(|(_, tool, _)| *tool)),
            List::texts(reached.iter().map(|(.., scope)| &**scope)),
        ]);
        let rows = D::fetch(step, usable).await?;
        let approvals: Result<Vec<_>, _> = rows.iter().map(approval_of).collect();
        let mut approvals = match approvals {
            Ok(approvals) => approvals,
            Err(error) => return Ok(Err(error)),
        };
        let before: Vec<_> = approvals.iter().map(|approval| approval.uses).collect();
        for (id, decided) in answers(&questions, &mut approvals, now) {
            let row = match DecidedRow::new(&id, &decided) {
                Ok(row) => row,
                Err(error) => return Ok(Err(error)),
            };
            self.write_decision(step, row, request).await?;
            if let Some(question) = questions.iter_mut().find(|question| question.id == id) {
                question.decided = Some(decided);
            }
        }
        let used =
            approvals.iter().zip(before).filter(|(approval, before)| approval.uses > *before);
        for (approval, _) in used {
            let used = Statement::new(D::USED).bind(self.name()).bind(&*approval.id);
            let used = used.bind(signed(approval.uses)).bind(signed(approval.sum));
            D::execute(step, used).await?;
        }
        questions.retain(|question| {
            let decided = question.decided.as_ref();
            !question.is_closed && decided.is_some_and(|decided| decided.approval.is_some())
        });
        Ok(Ok(questions))
    }

    pub(crate) async fn revoke_approval(&self, id: &str, by: &User) -> Result<bool, StoreError> {
        check_name("name of who revokes", by.id())?;
        if id.contains('\0') {
            return Ok(false);
        }
        let revoke = Statement::new(D::REVOKE).bind(self.name()).bind(id).bind(by.id());
        Ok(self.execute(revoke).await? > 0)
    }

    /// Removes the approvals for threads that are gone, and those of a user, in the transaction that forgets
    /// threads.
    pub(crate) async fn forget_approvals(
        &self,
        step: &mut D::Connection,
        filter: &Filter,
    ) -> Result<(), DatabaseError> {
        D::execute(step, Statement::new(D::FORGET_APPROVALS).bind(self.name())).await?;
        if let Some(user) = filter.user.as_deref().filter(|_| filter.is_of_user()) {
            let of_user = Statement::new(D::FORGET_APPROVALS_OF).bind(self.name()).bind(user);
            D::execute(step, of_user.bind(filter.agent.as_deref())).await?;
        }
        Ok(())
    }
}
