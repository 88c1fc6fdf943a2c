//! The questions of a call: how it asks people and waits for them.

use hooks_agent_core::store::Waiting;
use restate_sdk::context::{DurableFuture, RequestTarget};
use restate_sdk::prelude::*;

use crate::driver::{Awaited, Driver, INTERRUPT, Outside};
use crate::log::Entry;
use crate::service::{Asked, DESK};
use crate::verdict::SignedVerdict;

/// The signal that decides a question.
pub(crate) fn decision_signal(question: &str) -> String {
    format!("decision/{question}")
}

impl Driver<'_, '_> {
    /// Asks people, and waits until each question is decided, or the call is interrupted.
    pub(crate) async fn ask(&self, questions: &[Waiting]) -> Result<(), HandlerError> {
        let invocation = self.ctx.invocation_id().to_owned();
        let asked = Asked { invocation, questions: questions.to_vec() };
        let desk = |handler: &str| RequestTarget::object(DESK, self.ctx.key(), handler);
        let _ = self.ctx.request::<_, ()>(desk("ask"), Json(asked)).send();
        for question in questions {
            let verdict = self.decision(question).await;
            // The log says what came first.
            let entry = loop {
                if let Some((entry, _)) = self.log(Entry::Decided(verdict.clone()), None).await? {
                    break entry;
                }
            };
            match entry {
                Entry::Decided(Some(verdict)) => self.journal.decided(verdict.into()),
                _ => {
                    self.journal.interrupt();
                    break;
                }
            }
        }
        let ids: Vec<_> = questions.iter().map(|question| question.id.clone()).collect();
        let _ = self.ctx.request::<_, ()>(desk("close"), Json(ids)).send();
        Ok(())
    }

    /// Waits for the decision of a question; `None` if the call is interrupted.
    async fn decision(&self, question: &Waiting) -> Option<SignedVerdict> {
        if self.journal.is_interrupted() {
            return None;
        }
        let decided = self.ctx.signal::<Json<SignedVerdict>>(&decision_signal(&question.id));
        let decided = decided.map_ok(|Json(verdict)| Outside::Decided(verdict));
        let mut awaited: DurableFuturesUnordered<Awaited<'_>> = DurableFuturesUnordered::new();
        awaited.push(Box::pin(decided));
        awaited.push(self.interrupted());
        match awaited.next().await {
            Ok(Some((_, Ok(Outside::Decided(verdict))))) => Some(verdict),
            Ok(Some((_, Ok(Outside::Interrupted)))) => None,
            _ => {
                self.cancel();
                None
            }
        }
    }

    pub(crate) fn interrupted(&self) -> Awaited<'_> {
        Box::pin(self.ctx.signal::<()>(INTERRUPT).map_ok(|()| Outside::Interrupted))
    }
}
