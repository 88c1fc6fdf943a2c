use hooks_core::{Hookable, Hooks, hookable};

trait Handler<T> {
    fn handle(&self, message: T);
}

#[derive(Hookable, Default)]
struct Worker {
    hooks: Hooks,
}

#[hookable]
impl<T: Clone> Handler<T> for Worker {
    #[hook]
    fn handle(&self, _: T) {}
}

trait Named {
    fn name(&self) -> String;
}

#[hookable(own)]
impl<T: Hookable> Named for T {
    #[hook]
    fn name(&self) -> String {
        String::new()
    }
}

fn main() {}
