use hooks_agent::event::{PostActing as Acted, PreActing as Acting};
use hooks_agent::prelude::*;

struct Guard;

#[agent_hook]
impl Guard {
    fn look(&self, _: &mut PreCall<'_>) {}

    fn deny(&self, event: &mut Acting) -> Flow {
        event.refuse("no")
    }

    fn note(&self, event: &Acted<'_>) {
        println!("{}", event.tool_use().name);
    }

    /// Neither an event nor a call: it may be beside them.
    fn helps(&self, text: &str, count: &mut usize) -> usize {
        *count += text.len();
        *count
    }
}

fn main() {}
