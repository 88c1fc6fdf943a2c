use hooks_core::{Hookable, Hooks, hookable};

#[derive(Hookable, Default)]
struct Agent {
    hooks: Hooks,
}

trait Tool {}

#[hookable]
impl Agent {
    fn reply(&self, tool: &dyn Tool, other: Option<&(dyn Tool + Send)>) {
        let _ = (tool, other);
    }
}

fn main() {}
