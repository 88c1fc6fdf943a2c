//! AG-UI: the stream of a call as events of the protocol.

mod client;
mod conversation;
mod copilotkit;
mod events;
mod http;
mod npm_client;
mod queues;
mod verified;
mod waiting;
