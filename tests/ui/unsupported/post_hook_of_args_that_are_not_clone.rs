#![allow(unused_imports)]

use hooks_core::{HookError, HookResult, Hookable, Hooks, class_hook, hook, hookable};

#[derive(Hookable, Default)]
struct Agent {
    hooks: Hooks,
}

#[hookable]
impl Agent {
    async fn reply(&self, text: &str) -> Result<usize, HookError> {
        Ok(text.len())
    }

    fn print(&self, text: &str) -> usize {
        text.len()
    }
}

#[derive(Hookable, Default)]
struct Other {
    hooks: Hooks,
}

#[hookable(derive(Debug))]
impl Other {
    fn reply(&self, number: u8) {}
}

fn main() {
    let look = |_: &Other, _: &OtherReplyArgs, _: &()| {};
    Other::default().register_instance_hook(Other::POST_REPLY, "o", look);
}
