//! Quotas: how much of something may be used in a window of time, by whom.

mod ledger;
mod reservation;
mod window;

pub(crate) use ledger::Ledger;
pub use reservation::{Admitted, QuotaExceeded, QuotaUse, Reservation, Used, admit};
pub use window::Window;
