//! `#[tool]`: a function or an impl block is parsed (`attribute`, `options`), given a meaning
//! (`model`, `params`) and printed (`expand`).

pub(crate) mod attribute;
mod expand;
mod model;
mod options;
mod params;
