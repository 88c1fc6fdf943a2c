use hooks_core::{Hookable, Hooks, hookable};

#[derive(Hookable)]
struct Agent {
    hooks: Hooks,
}

#[hookable]
impl Agent {
    fn reply(&self, list: &mut Vec<u8>) {
        list.clear();
    }
}

fn main() {}
