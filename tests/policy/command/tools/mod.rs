//! Tool calls.

mod choosing;
mod permission;
mod results;
mod several;
mod tool_calls;
