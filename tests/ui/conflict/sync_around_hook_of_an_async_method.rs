use hooks_core::{Hookable, Hooks, hook, hookable};

#[derive(Hookable, Default)]
struct Agent {
    hooks: Hooks,
}

#[hookable]
impl Agent {
    async fn reply(&self, text: &str) -> usize {
        text.len()
    }
}

fn main() {
    let agent = Agent::default();
    let around = hook!(Agent::AROUND_REPLY, |_, args, next| next.run(args));
    agent.register_instance_hook(Agent::AROUND_REPLY, "around", around);
}
