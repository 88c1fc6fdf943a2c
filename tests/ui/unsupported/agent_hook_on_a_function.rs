#![allow(unused_imports)]

use hooks_agent::agent_hook;
use hooks_agent::event::{Flow, PostCall, PreActing, PreCall, ReasoningChunk};
use hooks_core::HookResult;

struct Guard;

#[agent_hook]
fn deny(_: &mut PreActing<'_>) {}

fn main() {}
