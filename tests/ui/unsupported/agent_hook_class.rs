use hooks_agent::agent_hook;
use hooks_agent::event::PreCall;

#[derive(Default)]
struct Audit<T>(T);

#[agent_hook(class)]
impl<T: Send + Sync + 'static> Audit<T> {
    fn note(&self, _: &mut PreCall<'_>) {}
}

#[derive(Default)]
struct Other;

#[agent_hook(class = String)]
impl Other {
    fn note(&self, _: &mut PreCall<'_>) {}
}

fn main() {}
