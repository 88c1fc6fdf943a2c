use hooks_core::{Hookable, Hooks, hookable};

#[derive(Hookable)]
struct Agent {
    hooks: Hooks,
}

macro_rules! more {
    ($agent:ident, $arg:ident) => {
        #[hookable]
        impl $agent {
            #[hook]
            fn more(&self, $arg: u8, text: u8) -> u8 {
                $arg + text
            }
        }
    };
}

more!(Agent, text);

#[hookable(explicit)]
impl Agent {
    #[hook]
    fn print(&self, _text: u8, text: u8, arg0: u8, #[arg(name = "arg0")] (a, b): (u8, u8)) {}
}

fn main() {
    let _ = Agent::PRE_PRINT;
}
