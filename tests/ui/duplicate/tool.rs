use hooks_agent::tool;
use hooks_agent::tool::ToolContext;

struct Library;

#[tool]
impl Library {
    /// Finds a book.
    #[tool]
    fn find(&self) -> String {
        String::new()
    }

    /// Finds an author.
    #[tool(name = "find")]
    fn find_author(&self) -> String {
        String::new()
    }

    /// Lends a book.
    #[tool]
    #[tool(ask)]
    fn lend(&self, _: &ToolContext, _: ToolContext) -> String {
        String::new()
    }
}

/// The weather now.
#[tool(name = "a", name = "b")]
fn weather() -> String {
    String::new()
}

fn main() {
    let _ = weather();
}
