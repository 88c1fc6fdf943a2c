//! Which commands of a project may run: those whose hash somebody trusted. The file of hashes is
//! written whole or not at all.

mod file;
mod trusted;
mod untrusted;

pub use trusted::{Trust, TrustError};
pub use untrusted::UntrustedCommand;
