use hooks_core::{Hookable, hookable};

#[hookable]
trait Agent<T>: Hookable {
    fn reply(&self, msg: T);
}

fn main() {}
