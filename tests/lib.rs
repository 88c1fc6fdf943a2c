//! Agents that tests share; and the program of the README, which is run as a test.
#![doc = include_str!("../README.md")]

#[cfg(doctest)]
#[doc = include_str!("../hooks-agent/README.md")]
mod readme_of_agent {}

pub mod scripted_agents;
