use hooks_core::{HookOptions, Hookable, Hooks, hookable};

#[derive(Hookable, Default)]
struct Agent {
    hooks: Hooks,
}

#[hookable]
impl Agent {
    fn reply(&self, text: String) -> String {
        text
    }
}

fn main() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        HookOptions::named("x").on_failure(42),
        |_: &Agent, _: &AgentReplyArgs| {},
    );
}
