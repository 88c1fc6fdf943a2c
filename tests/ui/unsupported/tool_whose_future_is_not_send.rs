use std::rc::Rc;

use hooks_agent::tool;

/// The weather now.
#[tool]
async fn weather() -> String {
    let city = Rc::new("Rome");
    std::future::ready(()).await;
    city.to_string()
}

fn main() {}
