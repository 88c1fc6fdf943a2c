use hooks_core::hookable;

#[hookable]
struct Agent;

fn main() {}
