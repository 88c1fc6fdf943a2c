//! A log of what agents do and what hooks decide, of which each line is bound to the one before.

mod builder;
mod error;
mod file;
mod head;
mod hook;
mod link;
mod record;
mod run;
mod seal;
mod shared;
mod verify;

pub use builder::AuditLogBuilder;
pub use error::AuditError;
pub use hook::AuditLog;
pub use verify::Verified;
