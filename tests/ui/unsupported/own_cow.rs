use hooks_core::{Hookable, Hooks, hookable};

#[derive(Hookable, Default)]
struct Agent {
    hooks: Hooks,
}

#[derive(Clone)]
struct Cow<T>(T);

#[hookable]
impl Agent {
    fn reply(&self, text: Cow<u8>) -> u8 {
        text.0
    }
}

fn main() {}
