//! The account of one model call, which charges the cost of the call.

use std::sync::Arc;

use crate::limit::budget::error::SpendingError;
use crate::limit::budget::ledger::Ledger;
use crate::limit::budget::settings::Settings;
use crate::limit::budget::spent::{BudgetScope, Spent};
use hooks_agent_core::call::CallContext;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::model::{ChatRequest, ModelAnswer, ModelError, TokenCount};

/// The account of one model call. Dropped before it is settled, it charges an estimate of the
/// request: the provider may have begun.
pub(super) struct Account {
    settings: Arc<Settings>,
    ledger: Ledger,
    cx: CallContext,
    day_key: String,
    model: String,
    request: Option<ChatRequest>,
    /// The number by which the store knows that the model call is open.
    open: Option<u64>,
}

impl Account {
    pub(super) fn new(
        settings: Arc<Settings>,
        ledger: Ledger,
        cx: CallContext,
        day_key: String,
        model: String,
        request: ChatRequest,
    ) -> Self {
        Self { settings, ledger, cx, day_key, model, request: Some(request), open: None }
    }

    /// Notes in the store what the model call spends at least, if the thread has a limit.
    pub(super) async fn open(&mut self) -> Result<(), SpendingError> {
        let limits_thread = self.settings.caps.iter().any(|cap| cap.scope == BudgetScope::Thread);
        if let Some(request) = self.request.as_ref().filter(|_| limits_thread) {
            let least = self.spent(request.estimate_tokens(), 0, true);
            self.open = Some(self.ledger.open(&self.cx, least).await?);
        }
        Ok(())
    }

    fn spent(&self, input: u64, output: u64, estimated: bool) -> Spent {
        let money = self.settings.cost(&self.model, input, output);
        Spent { tokens: input.saturating_add(output), money, estimated }
    }

    fn charge(&mut self, input: u64, output: u64, estimated: bool) {
        let more = self.spent(input, output, estimated);
        self.end();
        self.settings.charge(&self.ledger, &self.cx, &self.day_key, more);
    }

    fn end(&mut self) {
        if let Some(number) = self.open.take() {
            self.ledger.close(&self.cx, number);
        }
    }

    /// Charges what the answer costs, once it ends.
    pub(super) fn settle(mut self, answer: ModelAnswer) -> ModelAnswer {
        let Some(request) = self.request.take() else { return answer };
        answer.model().clone_into(&mut self.model);
        answer.count_tokens(&request, move |count| {
            self.charge(count.usage.input_tokens, count.usage.output_tokens, count.is_estimated);
        })
    }

    /// Charges what a model call costs that failed: what is known of its answer, nothing if no model has read the
    /// request, and else an estimate of the request.
    pub(super) fn fail(mut self, error: &AgentError) {
        let request = self.request.as_ref();
        let known = request.and_then(|request| match error {
            AgentError::Model(error) => error.count_tokens(request),
            _ => None,
        });
        if let Some(TokenCount { usage, is_estimated, .. }) = known {
            self.request = None;
            self.charge(usage.input_tokens, usage.output_tokens, is_estimated);
        } else if is_free(error) {
            self.close();
        }
    }

    /// Charges nothing.
    pub(super) fn close(mut self) {
        self.request = None;
        self.end();
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        if let Some(request) = self.request.take() {
            self.charge(request.estimate_tokens(), 0, true);
        }
    }
}

/// Returns whether a failed model call costs nothing: no model has read the request.
fn is_free(error: &AgentError) -> bool {
    match error {
        AgentError::Model(ModelError::Status { .. } | ModelError::Unreachable { .. }) => true,
        AgentError::Model(_) => false,
        _ => true,
    }
}
