//! Tests of the macros: the inputs that they accept, and the results.

mod macro_inputs;
mod more_inputs;
mod own;
mod shapes;
mod signatures;
mod stacked;
mod traits;
