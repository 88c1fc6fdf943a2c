//! One exchange with a server.

use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::command::http::client::reason_of;
use crate::command::http::request::Request;
use crate::command::http::response::{HttpError, Response};
use crate::command::http::signature::HEADER;

/// The most bytes of an answer.
const BODY: usize = 1 << 20;

/// Posts the input and reads the answer to its end, within the limit. Dropping the future closes the
/// connection.
///
/// # Panics
/// If the runtime has no time or no IO.
pub(crate) async fn send(
    request: &Request,
    input: Vec<u8>,
    limit: Duration,
) -> Result<Response, HttpError> {
    Handle::try_current().map_err(|_| HttpError::NoRuntime)?;
    let answered = timeout(limit, exchange(request, input)).await;
    answered.map_err(|_| HttpError::TimedOut(limit))?
}

async fn exchange(request: &Request, input: Vec<u8>) -> Result<Response, HttpError> {
    let failed = |error: reqwest::Error| HttpError::Failed(reason_of(&error));
    let Request { client, url, headers, signature } = request;
    let mut headers = headers.clone();
    let signature = signature.as_ref().and_then(|signature| signature.of(&input));
    headers.extend(signature.map(|value| (HEADER, value)));
    let sent = client.post(url.clone()).headers(headers).body(input).send();
    let mut response = sent.await.map_err(failed)?;
    let status = response.status().as_u16();
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(failed)? {
        if body.len() + chunk.len() > BODY {
            return Err(HttpError::TooLong(BODY));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Response { status, body })
}
