//! Traces of an agent.

fn main() {}
