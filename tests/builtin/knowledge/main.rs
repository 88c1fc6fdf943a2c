//! Hooks that bring in what is known.

mod evaluation;
mod questions;
