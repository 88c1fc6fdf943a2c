//! The errors of budgets.

use std::fmt;

use crate::limit::budget::spent::{BudgetScope, BudgetUnit};
use hooks_agent_core::memory::ThreadValueError;
use hooks_agent_core::store::StoreError;

/// Why a budget cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BudgetError {
    /// It limits nothing.
    #[error("the budget has no limit, set one of tokens or money")]
    NoLimit,
    /// It limits money, but does not know what tokens cost.
    #[error("a budget of money needs a `PriceTable`")]
    NoPrices,
    /// The fraction at which it warns is not between 0 and 1.
    #[error("a budget warns at a fraction between 0 and 1")]
    InvalidFraction,
    /// It cannot let calls go on beyond the limit.
    #[error("a budget ends with `Exit::End` or `Exit::Error`")]
    InvalidExit,
    /// It has a text that no reply shows.
    #[error("the `text` of a budget is the reply of `Exit::End`: leave it out with `Exit::Error`")]
    UnusedText,
}

/// Why it is not known what is spent. A call is refused then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpendingError {
    /// The sums of the thread cannot be read.
    #[error(transparent)]
    Thread(#[from] ThreadValueError),
    /// The store does not take the sums of the thread.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The closure that names whose day a call spends panicked.
    #[error("the closure that names whose day a call spends panicked")]
    DayOf,
}

/// The error of a call whose [`Budget`](crate::limit::Budget) is spent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BudgetExceeded {
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

/// The error of a call of a model without a price, with a budget of money.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("model `{model}` has no price, add it to the `PriceTable` of the budget")]
#[non_exhaustive]
pub struct UnknownPrice {
    /// The name of the model.
    pub model: String,
}

impl fmt::Display for BudgetExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { scope, unit, spent, limit, estimated } = *self;
        write!(f, "Budget of the {scope} is spent: ")?;
        match unit {
            BudgetUnit::Tokens => write!(f, "{spent} of {limit} tokens")?,
            BudgetUnit::Money => write!(f, "{} of {}", Money(spent), Money(limit))?,
        }
        f.write_str(if estimated { " (partly estimated)" } else { "" })
    }
}

impl std::error::Error for BudgetExceeded {}

/// Millionths, written as a decimal number.
struct Money(u64);

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}
