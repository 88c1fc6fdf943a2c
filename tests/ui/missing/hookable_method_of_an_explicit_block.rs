use hooks_core::{Hookable, Hooks, hookable};

#[derive(Hookable, Default)]
struct Printer {
    hooks: Hooks,
}

#[hookable(explicit)]
impl Printer {
    pub fn print(&self, text: &str) -> usize {
        text.len()
    }
}

fn main() {}
