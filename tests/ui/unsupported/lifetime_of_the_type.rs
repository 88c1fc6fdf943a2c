use hooks_core::{Hookable, Hooks, hookable};

struct Agent<'a> {
    name: &'a str,
    hooks: Hooks,
}

#[hookable]
impl<'a> Agent<'a> {
    fn reply(&self) {}
}

fn main() {}
