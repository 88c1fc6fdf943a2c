//! The reservation of a model call, which what it used replaces.

use std::sync::{Arc, Mutex, PoisonError};

use futures::StreamExt;
use futures::stream::unfold;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::model::{ChatRequest, ModelAnswer, ModelError, TokenCount};
use hooks_agent_core::store::{Reservation, StoreError};
use hooks_core::BoxError;

use crate::quotas::hook::Inner;
use crate::quotas::quota::Over;

/// What a model call has reserved, in the call of the agent with the hook.
pub(super) struct Reserved {
    pub(super) inner: Arc<Inner>,
    pub(super) owner: CallContext,
    /// The numbers of the quotas, and what is reserved of them.
    pub(super) all: Vec<(usize, Reservation)>,
}

impl Reserved {
    /// Gives everything back: no model has read the request.
    pub(super) async fn give_back(self) -> Result<(), StoreError> {
        let nothing = self.all.into_iter().map(|(_, it)| it.with_amount(0)).collect();
        self.owner.settle(nothing).await
    }

    /// Counts what an answer uses. The store has it before the end of the answer is read; of an answer whose end is
    /// never read, it keeps what is reserved.
    pub(super) fn settle(self, answer: ModelAnswer, request: &ChatRequest) -> ModelAnswer {
        let count = Arc::new(Mutex::new(None));
        let (counted, model) = (count.clone(), answer.model().to_owned());
        let answer = answer.count_tokens(request, move |count| {
            *counted.lock().unwrap_or_else(PoisonError::into_inner) = Some(count);
        });
        let mut left = Some(self);
        answer.map_stream(|rest| {
            let stream = unfold((rest, left.take(), count, model), |mut state| async move {
                let (rest, left, count, model) = &mut state;
                let mut chunk = rest.next().await;
                let count = count.lock().unwrap_or_else(PoisonError::into_inner).take();
                if let Some(count) = count
                    && let Some(reserved) = left.take()
                    && let Err(error) = reserved.count(model, count).await
                {
                    chunk = Some(Err(ModelError::other(&**model, error)));
                }
                Some((chunk?, state))
            });
            Box::pin(stream)
        })
    }

    /// Writes what was used. An estimate is never less than what is reserved.
    async fn count(self, model: &str, count: TokenCount) -> Result<(), BoxError> {
        let (input, output) = (count.usage.input_tokens, count.usage.output_tokens);
        let mut used = Vec::with_capacity(self.all.len());
        let mut unknown = None;
        for (index, it) in self.all {
            let amount = match self.inner.quotas[index].over {
                Over::Money => match self.inner.cost(model, input, output) {
                    Ok(amount) => amount,
                    Err(why) => {
                        // It keeps what it has reserved; the others are counted.
                        unknown = Some(why);
                        continue;
                    }
                },
                _ => input.saturating_add(output),
            };
            let amount = if count.is_estimated { amount.max(it.amount) } else { amount };
            used.push(it.with_amount(amount));
        }
        self.owner.settle(used).await?;
        unknown.map_or(Ok(()), |why| Err(why.into()))
    }
}
