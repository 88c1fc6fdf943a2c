use hooks_core::{Hookable, Hooks, hookable};

#[derive(Hookable)]
struct Agent {
    hooks: Hooks,
}

#[hookable(derive(Debug), derive(Clone))]
impl Agent {
    fn reply(&self) {}
}

fn main() {}
