use std::rc::Rc;

use hooks_core::{Hookable, Hooks, hookable};

#[derive(Hookable)]
struct Agent {
    hooks: Hooks,
}

#[hookable]
impl Agent {
    async fn reply(&self) -> Rc<str> {
        "hello".into()
    }
}

fn main() {}
