//! Sends a request to a provider and reads the answer.

use std::net::IpAddr;
use std::sync::Arc;

use futures::channel::mpsc::unbounded;
use futures::{Stream, StreamExt, future, stream};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget};
use reqwest::Url;
use reqwest::redirect::{Action, Attempt, Policy};

use crate::message::Messages;
use crate::model::genai::answer::Answer;
use crate::model::genai::connection::Connection;
use crate::model::genai::mark::Mark;
use crate::model::genai::request::{wire_options, wire_request};
use crate::model::{ChatChunk, ChatRequest, ModelError};

impl Connection {
    pub(super) async fn open(
        self: Arc<Self>,
        request: ChatRequest,
    ) -> Result<impl Stream<Item = Result<ChatChunk, ModelError>>, ModelError> {
        if let Some(reason) = self.provider.refusal(&request) {
            return Err(self.failed(reason));
        }
        let client = self.client()?;
        // With a name alone, the crate would guess the provider, at worst one on this machine.
        let target = ServiceTarget {
            endpoint: Endpoint::from_owned(self.endpoint.as_str()),
            auth: AuthData::from_single(self.key.as_str()),
            model: ModelIden::new(self.provider.adapter(), self.model.as_str()),
        };
        let (marks, marked) = unbounded();
        let options = wire_options(self.provider, &self.model, &request)
            .with_raw_frame_fn(move |_, frame| Mark::tell(frame, &marks));
        let asked = request.messages.clone();
        let request = wire_request(self.provider, request);
        let response = client.exec_chat_stream(target, request, Some(&options)).await;
        let response = response.map_err(|error| self.explain(&error, &asked))?;
        let mut answer = Answer::new(self, marked, asked);
        let pieces =
            response.stream.flat_map(move |event| stream::iter(answer.pieces_until(event)));
        // The answer ends at the first error.
        Ok(pieces.scan(false, |is_over, piece| {
            let piece = (!*is_over).then_some(piece);
            *is_over = matches!(piece, Some(Err(_)));
            future::ready(piece)
        }))
    }

    fn client(&self) -> Result<Client, ModelError> {
        let url = self.endpoint.parse().map_err(|reason| self.unreachable(reason))?;
        let mut builder = reqwest::Client::builder().redirect(Policy::custom(stay));
        if url.scheme() == "http" && url.host_str().is_some_and(is_loopback) {
            // A server on this machine needs no proxy and no certificates, which may be missing.
            builder = builder.no_proxy().tls_certs_only([]);
        }
        let http = builder.build().map_err(|error| self.broken(&error))?;
        let client = Client::builder().with_reqwest(http).build();
        client.map_err(|error| self.explain(&error, &Messages::new()))
    }
}

/// Follows a redirect within the same origin. Another one would be sent the key: only some headers
/// that hold one are removed on the way.
fn stay(attempt: Attempt<'_>) -> Action {
    let origin = attempt.previous().first().map(Url::origin);
    let is_same = origin.is_some_and(|origin| origin == attempt.url().origin());
    if is_same && attempt.previous().len() <= MOST_REDIRECTS {
        attempt.follow()
    } else {
        attempt.stop()
    }
}

const MOST_REDIRECTS: usize = 5;

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}
