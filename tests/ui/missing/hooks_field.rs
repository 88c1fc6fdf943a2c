use hooks_core::Hookable;

#[derive(Hookable)]
struct Agent {
    name: String,
}

fn main() {}
