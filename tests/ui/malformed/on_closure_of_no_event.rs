use hooks_agent::event::PreCall;
use hooks_agent::hook::on;

fn main() {
    on(|text: &mut String| ());
    on(|event: &mut PreCall<'_>| 42);
    on(async |event: &mut PreCall<'_>| {});
}
