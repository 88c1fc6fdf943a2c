use hooks_agent::tool;

struct Library;

#[tool(ask)]
impl Library {
    /// Finds a book.
    #[tool(crate = hooks_agent)]
    fn find(&self) -> String {
        String::new()
    }
}

fn main() {
    let _ = Library.find();
}
