//! What the macros accept, and what becomes of it.

mod macro_inputs;
mod more_inputs;
mod own;
mod shapes;
mod signatures;
mod stacked;
mod traits;
