use hooks_core::{Hookable, Hooks, hookable};

#[derive(Hookable)]
struct Agent {
    hooks: Hooks,
}

#[hookable]
impl Agent {
    fn reply(&self) -> impl Iterator<Item = u8> {
        std::iter::empty()
    }
}

fn main() {}
