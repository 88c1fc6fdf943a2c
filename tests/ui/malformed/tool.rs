use hooks_agent::tool;

/// The weather now.
#[tool(name = "the weather")]
fn weather((latitude, longitude): (u8, u8)) -> String {
    format!("{latitude}{longitude}")
}

/// Takes notes.
#[tool(ask = true)]
fn note(_: String) -> String {
    String::new()
}

/// Counts.
#[tool]
fn Count() -> String {
    String::new()
}

struct Library;

#[tool]
impl Library {
    /// Finds a book.
    #[tool = "find"]
    fn find(&mut self) -> String {
        String::new()
    }

    /// Opens.
    #[tool]
    fn open() -> String {
        String::new()
    }
}

fn main() {
    let _ = (weather((1, 2)), note(String::new()), Library.find());
}
