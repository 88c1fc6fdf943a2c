use hooks_agent::tool;

/// The weather now.
#[tool]
async fn weather(city: &str) -> usize {
    city.len()
}

struct Library;

#[tool]
impl Library {
    /// Opens.
    #[tool(blocking)]
    fn open(&self) {}
}

fn main() {}
