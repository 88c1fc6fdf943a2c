//! The messages between an agent and a server, whatever carries them: a channel gets the bytes of one message and says
//! what becomes of it.

mod calls;
pub(super) mod channel;
mod content;
pub(super) mod decisions;
pub(super) mod message;
pub(super) mod name;
