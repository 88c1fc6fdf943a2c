use hooks_core::{Hookable, Hooks, hookable};

struct Agent<'a> {
    name: &'a str,
    hooks: Hooks,
}

#[hookable]
impl Agent<'_> {
    fn reply(&self) -> usize {
        self.name.len()
    }
}

fn main() {}
