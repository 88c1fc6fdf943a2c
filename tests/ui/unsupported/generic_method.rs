use hooks_core::{Hookable, Hooks, hookable};

#[derive(Hookable)]
struct Agent {
    hooks: Hooks,
}

#[hookable]
impl Agent {
    #[hook]
    fn whole<S: Into<String>>(&self, texts: Vec<S>) -> usize {
        texts.len()
    }

    #[hook]
    fn back<S: Into<String>>(&self, text: S) -> S {
        text
    }

    #[hook]
    fn config(&self, config: impl AsRef<Agent>) {
        drop(config);
    }

    fn reply<T>(&self, anything: T) -> T {
        anything
    }
}

fn main() {}
