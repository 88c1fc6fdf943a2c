//! The limits of a budget, its prices and its warnings.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::limit::budget::error::{BudgetExceeded, UnknownPrice};
use crate::limit::budget::ledger::Ledger;
use crate::limit::budget::spent::{BudgetReport, BudgetScope, BudgetWarning, Cap, Spent};
use crate::limit::exit::Exit;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::model::PriceTable;

type OnWarning = dyn Fn(&BudgetWarning) + Send + Sync;

/// What the builder sets.
pub(super) struct Settings {
    pub(super) caps: Vec<Cap>,
    pub(super) limits_money: bool,
    pub(super) prices: Option<PriceTable>,
    pub(super) exit: Exit,
    /// What a reply says in place of the limit that is spent.
    pub(super) text: Option<String>,
    pub(super) on_warning: Option<Arc<OnWarning>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            caps: Vec::new(),
            limits_money: false,
            prices: None,
            exit: Exit::End,
            text: None,
            on_warning: None,
        }
    }
}

impl Settings {
    /// Returns the first limit that is spent.
    pub(super) fn exceeded(&self, report: &BudgetReport) -> Option<BudgetExceeded> {
        self.caps.iter().find_map(|cap| {
            let spent = match cap.scope {
                BudgetScope::Run => report.run,
                BudgetScope::Thread => report.thread,
                BudgetScope::Day => report.day,
            };
            let Cap { scope, unit, limit, .. } = *cap;
            let (spent, estimated) = (spent.of(unit), spent.estimated);
            let exceeded = BudgetExceeded { scope, unit, spent, limit, estimated };
            (spent >= limit).then_some(exceeded)
        })
    }

    pub(super) fn check_price(&self, model: &str) -> Result<(), UnknownPrice> {
        let prices = self.prices.as_ref().filter(|_| self.limits_money);
        let is_known = prices.is_none_or(|prices| prices.cost(model, 0, 0).is_some());
        if is_known { Ok(()) } else { Err(UnknownPrice { model: model.to_owned() }) }
    }

    /// Adds what a model call spent to all sums, and warns of those that pass a threshold.
    pub(super) fn charge(&self, ledger: &Ledger, cx: &CallContext, day_key: &str, more: Spent) {
        for (scope, before, after) in ledger.add(cx, day_key, more) {
            let caps = self.caps.iter().filter(|cap| cap.scope == scope);
            for warning in caps.filter_map(|cap| cap.warning(before, after)) {
                self.warn(cx.agent_name(), &warning);
            }
        }
    }

    /// Returns what tokens of a model cost; nothing without a price.
    pub(super) fn cost(&self, model: &str, input: u64, output: u64) -> u64 {
        let prices = self.prices.as_ref();
        prices.and_then(|prices| prices.cost(model, input, output)).unwrap_or(0)
    }

    fn warn(&self, agent: &str, warning: &BudgetWarning) {
        let BudgetWarning { scope, unit, spent, limit, estimated } = *warning;
        let scope = tracing::field::display(scope);
        tracing::warn!(target: "hooks_agent::builtin::limit", agent, scope, ?unit, spent, limit, estimated, "most of a budget is spent");
        if let Some(on_warning) = &self.on_warning {
            // It was reported; a budget does not depend on who listens.
            drop(catch_unwind(AssertUnwindSafe(|| on_warning(warning))));
        }
    }
}
