//! AG-UI: the stream of a call as events of the protocol.

mod client;
mod conversation;
mod events;
mod http;
mod npm_client;
mod verified;
mod waiting;
