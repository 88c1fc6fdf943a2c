//! Class hooks from another crate of the workspace, and one that is registered at run time.

use hooks_agent::agent::AgentReplyArgs;
use hooks_agent::prelude::*;
use hooks_core::Hookable;
// Naming the crate links it, and its class hooks with it.
use hooks_examples as _;

#[tokio::main]
async fn main() -> Result<(), AgentError> {
    let greeter = agent("greeter", "Hello!")?;
    let parrot = agent("parrot", "Hello! Hello!")?;
    <dyn Agent>::register_class_hook(
        <dyn Agent>::PRE_REPLY,
        "log",
        |agent: &dyn Agent, args: &AgentReplyArgs| {
            let question =
                args.messages.last().map(hooks_agent::message::Msg::text).unwrap_or_default();
            println!("[{} is asked] {question}", agent.name());
        },
    );
    println!("what the linker brought");
    for hook in hooks_core::class_hooks() {
        println!("  {hook}");
    }
    println!("\n{}", greeter.hook_plan());

    for agent in [&greeter, &parrot] {
        println!("{}\n", agent.call(Msg::user("Good morning")).await?.text());
    }
    let refused = greeter.call(Msg::user("la ".repeat(100))).await;
    println!("{}", refused.expect_err("the message is too long"));

    // Class hooks can go as they came, also those that the linker brought.
    <dyn Agent>::remove_class_hook(<dyn Agent>::POST_REPLY, "disclaimer")?;
    println!("{}", greeter.call(Msg::user("Good evening")).await?.text());
    Ok(())
}

fn agent(name: &str, line: &'static str) -> Result<ReActAgent, AgentError> {
    Ok(ReActAgent::builder(name).model(ScriptedModel::new("fixed", move |_| line)).build()?)
}
