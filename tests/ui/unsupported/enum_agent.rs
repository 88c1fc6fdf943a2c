use hooks_core::{Hookable, Hooks};

#[derive(Hookable)]
enum Agent {
    One(Hooks),
}

fn main() {}
