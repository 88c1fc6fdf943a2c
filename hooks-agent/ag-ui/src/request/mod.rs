//! One request: what its hooks and the stream share. Ids of messages and tool calls are chosen here, so
//! that memory and the client have the same.

pub(super) mod client;
pub(super) mod ids;
pub(super) mod kept;
pub(super) mod reply;
pub(super) mod shared;
