use hooks_core::{Hookable, Hooks, hookable};

#[derive(Hookable)]
struct Agent {
    hooks: Hooks,
}

#[hookable]
impl Agent {
    #[hook]
    fn check(&self, #[arg(name = "pair")] (left, right): (u8, u8)) -> u8 {
        left + right
    }

    pub fn

    #[hook]
    async fn send(&self, to: &str) {}
}

#[hookable]
trait Machine: Hookable {
    #[hook]
    fn turn(&self, by: u8);

    fn stop(&self, by);
}

// The methods that can be read have their hook types.
fn main() {
    let _ = (Agent::PRE_CHECK, Agent::PRE_SEND, <dyn Machine>::PRE_TURN);
}
