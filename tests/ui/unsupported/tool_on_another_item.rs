use hooks_agent::tool;

#[tool]
struct Weather;

#[tool]
trait Tools {
    fn find(&self);
}

struct Library<'a>(&'a str);

#[tool]
impl<'a> Library<'a> {
    /// Finds a book.
    #[tool]
    fn find(&self) -> String {
        self.0.to_owned()
    }
}

#[tool]
impl Clone for Weather {
    fn clone(&self) -> Self {
        Self
    }
}

fn main() {}
