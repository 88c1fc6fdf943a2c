//! A hook that asks other models.

mod fallback;
mod readable;

pub use fallback::ModelFallback;
