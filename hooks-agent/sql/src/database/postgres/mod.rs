//! PostgreSQL: the addresses and sessions of its servers, and how it does what every database does.

mod address;
mod dialect;
mod session;

pub use address::address;
pub use session::{LONGEST_SCHEMA, Session, search_path};
