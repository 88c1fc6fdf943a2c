//! The hook that goes by rules.

mod builder;
mod judged;
#[cfg(feature = "policy")]
mod options;
mod origins;
mod rules;
mod schema;
mod state;
mod tools;

pub use builder::RulesBuilder;
pub use rules::Rules;
