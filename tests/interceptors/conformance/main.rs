//! The conformance vectors of AGENT-HOOKS-0.1, run through the agent as programs have it.
//!
//! `.ci/agent-hooks` gets the vectors. Without them the tests say that they are skipped.

mod agent;
mod harness;
mod vectors;
