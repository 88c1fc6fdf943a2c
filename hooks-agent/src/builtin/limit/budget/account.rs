//! What one model call spends.

use std::sync::Arc;

use crate::builtin::limit::budget::ledger::Ledger;
use crate::builtin::limit::budget::settings::Settings;
use crate::builtin::limit::budget::spent::Spent;
use crate::call::CallContext;
use crate::error::AgentError;
use crate::model::{ChatRequest, ModelAnswer, ModelError};

/// The account of one model call. Dropped before it is settled, it charges an estimate of the
/// request: the provider may have begun.
pub(super) struct Account {
    settings: Arc<Settings>,
    ledger: Ledger,
    cx: CallContext,
    day_key: String,
    model: String,
    request: Option<ChatRequest>,
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
        Self { settings, ledger, cx, day_key, model, request: Some(request) }
    }

    fn charge(&self, input: u64, output: u64, estimated: bool) {
        let money = self.settings.cost(&self.model, input, output);
        let more = Spent { tokens: input.saturating_add(output), money, estimated };
        self.settings.charge(&self.ledger, &self.cx, &self.day_key, more);
    }

    /// Charges what the answer costs, once it ends.
    pub(super) fn settle(mut self, answer: ModelAnswer) -> ModelAnswer {
        let Some(request) = self.request.take() else { return answer };
        answer.model().clone_into(&mut self.model);
        answer.count_tokens(&request, move |count| {
            self.charge(count.usage.input_tokens, count.usage.output_tokens, count.is_estimated);
        })
    }

    /// Charges nothing.
    pub(super) fn close(mut self) {
        self.request = None;
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
pub(super) fn is_free(error: &AgentError) -> bool {
    match error {
        AgentError::Model(ModelError::Status { .. } | ModelError::Unreachable { .. }) => true,
        AgentError::Model(_) => false,
        _ => true,
    }
}
