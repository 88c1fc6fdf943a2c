#![allow(unused_imports)]

use hooks_agent::agent_hook;
use hooks_agent::event::{Flow, PostCall, PreActing, PreCall, ReasoningChunk};
use hooks_core::HookResult;

struct Guard;

#[agent_hook]
impl Guard {
    fn count(&self) -> usize {
        0
    }
}

fn main() {}
