//! Tests of the module `policy`.

mod asking;
mod attacked_order;
mod commands;
mod example;
mod hooks;
mod limits;
mod order;
mod reloads;
mod secrets;
mod shadow;
mod support;
mod texts;
mod vectors;
mod versions;

// The hooks that policy files may use.
use hooks_agent_builtin as _;
