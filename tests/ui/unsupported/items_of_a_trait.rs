use hooks_core::{Hookable, hookable};

#[hookable]
trait Agent: Hookable {
    const LIMIT: usize;
    type Answer;
    fn reply(&self);
}

#[hookable]
trait Other: Hookable {
    fn reply(&self);
    fn show<T: std::fmt::Debug>(&self, value: T);
    fn build() -> usize;
    fn open(&self, text: impl Into<String>);
    fn fine<T>(&self, value: T)
    where
        Self: Sized;
}

fn main() {}
