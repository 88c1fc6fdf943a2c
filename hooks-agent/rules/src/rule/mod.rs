//! A rule: what programs and files say, and what is checked and compiled of it.

mod compiled;
mod error;
mod hosts;
mod names;
mod requires;
mod then;
mod tool_globs;
mod tool_rule;
mod whose;

pub(crate) use compiled::{Rule, Stage, Why};
pub(crate) use error::Mistakes;
pub use error::RulesError;
#[cfg(feature = "policy")]
pub(crate) use names::check_glob;
pub(crate) use names::{check_globs, check_name, unknown_zone};
pub use requires::Requires;
pub use then::Then;
pub(crate) use tool_globs::{ToolGlobs, is_about, server_in};
pub use tool_rule::ToolRule;
pub(crate) use tool_rule::texts;
pub(crate) use whose::{Named, Whose, check_list};
