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

#[class_hook(Agent::PRE_PRINT)]
fn watch<T>(_: &Agent, _: &AgentPrintArgs) {}

fn main() {
    Agent::default();
}
