use hooks_core::{Hookable, Hooks, hookable};

#[derive(Hookable, Default)]
struct Agent {
    hooks: Hooks,
}

#[hookable]
impl Agent {
    fn reply(&self, count: Option<&mut u8>) {
        drop(count);
    }
}

fn main() {}
