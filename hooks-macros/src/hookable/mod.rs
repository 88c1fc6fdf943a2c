//! `#[hookable]`: tokens are parsed (`parse`), given a meaning (`block`, `method`) and checked (`check`), and
//! printed (`expand`), never the other way. `model` is what the meaning is.

pub(crate) mod attribute;
mod attrs;
mod block;
mod check;
mod expand;
mod method;
mod model;
mod options;
mod parse;
mod signature;
