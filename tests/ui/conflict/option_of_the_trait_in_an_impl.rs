use hooks_core::{HookError, Hookable, Hooks, hookable};

#[hookable]
trait Agent: Hookable {
    async fn reply(&self) -> Result<(), HookError>;
}

#[derive(Hookable)]
struct Assistant {
    hooks: Hooks,
}

#[hookable]
impl Agent for Assistant {
    #[hook(reentry = "deny")]
    async fn reply(&self) -> Result<(), HookError> {
        Ok(())
    }
}

fn main() {}
