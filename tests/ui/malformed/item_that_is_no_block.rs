use hooks_core::hookable;

// It has our helper attributes, and no error but one.
#[hookable]
struct Agent {
    #[hook]
    field: u8,
}

#[hookable]
fn reply(#[arg(name = "text")] text: &str) {}

fn main() {}
