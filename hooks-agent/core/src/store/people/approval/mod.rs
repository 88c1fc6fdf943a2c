//! Remembered approvals: answers of people that reach beyond their question.

mod book;
mod error;
mod given;
mod reach;
mod recall;
mod rule;

pub(crate) use book::Book;
pub use error::NotRemembered;
pub use given::Approval;
pub use reach::{Reach, Remember};
pub use recall::recall;
pub use rule::{Allowed, ApprovalRule};
