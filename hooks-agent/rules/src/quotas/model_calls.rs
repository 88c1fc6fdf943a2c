//! The reservation of a model call, which what it used replaces.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::StreamExt;
use futures::stream::unfold;
use hooks_agent_core::call::{CallContext, RunId};
use hooks_agent_core::error::AgentError;
use hooks_agent_core::model::{ChatRequest, ModelAnswer, ModelError, TokenCount};
use hooks_agent_core::store::{Reservation, StoreError};
use hooks_core::BoxError;

use crate::quotas::hook::Inner;
use crate::quotas::quota::Over;

/// What the hooks of a call share: each model call has one key, whichever hooks count it.
pub(super) struct ModelCalls {
    /// What the keys begin with. Programs may give two calls the same id.
    id: RunId,
    /// What hooks have reserved.
    reserved: Mutex<Vec<Reservation>>,
}

impl Default for ModelCalls {
    fn default() -> Self {
        Self { id: RunId::random(), reserved: Mutex::default() }
    }
}

impl ModelCalls {
    pub(super) fn of(cx: &CallContext) -> Arc<Self> {
        static NUMBER: u8 = 0;
        cx.hook_state((&raw const NUMBER).addr())
    }

    /// Returns the key of the next request of a call.
    pub(super) fn key(&self, asked: u64) -> Arc<str> {
        format!("{}/{asked}", self.id).into()
    }

    /// Notes what a hook has reserved.
    fn note(&self, all: &[(usize, Reservation)]) {
        self.lock().extend(all.iter().map(|(_, it)| it.clone()));
    }

    /// Returns whether another hook has reserved the same.
    fn is_shared(&self, wanted: &Reservation) -> bool {
        let is_same = |it: &&Reservation| {
            it.key == wanted.key && it.quota == wanted.quota && it.subject == wanted.subject
        };
        self.lock().iter().filter(is_same).count() > 1
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Reservation>> {
        self.reserved.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a model call has reserved, in the call of the agent with the hook.
pub(super) struct Reserved {
    pub(super) inner: Arc<Inner>,
    pub(super) owner: CallContext,
    /// The numbers of the quotas, and what is reserved of them.
    pub(super) all: Vec<(usize, Reservation)>,
    calls: Arc<ModelCalls>,
}

impl Reserved {
    pub(super) fn new(
        inner: Arc<Inner>,
        owner: CallContext,
        all: Vec<(usize, Reservation)>,
        calls: Arc<ModelCalls>,
    ) -> Self {
        calls.note(&all);
        Self { inner, owner, all, calls }
    }

    /// Leaves to a hook further in what it counts too, each request by itself: there were several.
    pub(super) fn leave_shared(mut self) -> Self {
        self.all.retain(|(_, it)| !self.calls.is_shared(it));
        self
    }

    /// Gives everything back: no model has read the request.
    pub(super) async fn give_back(self) -> Result<(), StoreError> {
        let nothing = self.all.into_iter().map(|(_, it)| it.with_amount(0)).collect();
        self.owner.settle(nothing).await
    }

    /// Counts what a model call used that failed: what is known of its answer, nothing if no model has read the
    /// request, and else what is reserved. Beside other requests, it is no less than what is reserved.
    pub(super) async fn fail(
        self,
        error: &AgentError,
        request: &ChatRequest,
        asked: u64,
    ) -> Result<(), BoxError> {
        let AgentError::Model(error) = error else {
            return if asked == 0 { Ok(self.give_back().await?) } else { Ok(()) };
        };
        if let (ModelError::Empty { model, .. }, Some(mut count)) =
            (error, error.count_tokens(request))
        {
            count.is_estimated |= asked > 1;
            return self.count(model, count).await;
        }
        if asked == 0 || asked == 1 && is_free(error) {
            Ok(self.give_back().await?)
        } else {
            Ok(())
        }
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
        self.inner.unsettled.settle(&self.owner, used).await?;
        unknown.map_or(Ok(()), |why| Err(why.into()))
    }
}

/// Returns whether a failed model call costs nothing: no model has read the request.
fn is_free(error: &ModelError) -> bool {
    match error {
        ModelError::Status { status, .. } => *status < 500 && *status != 408,
        ModelError::Unreachable { is_unsent, .. } => *is_unsent,
        _ => false,
    }
}
