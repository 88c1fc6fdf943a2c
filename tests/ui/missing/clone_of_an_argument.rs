use hooks_core::{Hookable, Hooks, hookable};

#[derive(Hookable, Default)]
struct Agent {
    hooks: Hooks,
}

struct Handle;

#[hookable]
impl Agent {
    fn reply(&self, handle: Handle) {
        drop(handle);
    }
}

fn main() {}
