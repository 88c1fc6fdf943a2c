//! Class hooks from another crate of the workspace, and one that is registered at run time.

use hooks_agent::{AgentError, Msg, ReActAgent, ReActAgentReplyArgs, ScriptedModel};
use hooks_core::Hookable;
// Naming the crate links it, and its class hooks with it.
use hooks_examples as _;

#[tokio::main]
async fn main() -> Result<(), AgentError> {
    let greeter = agent("greeter", "Hello!")?;
    let parrot = agent("parrot", "Hello! Hello!")?;
    ReActAgent::register_class_hook(
        ReActAgent::PRE_REPLY,
        "log",
        |agent: &ReActAgent, args: &ReActAgentReplyArgs| {
            println!("[{} is asked] {}", agent.name(), args.msg.text());
        },
    );
    println!("what the linker brought");
    for hook in hooks_core::class_hooks() {
        println!("  {hook}");
    }
    println!("\n{}", greeter.hook_plan());

    for agent in [&greeter, &parrot] {
        println!("{}\n", agent.reply(Msg::user("Good morning")).await?.text());
    }
    let refused = greeter.reply(Msg::user("la ".repeat(100))).await;
    println!("{:#}", Report(&refused.expect_err("the message is too long")));

    // Class hooks can go as they came, also those that the linker brought.
    ReActAgent::remove_class_hook(ReActAgent::POST_REPLY, "disclaimer")?;
    println!("{}", greeter.reply(Msg::user("Good evening")).await?.text());
    Ok(())
}

fn agent(name: &str, line: &'static str) -> Result<ReActAgent, AgentError> {
    Ok(ReActAgent::builder(name).model(ScriptedModel::new("fixed", move |_| line)).build()?)
}

/// An error with its causes.
struct Report<'a>(&'a dyn std::error::Error);

impl std::fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)?;
        let causes = std::iter::successors(self.0.source(), |cause| cause.source());
        causes.into_iter().try_for_each(|cause| write!(f, ": {cause}"))
    }
}
