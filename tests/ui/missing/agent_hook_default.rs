use hooks_agent::agent_hook;
use hooks_agent::event::PreCall;

struct Audit(u8);

#[agent_hook(class)]
impl Audit {
    fn note(&self, _: &mut PreCall<'_>) {}
}

fn main() {}
