use hooks_core::{Hookable, Hooks, hookable};

#[derive(Hookable)]
struct Agent {
    hooks: Hooks,
}

#[hookable]
impl Agent {
    fn reply(&self) -> Result<u8, std::fmt::Error> {
        Ok(1)
    }
}

fn main() {}
