use std::borrow::Cow;
use std::path::Path;

use hooks_agent::tool;
use hooks_agent::tool::ToolContext;

/// The weather now.
#[tool]
fn weather(
    path: &Path,
    city: Cow<'_, str>,
    days: &mut [u8],
    name: &'static str,
    others: Vec<&str>,
    more: impl Into<String>,
    cx: &mut ToolContext,
) -> String {
    format!("{path:?}{city}{days:?}{name}{others:?}{}{cx:?}", more.into())
}

struct Library<T>(T);

#[tool]
impl<T: Clone> Library<T> {
    /// Adds a book.
    #[tool]
    fn add(&self, book: T, other: Option<Self>) -> String {
        let _ = (book, other);
        String::new()
    }
}

fn main() {}
