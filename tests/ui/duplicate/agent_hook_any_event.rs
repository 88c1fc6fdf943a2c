#![allow(unused_imports)]

use hooks_agent::agent_hook;
use hooks_agent::event::{HookEvent, PreCall};

struct Guard;

#[agent_hook]
impl Guard {
    fn note(&self, _: &HookEvent<'_>) {}

    fn count(&self, _: &HookEvent<'_>) {}
}

fn main() {}
