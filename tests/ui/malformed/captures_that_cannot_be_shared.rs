use hooks_core::{Hookable, Hooks, hookable};

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
    let shared = std::rc::Rc::new(1);
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        "rc",
        Agent::PRE_REPLY.sync(move |_, args| args.text.push_str(&shared.to_string())),
    );
    let mut count = 0;
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        "count",
        Agent::PRE_REPLY.sync(move |_, _| count += 1),
    );
}
