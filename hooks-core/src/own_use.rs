//! The macros work in this crate too.

use crate::{HookError, Hookable, Hooks, class_hook, hook, hookable};

#[derive(Hookable, Default)]
#[hooks(crate = crate)]
struct Agent {
    hooks: Hooks,
}

#[hookable(crate = crate)]
impl Agent {
    async fn reply(&self, text: &str) -> Result<String, HookError> {
        Ok(text.to_owned())
    }
}

#[class_hook(Agent::POST_REPLY, crate = crate)]
fn sign(_: &Agent, _: &AgentReplyArgs, reply: &mut String) {
    reply.push('.');
}

#[test]
fn the_crate_hooks_a_type_of_its_own() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        "more",
        hook!(Agent::PRE_REPLY, async |_, args| args.text.push('!')),
    );
    let reply = futures::executor::block_on(agent.reply("hi"));
    assert_eq!(reply.expect("no hook fails"), "hi!.");
}
