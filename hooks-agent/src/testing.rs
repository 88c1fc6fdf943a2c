//! Tests of hooks, tools and agents, without a network and without a particular runtime.
//!
#![doc = include_str!("../docs/links.md")]
#![doc = include_str!("../docs/testing.md")]

pub use hooks_agent_core::testing::*;
