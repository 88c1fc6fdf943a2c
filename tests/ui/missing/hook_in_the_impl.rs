use hooks_core::{Hookable, Hooks, hookable};

#[derive(Hookable, Default)]
struct Agent {
    hooks: Hooks,
}

#[hookable]
trait Plans: Hookable {
    #[hook]
    fn plan(&self) -> usize;
}

#[hookable]
impl Plans for Agent {
    fn plan(&self) -> usize {
        1
    }
}

fn main() {}
