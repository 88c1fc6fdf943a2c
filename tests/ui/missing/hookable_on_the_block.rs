use hooks_core::{Hookable, Hooks};

#[derive(Hookable, Default)]
struct Agent {
    hooks: Hooks,
}

impl Agent {
    #[hook]
    fn plan(&self) {}
}

fn main() {}
