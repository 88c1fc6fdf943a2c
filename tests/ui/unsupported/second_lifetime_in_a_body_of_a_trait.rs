use hooks_core::{Hookable, Hooks, hookable};

#[derive(Hookable, Default)]
struct Agent {
    hooks: Hooks,
}

#[hookable]
trait Answers: Hookable {
    async fn reply<'a, 'b>(&'a self, text: &'b str) -> usize;
}

#[hookable]
impl Answers for Agent {
    async fn reply<'a, 'b>(&'a self, text: &'b str) -> usize {
        let text: &'b str = text;
        text.len()
    }
}

fn main() {}
