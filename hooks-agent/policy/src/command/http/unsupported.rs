//! Programs that are built without an HTTP client.

use std::convert::Infallible;
use std::time::Duration;

use crate::command::http::parts::Parts;
use crate::command::http::response::{HttpError, Response};

/// A request that cannot be.
#[derive(Clone)]
pub(crate) struct Request(Infallible);

impl Request {
    /// Refuses all requests.
    pub(crate) fn new(_: &Parts<'_>) -> Result<Self, Vec<(&'static str, String)>> {
        let message = "expected a program that is built with the feature `command-http` of hooks-agent, \
                       this one sends no requests";
        Err(vec![("url", message.to_owned())])
    }
}

pub(crate) async fn send(
    request: &Request,
    _: Vec<u8>,
    _: Duration,
) -> Result<Response, HttpError> {
    match request.0 {}
}
