//! Hooks of this crate for agents written elsewhere: a coding agent runs the program `agent-hooks` as its
//! hook, which runs the event hooks of a [source](crate::react::HookSource), such as a policy, and
//! answers by the [contract of commands](crate::command).

mod answer;
mod dialect;
mod event;
mod guard;
mod prompt;
mod seam;
mod stop;
mod thread;
mod threads;
mod tool_result;
mod tool_use;

pub(crate) use dialect::not_served;
pub use guard::Guard;
pub(crate) use guard::undecided;
pub use thread::GuestThread;
pub use threads::{GuestThreads, GuestThreadsError};
