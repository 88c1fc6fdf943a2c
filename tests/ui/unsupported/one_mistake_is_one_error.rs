use hooks_core::{Hookable, Hooks, hook, hookable};

#[derive(Hookable, Default)]
struct Agent {
    hooks: Hooks,
}

#[hookable]
impl Agent {
    #[hook]
    async fn write(&self, buffer: &mut Vec<u8>, text: &str) -> usize {
        buffer.extend(text.bytes());
        buffer.len()
    }

    #[hook]
    fn show<T: std::fmt::Debug>(&self, value: T, text: String) -> String {
        format!("{value:?} {text}")
    }

    #[hook]
    fn name(&self) -> &str {
        "agent"
    }
}

fn main() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::PRE_WRITE,
        "x",
        hook!(Agent::PRE_WRITE, async |_, args| args.text.push('!')),
    );
    agent.register_instance_hook(
        Agent::AROUND_WRITE,
        "x",
        hook!(Agent::AROUND_WRITE, async |_, args, next| next.run(args).await),
    );
    agent.register_instance_hook(
        Agent::PRE_SHOW,
        "x",
        |_: &Agent, args: &mut AgentShowArgs| args.text.push('!'),
    );
    let upper = Agent::POST_NAME.sync(|_, _, name| println!("{}", name.len()));
    agent.register_instance_hook(Agent::POST_NAME, "x", upper);
}
