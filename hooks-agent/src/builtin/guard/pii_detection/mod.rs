//! The hook that keeps personal data from models, memory and tools, and the vault of the data.

mod hook;
mod reserve;
mod search;
mod vault;

pub use hook::PiiDetection;
pub use vault::Vault;
