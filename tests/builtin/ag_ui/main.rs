//! AG-UI: the stream of a call as events of the protocol.

mod approvals;
mod client;
mod conversation;
mod disconnect;
mod failures;
mod frontend_tools;
mod http;
mod npm_client;
mod redaction;
mod stream;
mod sub_agents;
mod usage;
mod verified;
