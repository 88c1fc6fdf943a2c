//! Items that expansions call besides the dispatch: arguments that are kept and given back, boxed
//! futures, the link of a class hook, and the methods of a trait for its impls.

pub(crate) mod arguments;
pub(crate) mod future;
pub(crate) mod link;
pub(crate) mod refused;
pub(crate) mod trait_method;
