//! SQLite: its files, and how it does what every database does.

mod connect;
mod dialect;
mod file;

pub use connect::{connect_options, place_of, use_wal};
pub use file::{existing_file, prepare_file, refuse_url};
