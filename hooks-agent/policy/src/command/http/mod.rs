//! Requests to servers: a checked request, and the exchange that posts an input and reads the answer.
//! Nothing here knows what a server means by its answer.

#[cfg(feature = "command-http")]
mod client;
#[cfg(feature = "command-http")]
mod exchange;
#[cfg(feature = "command-http")]
mod headers;
mod hosts;
mod parts;
#[cfg(feature = "command-http")]
mod request;
mod response;
#[cfg(feature = "command-http")]
mod signature;
#[cfg(not(feature = "command-http"))]
mod unsupported;

#[cfg(feature = "command-http")]
pub(super) use exchange::send;
pub(super) use hosts::Hosts;
pub(super) use parts::Parts;
#[cfg(feature = "command-http")]
pub(super) use request::Request;
pub(super) use response::Response;
#[cfg(not(feature = "command-http"))]
pub(super) use unsupported::{Request, send};
