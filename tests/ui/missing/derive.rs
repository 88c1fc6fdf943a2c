use hooks_core::{Hooks, hookable};

struct Agent {
    hooks: Hooks,
}

#[hookable]
impl Agent {
    fn reply(&self) {}
}

fn main() {}
