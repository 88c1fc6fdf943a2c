use hooks_core::{Hookable, Hooks, hookable};

#[hookable]
trait Agent: Hookable {
    #[hook(name = "answer")]
    async fn reply(&self) -> usize;
}

#[derive(Hookable, Default)]
struct Assistant {
    hooks: Hooks,
}

#[hookable(json)]
impl Agent for Assistant {
    #[hook]
    async fn reply(&self) -> usize {
        0
    }
}

#[hookable(own, private)]
impl Assistant {
    #[hook(name = "not a name")]
    fn tell(&self) {}

    #[hook]
    fn say(&self) {}

    #[hook(name = "say")]
    fn speak(&self) {}
}

fn main() {}
