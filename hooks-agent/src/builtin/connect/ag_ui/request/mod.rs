//! One request: its hooks, and what they share with the stream. Ids of messages and tool calls are chosen here, so
//! that memory and the client have the same.

pub(super) mod client;
pub(super) mod hooks;
pub(super) mod ids;
pub(super) mod kept;
pub(super) mod reply;
pub(super) mod shared;
