use hooks_core::{Hookable, Hooks, hookable};

#[derive(Hookable)]
struct Agent {
    hooks: Hooks,
}

#[hookable]
impl Agent {
    fn reply(&self, text: impl std::fmt::Display) {
        println!("{text}");
    }
}

fn main() {}
