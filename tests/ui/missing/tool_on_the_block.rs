use hooks_agent::tool;

struct Library;

impl Library {
    /// Finds a book.
    #[tool]
    fn find(&self, /** Its title. */ title: &str) -> String {
        title.to_owned()
    }
}

fn main() {
    let _ = Library.find("Ulysses");
}
