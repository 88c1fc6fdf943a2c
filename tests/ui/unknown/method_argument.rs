use hooks_core::{Hookable, Hooks, hookable};

#[derive(Hookable)]
struct Agent {
    hooks: Hooks,
}

#[hookable]
impl Agent {
    #[hook(skipp)]
    fn reply(&self) {}
}

fn main() {}
