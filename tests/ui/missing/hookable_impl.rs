use hooks_core::{Hookable, Hooks, hookable};

#[hookable]
trait Agent: Hookable {
    fn reply(&self);
}

#[derive(Hookable)]
struct Assistant {
    hooks: Hooks,
}

impl Agent for Assistant {
    fn reply(&self) {}
}

fn main() {}
