//! Spending and its limits: sums, scopes, units, reports and warnings.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a [`Budget`](crate::limit::Budget) is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BudgetScope {
    /// A run: a call of the agent, with the calls that resume it.
    Run,
    /// A thread, over all its calls.
    Thread,
    /// A day in UTC, over all agents with the hook or a clone of it.
    Day,
}

/// What a [`Budget`](crate::limit::Budget) counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BudgetUnit {
    /// Tokens of requests and answers.
    Tokens,
    /// Money, in millionths.
    Money,
}

/// What was spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Spent {
    /// The tokens of requests and answers.
    pub tokens: u64,
    /// The money, in millionths; 0 without a [`PriceTable`](crate::limit::PriceTable).
    pub money: u64,
    /// Whether a part of it is an estimate.
    pub estimated: bool,
}

impl Spent {
    pub(super) fn add(&mut self, more: Self) {
        self.tokens = self.tokens.saturating_add(more.tokens);
        self.money = self.money.saturating_add(more.money);
        self.estimated |= more.estimated;
    }

    pub(super) fn of(self, unit: BudgetUnit) -> u64 {
        match unit {
            BudgetUnit::Tokens => self.tokens,
            BudgetUnit::Money => self.money,
        }
    }
}

/// What a run, its thread and the day have spent, as [`Budget::report`] returns it.
///
/// [`Budget::report`]: crate::limit::Budget::report
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BudgetReport {
    /// What the run has spent.
    pub run: Spent,
    /// What the thread has spent.
    pub thread: Spent,
    /// What the day has spent.
    pub day: Spent,
}

/// That most of a budget is spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BudgetWarning {
    /// What the budget is for.
    pub scope: BudgetScope,
    /// What is counted.
    pub unit: BudgetUnit,
    /// What is spent.
    pub spent: u64,
    /// What may be spent.
    pub limit: u64,
    /// Whether a part of what is spent is an estimate.
    pub estimated: bool,
}

/// A limit of one scope in one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cap {
    pub(super) scope: BudgetScope,
    pub(super) unit: BudgetUnit,
    pub(super) limit: u64,
    /// From here on there is a warning.
    pub(super) warns_at: u64,
}

impl Cap {
    /// Returns the warning of a step from one sum to the next, if it passes the threshold.
    pub(super) fn warning(self, before: Spent, after: Spent) -> Option<BudgetWarning> {
        let Self { scope, unit, limit, warns_at } = self;
        let (before, spent) = (before.of(unit), after.of(unit));
        let passes = before < warns_at && warns_at <= spent;
        let estimated = after.estimated;
        passes.then_some(BudgetWarning { scope, unit, spent, limit, estimated })
    }
}

impl fmt::Display for BudgetScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Run => "run",
            Self::Thread => "thread",
            Self::Day => "day",
        })
    }
}
