//! Why data of a vault cannot be had.

use hooks_agent_core::memory::ThreadValueError;
use hooks_agent_core::store::StoreError;

/// Why a vault cannot keep data or give it out. None of them shows the data.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VaultError {
    /// The thread has no data behind the token: it is of another thread, or was forgotten, or somebody
    /// wrote it.
    #[error(
        "`{token}` names no data of this conversation: use a token that stands in it, or ask for the data"
    )]
    Unknown {
        /// The token.
        token: String,
    },
    /// The token is in the name of an argument.
    #[error(
        "`{token}` stands in the name of an argument, where no data is put: put it into a value"
    )]
    InName {
        /// The token.
        token: String,
    },
    /// The data is sealed with a key that the vault does not have.
    #[error(
        "the data of `{token}` is sealed with the key `{key}`, which this vault does not have: add it by \
         `Vault::with_old_key`; the key of a `Vault::new` ends with its process"
    )]
    Key {
        /// The token.
        token: String,
        /// The id of the key.
        key: String,
    },
    /// The key has the id and other bytes, or the sealed data was changed, or moved to another thread or token.
    #[error(
        "the data of `{token}` cannot be opened: the key has other bytes than the one of this id that sealed \
         it, or what is stored was changed, or is of another thread"
    )]
    Damaged {
        /// The token.
        token: String,
    },
    /// The data cannot be sealed.
    #[error(
        "the data cannot be sealed: the system gives no random numbers, or the data is too long"
    )]
    Seal,
    /// The values of the thread cannot be read or written.
    #[error(transparent)]
    Thread(#[from] ThreadValueError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
