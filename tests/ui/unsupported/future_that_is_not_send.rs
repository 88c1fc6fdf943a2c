use std::rc::Rc;

use hooks_core::{Hookable, Hooks, hookable};

#[derive(Hookable)]
struct Agent {
    hooks: Hooks,
}

#[hookable]
impl Agent {
    async fn reply(&self) -> u8 {
        let number = Rc::new(1);
        std::future::ready(()).await;
        *number
    }
}

fn main() {}
