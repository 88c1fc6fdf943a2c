//! House rules for every agent of a program, as class hooks in a crate of their own.
//!
//! A program gets them by naming this crate: `use hooks_examples as _;`. A crate that nobody
//! names is not linked, and then its hooks are not there.

use hooks_agent::{Msg, ReActAgent, ReActAgentReplyArgs};
use hooks_core::{HookResult, class_hook};

/// The longest message that an agent takes, in characters.
pub const MAX_CHARS: usize = 200;

#[class_hook(ReActAgent::PRE_REPLY, name = "limit length", priority = 10)]
fn limit_length(_: &ReActAgent, args: &mut ReActAgentReplyArgs) -> HookResult {
    let length = args.msg.text().chars().count();
    if length > MAX_CHARS {
        return Err(format!("the message has {length} characters, at most {MAX_CHARS}").into());
    }
    Ok(())
}

#[class_hook(ReActAgent::POST_REPLY, name = "disclaimer", priority = 900)]
async fn disclaimer(_: &ReActAgent, _: &ReActAgentReplyArgs, reply: &mut Msg) -> HookResult {
    reply.push_text("\n(written by a machine)");
    Ok(())
}
