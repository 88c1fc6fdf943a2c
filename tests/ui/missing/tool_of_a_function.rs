use hooks_agent::prelude::*;

/// Greets.
#[tool]
async fn greet() -> String {
    "hello".to_owned()
}

fn main() {
    ReActAgent::builder("bot").tool(greet);
}
