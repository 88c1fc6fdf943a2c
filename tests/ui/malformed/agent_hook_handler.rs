#![allow(unused_imports)]

use hooks_agent::agent_hook;
use hooks_agent::event::{Flow, PostCall, PreActing, PreCall, ReasoningChunk};
use hooks_core::HookResult;

struct Guard;

#[agent_hook]
impl Guard {
    fn by_value(&self, _: PreCall<'_>) {}

    fn exclusive(&mut self, _: &mut PreActing<'_>) {}

    fn with_more(&self, _: &mut PostCall<'_>, _: usize) {}
}

fn main() {}
