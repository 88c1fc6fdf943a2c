use hooks_core::{Hookable, hookable};

#[hookable]
trait Agent: Hookable {
    fn reply(&self);
    fn observe(&mut self);
    async fn print(&self) {
        println!("a default");
    }
    #[hook(?Send)]
    async fn reasoning(&self);
    #[hook]
    unsafe fn acting(&self);
    async fn plan(&self);
}

fn main() {}
