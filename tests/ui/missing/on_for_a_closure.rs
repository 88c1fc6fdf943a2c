use hooks_agent::prelude::*;

// A function, because a message shows the path of a closure, and depends on its length.
fn never(event: &mut PreActing<'_>) -> Flow {
    event.refuse("never")
}

fn main() {
    ReActAgent::builder("bot").hook(never);
}
