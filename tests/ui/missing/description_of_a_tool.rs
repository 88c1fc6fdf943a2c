use hooks_agent::tool;

#[tool]
fn weather() -> String {
    String::new()
}

struct Library;

#[tool]
impl Library {
    #[tool(description = " ")]
    fn find(&self) -> String {
        String::new()
    }
}

struct Empty;

#[tool]
impl Empty {
    fn find(&self) -> String {
        String::new()
    }
}

fn main() {
    let _ = (weather(), Library.find(), Empty.find());
}
