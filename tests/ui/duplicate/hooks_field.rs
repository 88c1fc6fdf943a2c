use hooks_core::{Hookable, Hooks};

#[derive(Hookable)]
struct Agent {
    hooks: Hooks,
    more: Hooks,
}

fn main() {}
