use hooks_core::{Hookable, Hooks, hookable};

#[derive(Hookable)]
struct Agent {
    hooks: Hooks,
}

#[hookable(derives(Debug))]
impl Agent {
    fn reply(self, text: impl Copy) {}

    const fn print(&self, (left, right): (u8, u8)) {}
}

fn main() {}
