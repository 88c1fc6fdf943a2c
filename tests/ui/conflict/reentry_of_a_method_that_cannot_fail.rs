use hooks_core::{Hookable, Hooks, hookable};

#[derive(Hookable)]
struct Agent {
    hooks: Hooks,
}

#[hookable]
impl Agent {
    #[hook(reentry = "deny")]
    fn reply(&self) {}

    #[hook(reentry = "dney")]
    fn print(&self) {}
}

fn main() {}
