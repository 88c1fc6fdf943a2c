use hooks_agent::tool;

/// Deletes a file, or looks at it.
#[tool(reads, destroys)]
fn look() -> String {
    String::new()
}

fn main() {
    let _ = look();
}
