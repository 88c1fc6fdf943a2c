//! Messages for the call that runs on a thread.

use hooks_agent_core::message::Msg;
use hooks_agent_core::store::{Claim, InboxMessage, Lease, Steered, StoreError, ThreadKey};

use crate::database::{Access, Columns, DatabaseError, Statement, signed, unsigned};
use crate::store::connections::Connections;
use crate::store::rows::{read_json, write_json};
use crate::store::sql_store::SqlStore;
use crate::store::statements::Statements;

impl<D: Statements> SqlStore<D> {
    /// Puts a message into an inbox. A key that comes again, because an answer was lost, puts nothing there.
    pub(crate) async fn put_into_inbox(
        &self,
        key: &ThreadKey,
        claim: &Claim,
        once: &str,
        message: &Msg,
    ) -> Result<Steered, StoreError> {
        let body = write_json(message)?;
        let Connections { writer, statement: limit, .. } = self.connections();
        let mut conn = writer.get().await?;
        let put = limit.run(async {
            let mut step = D::begin(&mut conn, Access::Write, None).await?;
            let put = self.put_in(&mut step, key, claim, once, body).await?;
            match put {
                Ok(_) => step.commit().await?,
                Err(_) => step.rollback().await?,
            }
            Ok(put)
        });
        let put = put.await;
        conn.done(put)?
    }

    /// Puts a message into an inbox, in a transaction. The inner error is why it is refused.
    async fn put_in(
        &self,
        step: &mut D::Connection,
        key: &ThreadKey,
        claim: &Claim,
        once: &str,
        body: String,
    ) -> Result<Result<Steered, StoreError>, DatabaseError> {
        // Locked: two messages never get the same number.
        let rows = D::fetch(step, self.of_thread(D::LOCK_THREAD, key)).await?;
        let thread = match rows.first() {
            // Whose it is, is written with its first step.
            Some(thread) if thread.int(3)? > 0 => thread,
            _ => return Ok(Err(StoreError::UnknownThread(key.clone()))),
        };
        if !claim.allows(thread.text_or_null(1)?.as_deref(), false) {
            return Ok(Err(StoreError::OtherUser { thread: key.clone() }));
        }
        let put = Statement::new(D::PUT_INTO_INBOX)
            .bind(thread.int(0)?)
            .bind(once)
            .bind(body)
            .bind(claim.user.as_deref());
        D::execute(step, put).await?;
        let is_running = thread.int(2)? != 0;
        Ok(Ok(if is_running { Steered::Running } else { Steered::Waiting }))
    }

    /// Returns the messages that come after one, and removes the texts of those that are stored as taken: guards may
    /// have removed something of them. Their keys stay, so that one whose answer was lost is not put there again.
    pub(crate) async fn read_inbox(
        &self,
        lease: &Lease,
        after: u64,
        stored: u64,
    ) -> Result<Vec<InboxMessage>, StoreError> {
        let of_lease = |sql, number| {
            let owner = lease.owner.to_string();
            let of = Statement::new(sql).bind(lease.row).bind(owner).bind(signed(lease.fence));
            of.bind(signed(number))
        };
        let rows = self.fetch(Access::Write, of_lease(D::INBOX, after)).await?;
        let mut messages = Vec::with_capacity(rows.len());
        let mut is_left = false;
        for row in &rows {
            if unsigned(row.int(0)?) <= after {
                is_left |= unsigned(row.int(0)?) <= stored;
                continue;
            }
            let message: Msg = read_json("a message of an inbox", &row.text(1)?)?;
            let said_by = row.text_or_null(2)?.map(Into::into);
            messages.push(InboxMessage::new(unsigned(row.int(0)?), message.into(), said_by));
        }
        if is_left {
            self.execute(of_lease(D::TAKEN, stored)).await?;
        }
        Ok(messages)
    }
}
