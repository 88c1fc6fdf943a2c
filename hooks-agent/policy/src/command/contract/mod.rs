//! The contract of a command: the names of its events, the JSON that it reads and the JSON that it
//! writes. Both sides use these types; no type here knows an agent or a process.

mod event;
mod fields;
mod input;
mod output;

pub use event::{CommandEvent, UnknownEvent};
pub(crate) use fields::reason_of;
pub use input::{HostFields, Input, InputError};
pub use output::{
    Behavior, HookDecision, Output, OutputError, PermissionDecision, RequestDecision,
    SpecificOutput,
};
