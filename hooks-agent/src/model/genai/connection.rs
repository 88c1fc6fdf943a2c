//! Asking a provider, and what can go wrong with it.

use std::error::Error;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use futures::channel::mpsc::unbounded;
use futures::{Stream, StreamExt, future, stream};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget};
use reqwest::Url;
use reqwest::header::{HeaderMap, RETRY_AFTER};

use crate::model::genai::answer::Answer;
use crate::model::genai::mark::Mark;
use crate::model::genai::provider::Provider;
use crate::model::genai::request::{wire_options, wire_request};
use crate::model::{ChatChunk, ChatRequest, ModelError};

/// Who is asked, and where.
#[derive(Clone)]
pub(super) struct Connection {
    pub(super) provider: Provider,
    pub(super) endpoint: String,
    pub(super) key: String,
    pub(super) model: String,
}

impl Connection {
    pub(super) async fn open(
        self: Arc<Self>,
        request: ChatRequest,
    ) -> Result<impl Stream<Item = Result<ChatChunk, ModelError>>, ModelError> {
        if let Some(reason) = self.provider.refusal(&request) {
            return Err(self.failed(&reason));
        }
        let client = self.client()?;
        // A name alone would choose the provider by guessing, at worst one on this machine.
        let target = ServiceTarget {
            endpoint: Endpoint::from_owned(self.endpoint.as_str()),
            auth: AuthData::from_single(self.key.as_str()),
            model: ModelIden::new(self.provider.adapter(), self.model.as_str()),
        };
        let (marks, marked) = unbounded();
        let options = wire_options(self.provider, &self.model, &request)
            .with_raw_frame_fn(move |_, frame| Mark::tell(frame, &marks));
        let request = wire_request(self.provider, request);
        let response = client.exec_chat_stream(target, request, Some(&options)).await;
        let response = response.map_err(|error| self.explain(&error))?;
        let mut answer = Answer::new(self, marked);
        let pieces =
            response.stream.flat_map(move |event| stream::iter(answer.pieces_until(event)));
        // What comes after an error is no part of the answer.
        Ok(pieces.scan(false, |is_over, piece| {
            let piece = (!*is_over).then_some(piece);
            *is_over = matches!(piece, Some(Err(_)));
            future::ready(piece)
        }))
    }

    fn client(&self) -> Result<Client, ModelError> {
        let url = Url::parse(&self.endpoint).map_err(|error| self.unreachable(&error))?;
        let mut builder = reqwest::Client::builder();
        if url.scheme() == "http" && url.host_str().is_some_and(is_loopback) {
            // A server on this machine needs no proxy, nor certificates, which may be missing.
            builder = builder.no_proxy().tls_certs_only([]);
        }
        let http = builder.build().map_err(|error| self.unreachable(&error))?;
        Client::builder().with_reqwest(http).build().map_err(|error| self.explain(&error))
    }

    /// The error without what it may quote.
    pub(super) fn explain(&self, error: &genai::Error) -> ModelError {
        let model = self.model.clone();
        if let Some(status) = error.status() {
            let retry_after = error.headers().and_then(retry_after);
            return ModelError::Status { model, status: status.as_u16(), retry_after };
        }
        match error {
            genai::Error::WebStream { error, .. } => {
                if let Some(error) = error.downcast_ref::<genai::Error>() {
                    return self.explain(error);
                }
                match error.downcast_ref::<reqwest::Error>() {
                    Some(error) if error.is_body() || error.is_decode() => self.cut(),
                    Some(error) => self.unreachable(root(error)),
                    None => self.failed("the stream broke"),
                }
            }
            genai::Error::WebModelCall { .. } | genai::Error::ClientBuildFail { .. } => {
                self.failed("the request could not be sent")
            }
            genai::Error::ChatResponse { .. } => self.failed(ERROR_IN_STREAM),
            genai::Error::StreamParse { serde_error, .. } if serde_error.is_eof() => self.cut(),
            genai::Error::StreamParse { .. } => self.failed("the stream is not the JSON expected"),
            _ => self.failed("the request or the answer does not fit the provider's API"),
        }
    }

    pub(super) fn reported(&self) -> ModelError {
        self.failed(ERROR_IN_STREAM)
    }

    pub(super) fn cut(&self) -> ModelError {
        ModelError::Cut { model: self.model.clone() }
    }

    fn unreachable(&self, reason: &(dyn Error + 'static)) -> ModelError {
        ModelError::Unreachable {
            model: self.model.clone(),
            endpoint: self.endpoint.clone(),
            reason: reason.to_string(),
        }
    }

    fn failed(&self, reason: &str) -> ModelError {
        ModelError::Failed { model: self.model.clone(), reason: reason.to_owned() }
    }
}

const ERROR_IN_STREAM: &str = "the provider reported an error in its stream";

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The innermost cause, which says what happened and quotes no URL.
fn root<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    let mut root = error;
    while let Some(cause) = root.source() {
        root = cause;
    }
    root
}

/// Seconds only: a date would need a clock that agrees with the provider's.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?;
    seconds.trim().parse().ok().map(Duration::from_secs)
}
