//! Values of expressions, why there is none, and the steps that are left.

pub(super) mod fault;
pub(super) mod value;
