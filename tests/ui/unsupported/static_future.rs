use hooks_core::{BoxFuture, Hookable, Hooks, hookable};

#[derive(Hookable, Default)]
struct Agent {
    hooks: Hooks,
}

use std::pin::Pin;
use std::sync::Arc;

#[hookable]
impl Agent {
    fn reply(&self, text: String) -> BoxFuture<'static, String> {
        Box::pin(async move { text })
    }

    fn observe(&self) -> Pin<Box<dyn Future<Output = u8> + Send>> {
        Box::pin(async { 1 })
    }

    fn acting(self: Arc<Self>, text: &str) -> BoxFuture<'static, usize> {
        let length = text.len();
        Box::pin(async move { length })
    }
}

fn main() {}
