use hooks_agent::event::PreCall;
use hooks_agent::hook::on;

// Functions, because a message shows the path of a closure, and depends on its length.
fn of_no_event(_: &mut String) {}

fn of_another_answer(_: &mut PreCall<'_>) -> i32 {
    42
}

async fn waits(_: &mut PreCall<'_>) {}

fn main() {
    on(of_no_event);
    on(of_another_answer);
    on(waits);
}
