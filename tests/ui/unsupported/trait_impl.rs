use hooks_core::{Hookable, Hooks, hookable};

#[derive(Hookable)]
struct Agent {
    hooks: Hooks,
}

trait Reply {
    fn reply(&self);
}

#[hookable]
impl Reply for Agent {
    fn reply(&self) {}
}

fn main() {}
