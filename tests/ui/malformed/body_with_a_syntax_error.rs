use hooks_core::{Hookable, Hooks, hookable};

#[derive(Hookable)]
struct Agent {
    hooks: Hooks,
}

#[hookable]
impl Agent {
    fn reply(&self) -> usize {
        let length = 1 +;
        length
    }

    fn print(&self) -> usize {
        self.reply()
    }
}

fn main() {}
