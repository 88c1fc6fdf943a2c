use hooks_core::{Hookable, Hooks, hookable};

#[derive(Hookable, Default)]
struct Agent {
    hooks: Hooks,
}

trait Answers {
    fn reply(&self, text: String) -> String;
}

#[hookable]
impl Answers for Agent {
    fn reply(&self, text: String) -> String {
        text
    }
}

fn main() {}
