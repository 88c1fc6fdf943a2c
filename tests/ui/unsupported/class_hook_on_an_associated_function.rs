use hooks_core::{Hookable, Hooks, class_hook, hookable};

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

impl Agent {
    #[class_hook(Agent::PRE_REPLY)]
    fn trim(agent: &Self, args: &mut AgentReplyArgs) {
        args.text.clear();
    }
}

fn main() {}
