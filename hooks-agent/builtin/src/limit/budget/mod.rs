//! A limit of tokens and money.
//! The sums of a run and of a thread are kept with the thread, those of a day with the hook.

mod account;
mod builder;
mod days;
mod error;
mod hook;
mod ledger;
mod settings;
mod spent;

pub use builder::BudgetBuilder;
pub use error::{BudgetError, BudgetExceeded, SpendingError, UnknownPrice};
pub use hook::Budget;
pub use spent::{BudgetReport, BudgetScope, BudgetUnit, BudgetWarning, Spent};
