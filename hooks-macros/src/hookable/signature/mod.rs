//! The parts of a signature: receiver, parameters and their fields, return type, generics.

pub(crate) mod associated;
pub(crate) mod generics;
pub(crate) mod owned;
pub(crate) mod params;
pub(crate) mod receiver;
pub(crate) mod refused;
pub(crate) mod returned;
