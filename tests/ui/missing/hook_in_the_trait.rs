use hooks_core::{Hookable, Hooks, hookable};

#[hookable]
trait Agent: Hookable {
    async fn reply(&self);
    fn plan(&self);
}

#[derive(Hookable)]
struct Assistant {
    hooks: Hooks,
}

#[hookable]
impl Agent for Assistant {
    async fn reply(&self) {}
    #[hook]
    fn plan(&self) {}
}

fn main() {}
