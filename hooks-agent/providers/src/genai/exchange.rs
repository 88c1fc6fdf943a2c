//! Sends a request to a provider and reads the answer.

use std::sync::Arc;

use futures::channel::mpsc::unbounded;
use futures::{Stream, StreamExt, future, stream};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget};
use hooks_agent_core::model::{ChatChunk, ChatRequest, ModelError};

use crate::genai::answer::Answer;
use crate::genai::connection::Connection;
use crate::genai::mark::Mark;
use crate::genai::request::{wire_options, wire_request};
use hooks_agent_core::message::Messages;

impl Connection {
    pub(super) async fn open(
        self: Arc<Self>,
        request: ChatRequest,
    ) -> Result<impl Stream<Item = Result<ChatChunk, ModelError>>, ModelError> {
        if let Some(reason) = self.provider.refusal(&request) {
            return Err(self.failed(reason));
        }
        let headers = self.options.headers().map_err(|reason| self.failed(reason))?;
        let client = self.client()?;
        // With a name alone, the crate would guess the provider, at worst one on this machine.
        let target = ServiceTarget {
            endpoint: Endpoint::from_owned(self.endpoint.as_str()),
            auth: AuthData::from_single(self.key.as_str()),
            model: ModelIden::new(self.provider.adapter(), self.model.as_str()),
        };
        let (marks, marked) = unbounded();
        let provider = self.provider;
        let options = wire_options(self.provider, &self.model, &request)
            .with_extra_headers(headers)
            .with_raw_frame_fn(move |_, frame| Mark::tell(provider, frame, &marks));
        let asked = request.messages.clone();
        let request = wire_request(self.provider, self.resends_thoughts, request);
        let response = client.exec_chat_stream(target, request, Some(&options)).await;
        let response = response.map_err(|error| self.explain(&error, &asked))?;
        let mut answer = Answer::new(self, marked, asked);
        let events = response.stream.map(Some).chain(stream::once(future::ready(None)));
        let pieces = events.flat_map(move |event| {
            stream::iter(match event {
                Some(event) => answer.pieces_until(event),
                None => answer.last_pieces(),
            })
        });
        // The answer ends at the first error.
        Ok(pieces.scan(false, |is_over, piece| {
            let piece = (!*is_over).then_some(piece);
            *is_over = matches!(piece, Some(Err(_)));
            future::ready(piece)
        }))
    }

    fn client(&self) -> Result<Client, ModelError> {
        if let Some(client) = self.client.get() {
            return Ok(client.clone());
        }
        let url = self
            .endpoint
            .parse("pass a key as the key of the model")
            .map_err(|reason| self.unreachable(reason).unsent())?;
        let builder = self.options.builder(&url);
        let builder = builder.map_err(|reason| self.unreachable(reason).unsent())?;
        let http = builder.build().map_err(|error| self.broken(&error))?;
        let client = Client::builder().with_reqwest(http).build();
        let client = client.map_err(|error| self.explain(&error, &Messages::new()))?;
        // Two first requests at once use the same client, too.
        Ok(self.client.get_or_init(|| client).clone())
    }
}
