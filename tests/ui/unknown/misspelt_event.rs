use hooks_agent::prelude::*;

struct Guard;

#[agent_hook]
impl Guard {
    fn deny(&self, event: &mut PreActng<'_>) -> Flow {
        event.refuse("no")
    }
}

struct Log;

#[agent_hook(priorty = 10)]
impl Log {
    fn note(&self, event: &mut PostReasonning<'_>) {
        println!("{event:?}");
    }
}

fn main() {}
