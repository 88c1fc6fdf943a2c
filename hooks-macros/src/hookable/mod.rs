//! `#[hookable]`: tokens are parsed (`parse`), given a meaning and checked (`model`), and printed
//! (`expand`), never the other way.

pub(crate) mod attribute;
mod attrs;
mod check;
mod expand;
mod generics;
mod model;
mod options;
mod owned;
mod params;
mod parse;
mod receiver;
mod refused;
mod returned;
