//! What expansions call besides the dispatch: how arguments are kept and given back, boxed futures, the
//! link of a class hook, and how an impl finds its trait's methods.

pub(crate) mod arguments;
pub(crate) mod future;
pub(crate) mod link;
pub(crate) mod refused;
pub(crate) mod trait_method;
