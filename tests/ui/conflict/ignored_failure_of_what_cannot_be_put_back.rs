#![allow(unused_imports)]

use hooks_core::{HookOptions, HookError, Hookable, Hooks, Ignore, Next, Outcome, hookable};

#[derive(Hookable, Default)]
struct Agent {
    hooks: Hooks,
}

struct Big;

#[hookable(derive())]
impl Agent {
    async fn reply(&self, text: Big) -> Result<usize, HookError> {
        drop(text);
        Ok(1)
    }

    fn print(&self, text: &str) -> usize {
        text.len()
    }

    #[hook]
    async fn learn(&mut self, text: String) -> usize {
        text.len()
    }
}

fn main() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        HookOptions::named("fails").on_failure(Ignore),
        |_: &Agent, _: &mut AgentReplyArgs| {},
    );
}
