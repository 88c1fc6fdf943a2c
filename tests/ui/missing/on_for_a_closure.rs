use hooks_agent::prelude::*;

fn main() {
    ReActAgent::builder("bot").hook(|event: &mut PreActing<'_>| event.refuse("never"));
}
