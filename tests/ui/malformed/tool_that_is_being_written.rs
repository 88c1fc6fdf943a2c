use hooks_agent::prelude::*;

struct Library;

#[tool]
impl Library {
    /// Finds a book.
    #[tool]
    fn find(&self, #[arg(description = "words")] text: String) -> String {
        text
    }

    pub fn
}

fn main() {}
