use hooks_core::{HookResult, Hookable, Hooks, hook, hookable};

#[derive(Hookable, Default)]
struct Agent {
    hooks: Hooks,
}

#[hookable]
impl Agent {
    fn print(&self, text: &str) -> usize {
        text.len()
    }
}

fn main() {
    let agent = Agent::default();
    let deny = hook!(Agent::PRE_PRINT, |_, _| -> HookResult { Err("no".into()) });
    agent.register_instance_hook(Agent::PRE_PRINT, "deny", deny);
}
