use hooks_core::{Hookable, Hooks, hookable};

#[derive(Hookable)]
struct Agent {
    hooks: Hooks,
}

#[hookable]
impl Agent {
    fn reply<T>(&self, anything: T) -> T {
        anything
    }
}

fn main() {}
