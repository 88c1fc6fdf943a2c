//! What the parts of a signature mean: receiver, parameters and what the args struct keeps of them, return
//! type, generics.

pub(crate) mod associated;
pub(crate) mod generics;
pub(crate) mod owned;
pub(crate) mod params;
pub(crate) mod receiver;
pub(crate) mod refused;
pub(crate) mod returned;
