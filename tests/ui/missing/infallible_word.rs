use hooks_core::{Hookable, Hooks, hookable};

#[derive(Hookable)]
struct Agent {
    hooks: Hooks,
}

struct SearchResult;

#[hookable]
impl Agent {
    fn reply(&self) -> SearchResult {
        SearchResult
    }
}

fn main() {}
