use hooks_core::{Hookable, Hooks, hookable};

#[derive(Hookable)]
struct Agent {
    hooks: Hooks,
}

#[hookable]
impl Agent {
    fn reply(&self, text: &str) -> Result<&str, hooks_core::HookError> {
        Ok("")
    }
}

fn main() {}
