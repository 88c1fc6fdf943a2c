use hooks_core::{Hookable, Hooks, hookable};

trait Handler<T> {
    fn handle(&self, message: T);
}

#[derive(Hookable, Default)]
struct Worker {
    hooks: Hooks,
}

trait Reader<T> {
    async fn read(&self, text: T);
}

#[derive(Hookable, Default)]
struct Clerk {
    hooks: Hooks,
}

#[hookable(own)]
impl<T> Handler<T> for Worker
where
    T: Clone,
{
    #[hook]
    fn handle(&self, _: T) {}
}

#[hookable(own)]
impl<'a> Reader<&'a str> for Clerk {
    #[hook]
    async fn read(&self, _: &'a str) {}
}

#[hookable]
impl Handler<u8> for Clerk {
    #[hook]
    fn handle(&self, _: u8) {}
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
