//! The thread of a call: its messages, the values that hooks keep with it, and where it is kept.

mod approvals;
mod history;
mod inbox;
mod kept;
mod quota;
mod sub_threads;
mod user;
mod values;

pub(super) use kept::Kept;
pub(super) use quota::Reserved;
