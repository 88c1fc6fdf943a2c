use hooks_core::{Hookable, Hooks, hookable};

#[derive(Hookable)]
struct Agent {
    hooks: Hooks,
}

#[hookable]
impl Agent {
    #[hook]
    fn model_call(&self) {}

    #[hook]
    #[allow(non_snake_case)]
    fn modelCall(&self) {}
}

fn main() {}
