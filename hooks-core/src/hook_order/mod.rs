//! The order that hooks ask for, by the names of others.

mod arrange;
mod fault;
mod order;
mod relation;

pub use arrange::arrange;
pub use fault::OrderFault;
pub use order::HookOrder;
pub use relation::Relation;
