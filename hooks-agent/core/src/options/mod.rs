//! Options of hooks in files: how a hook says which it takes, and how they are read.
//!
//! A crate that publishes a hook implements [`HookOptions`] and submits a [`RegisteredHook`]. It knows no
//! format: what reads files makes a [`Node`] of them, whose values know their places, and has a [`Factory`]
//! read it. `hooks-agent-policy` does so for TOML.

mod deserializer;
mod duration;
mod error;
mod factory;
#[cfg(feature = "globs")]
mod globs;
mod hook_options;
mod prices;
mod read;
mod value;
mod words;

pub use duration::{EXPECTED, OptionDuration, bare_number, duration_of};
pub use error::{Mistake, OptionError};
pub use factory::{Factory, FromFn, Prepared};
#[cfg(feature = "globs")]
pub use globs::Globs;
pub use hook_options::{HookOptions, RegisteredHook, set};
pub use prices::{ModelPrice, OtherPrice, price_table};
pub use read::read_options;
pub use value::{Key, Node, Value};
pub use words::{list_of, shown_key};
