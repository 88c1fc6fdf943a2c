use hooks_agent::tool;

/// The weather now.
#[tool(idempotant)]
fn weather() -> String {
    String::new()
}

struct Library;

#[tool]
impl Library {
    /// Finds a book.
    #[tool(permission = Self::may_find)]
    fn find(&self) -> String {
        String::new()
    }
}

fn main() {
    let _ = weather();
}
