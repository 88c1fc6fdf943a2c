use hooks_agent::agent_hook;
use hooks_agent::event::{Flow, PreCall};
use hooks_core::{Hookable, Hooks, class_hook, hookable};

#[derive(Hookable, Default)]
struct Agent {
    hooks: Hooks,
}

#[hookable]
impl Agent {
    fn print(&self) {}
}

#[class_hook(Agent::PRE_PRINT, before = 5)]
fn watch(_: &Agent, _: &AgentPrintArgs) {}

struct Guard;

#[agent_hook(after = [audit])]
impl Guard {
    fn end(&self, _: &mut PreCall<'_>) -> Flow {
        Flow::Continue
    }
}

fn main() {
    Agent::default();
}
