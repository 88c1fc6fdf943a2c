//! An agent behind AG-UI.

fn main() {}
