#![allow(unused_imports)]

use hooks_agent::agent_hook;
use hooks_agent::event::{Flow, PostCall, PreActing, PreCall, ReasoningChunk};
use hooks_core::HookResult;

struct Guard;

#[agent_hook]
impl Clone for Guard {
    fn clone(&self) -> Self {
        Guard
    }
}

fn main() {}
