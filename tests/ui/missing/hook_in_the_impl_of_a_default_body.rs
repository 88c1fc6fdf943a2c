use hooks_core::{Hookable, Hooks, hookable};

#[derive(Hookable, Default)]
struct Agent {
    hooks: Hooks,
}

#[hookable]
trait Labels: Hookable {
    #[hook]
    fn label(&self) -> String {
        "default".to_owned()
    }

    fn name(&self) -> String;
}

#[hookable]
impl Labels for Agent {
    fn label(&self) -> String {
        "own".to_owned()
    }

    fn name(&self) -> String {
        "agent".to_owned()
    }
}

fn main() {}
