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



fn main() {
    let agent = Agent::default();
    agent.register_instance_hook(Agent::PRE_REPLY, "o", hook!(Agent::PRE_REPLY, |_, _| async move {}));
}
