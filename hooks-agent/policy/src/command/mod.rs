//! Programs as hooks: JSON on standard input, an exit code and JSON on standard output. Servers, tools and
//! models may be asked in their place.
//!
//! [`CommandHooks`] runs them at the events of calls; [the guide] has the
//! events, the exit codes and the JSON. [`Input`] and [`Output`] are the two sides of that JSON,
//! for programs too.
//!
//! [the guide]: https://docs.rs/hooks-agent/latest/hooks_agent/guide/command/index.html

mod contract;
mod decide;
mod entry;
mod error;
mod hook;
mod http;
mod mcp;
mod process;
mod prompt;
mod settings;
mod trust;

pub use contract::{
    Behavior, CommandEvent, HookDecision, HostFields, Input, InputError, Output, OutputError,
    PermissionDecision, RequestDecision, SpecificOutput, UnknownEvent,
};
pub use entry::{CommandEntry, Layer, OnFailure};
pub use error::{CommandHooksError, CommandPlace, CommandProblem};
pub use hook::{CommandHooks, CommandHooksBuilder};
pub use settings::SettingsFile;
pub use trust::{Trust, TrustError, UntrustedCommand};
