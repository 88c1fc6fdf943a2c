//! Options of hooks: the table `with` as a type of the hook. Every mistake of a table is found, and
//! each has its place; none shows a value of the environment.

mod deserializer;
mod error;
mod read;

pub(super) use error::Mistake;
pub use error::OptionError;
pub(super) use read::read_options;
