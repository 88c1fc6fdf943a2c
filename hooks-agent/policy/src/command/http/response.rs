//! The answer of a server.

use std::time::Duration;

/// The answer of a server.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

/// Why there is no answer. No text has the URL, a header or the body.
#[derive(Debug, thiserror::Error)]
#[cfg_attr(not(feature = "command-http"), expect(dead_code, reason = "nothing is sent"))]
pub(crate) enum HttpError {
    #[error("there is no tokio runtime to send the request on")]
    NoRuntime,
    #[error("it did not answer within {0:?}")]
    TimedOut(Duration),
    #[error("it answered with more than {0} bytes")]
    TooLong(usize),
    #[error("the request failed: {0}")]
    Failed(String),
}
