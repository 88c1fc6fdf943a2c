use hooks_agent::tool;

/// The weather now.
#[tool(blocking, ask)]
async fn weather() -> String {
    String::new()
}

fn main() {
    let _ = weather();
}
