use hooks_core::{Hookable, Hooks, hookable};

#[derive(Hookable)]
struct Agent {
    hooks: Hooks,
}

#[hookable]
impl Agent {
    fn reply(&self, words: Vec<&str>) -> usize {
        words.len()
    }
}

fn main() {}
