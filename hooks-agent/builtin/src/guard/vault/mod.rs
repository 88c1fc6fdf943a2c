//! The vault: personal data behind tokens, sealed and kept with the thread.

mod error;
mod in_call;
mod key;
mod stream;
mod token;
#[expect(clippy::module_inception, reason = "the type that the room is named for")]
mod vault;

pub use error::VaultError;
pub(in crate::guard) use in_call::{InCall, Revealed};
pub use key::VaultKey;
pub use stream::RevealedStream;
pub(in crate::guard) use token::open_token;
pub use vault::Vault;
