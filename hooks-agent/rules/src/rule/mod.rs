//! A rule: what programs and files say, and what is checked and compiled of it.

mod compiled;
mod error;
mod hosts;
mod names;
mod requires;
mod then;
mod tool_globs;
mod tool_rule;

pub(crate) use compiled::{Rule, Stage, Why};
pub(crate) use error::Mistakes;
pub use error::RulesError;
#[cfg(feature = "policy")]
pub(crate) use names::{check_glob, check_name};
pub use requires::Requires;
pub use then::Then;
pub use tool_rule::ToolRule;
