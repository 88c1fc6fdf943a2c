use hooks_core::{Hookable, Hooks, hookable};

#[derive(Hookable)]
struct Agent {
    hooks: Hooks,
}

#[hookable]
impl Agent {
    fn reply(&self, (left, right): (u8, u8)) -> u8 {
        left + right
    }
}

fn main() {}
