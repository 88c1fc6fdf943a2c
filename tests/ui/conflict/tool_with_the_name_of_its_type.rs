use hooks_agent::tool;

struct Order {
    pizza: String,
}

/// Orders a pizza.
#[tool]
fn order(order: Order) -> String {
    order.pizza
}

fn main() {}
