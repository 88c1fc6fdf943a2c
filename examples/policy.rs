//! House rules for every agent of a program, as class hooks in a crate of their own.
//!
//! A program gets them by naming this crate: `use hooks_examples as _;`. A crate that nobody
//! names is not linked, and then its hooks are not there.

use hooks_agent::agent::{Agent, AgentReplyArgs};
use hooks_agent::message::Msg;
use hooks_core::{HookResult, class_hook};

/// The longest message that an agent takes, in characters.
pub const MAX_CHARS: usize = 200;

#[class_hook(<dyn Agent>::PRE_REPLY, name = "limit length", priority = 10)]
fn limit_length(_: &dyn Agent, args: &mut AgentReplyArgs) -> HookResult {
    let length: usize = args.messages.iter().map(|msg| msg.text().chars().count()).sum();
    if length > MAX_CHARS {
        return Err(format!("the message has {length} characters, at most {MAX_CHARS}").into());
    }
    Ok(())
}

#[class_hook(<dyn Agent>::POST_REPLY, name = "disclaimer", priority = 900)]
async fn disclaimer(_: &dyn Agent, _: &AgentReplyArgs, reply: &mut Msg) -> HookResult {
    reply.push_text("\n(written by a machine)");
    Ok(())
}
