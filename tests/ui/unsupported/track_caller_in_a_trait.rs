use hooks_core::{Hookable, hookable};

#[hookable]
trait Agent: Hookable {
    #[track_caller]
    fn reply(&self);
}

fn main() {}
