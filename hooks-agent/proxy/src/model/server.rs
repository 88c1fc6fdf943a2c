//! Takes requests, and answers them.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::model::access::Access;
use crate::model::answer::{Answer, streamed, whole};
use crate::model::refusal::{Form, Refusal};
use crate::model::request::{Prepared, RequestGuard};
use crate::model::route::{Provider, Route};
use crate::model::upstream::{Answered, Upstream, is_encoded};

/// The most bytes of a request.
const MOST_OF_REQUEST: usize = 32 * 1024 * 1024;

/// The most bytes of an answer that comes at once, and of an error.
const MOST_OF_ANSWER: usize = 64 * 1024 * 1024;
const MOST_OF_ERROR: usize = 1024 * 1024;

/// How many bytes of requests are read at once, in units.
const UNIT: usize = 1024;
const UNITS: usize = 256 * 1024;

/// How long a request may take to arrive.
const PATIENCE: Duration = Duration::from_secs(30);

/// The server of a proxy.
pub(crate) struct Server {
    pub(crate) access: Access,
    pub(crate) upstreams: Vec<(Provider, Upstream)>,
    pub(crate) requests: RequestGuard,
    /// What is read at once.
    pub(crate) admitted: Arc<Semaphore>,
}

impl Server {
    /// Returns how much is read at once.
    pub(crate) fn admission() -> Arc<Semaphore> {
        Arc::new(Semaphore::new(UNITS))
    }

    /// Returns the router of all paths.
    pub(crate) fn into_router(self) -> Router {
        Router::new().fallback(answer).with_state(Arc::new(self))
    }

    fn upstream(&self, provider: Provider) -> Option<&Upstream> {
        self.upstreams.iter().find(|(of, _)| *of == provider).map(|(_, upstream)| upstream)
    }

    async fn answer(&self, request: Request) -> Response {
        let (parts, body) = request.into_parts();
        if let Err(reason) = self.access.check(&parts.headers) {
            return (StatusCode::FORBIDDEN, reason).into_response();
        }
        let Some((provider, rest)) = Provider::of_path(parts.uri.path()) else {
            return Refusal::not_served().response(Form::Chat);
        };
        let routed = self.upstream(provider).zip(provider.route(&parts.method, rest));
        let Some((upstream, route)) = routed else {
            return Refusal::not_served().response(provider.form());
        };
        let call = Call { upstream, parts: &parts, rest };
        let (form, answered) = match route {
            Route::Plain => (provider.form(), call.plain().await),
            Route::Answer(form) => (form, self.guarded(call, form, body, true).await),
            Route::Count(form) => (form, self.guarded(call, form, body, false).await),
        };
        answered.unwrap_or_else(|refusal| refusal.response(form))
    }

    /// Answers a request with what an upstream makes of it, both guarded. What has no answer of the model is `counted`
    /// by nobody.
    async fn guarded(
        &self,
        call: Call<'_>,
        form: Form,
        body: Body,
        is_counted: bool,
    ) -> Result<Response, Refusal> {
        let headers = &call.parts.headers;
        let (bytes, _admitted) = self.read(headers, body).await?;
        let prepared = self.requests.prepare(form, headers, bytes, is_counted).await?;
        let Prepared { body, session, is_stream, answer: screened } = prepared;
        let answered = call.send(Some(body)).await?;
        if !answered.status.is_success() {
            return passed_on(answered, MOST_OF_ERROR).await;
        }
        if !is_counted {
            return passed_on(answered, MOST_OF_ANSWER).await;
        }
        if is_encoded(&answered.headers) {
            return Err(Refusal::unreachable("the answer of the upstream is encoded"));
        }
        let conversations = self.requests.conversations.clone();
        let answer = Answer { form, session, screened, conversations };
        let (status, mut headers) = (answered.status, answered.headers.clone());
        if is_stream {
            if !is_type(&headers, "text/event-stream") {
                return Err(Refusal::unreachable(
                    "the answer of the upstream is no stream of events",
                ));
            }
            let frames = streamed(answer, answered.stream());
            let frames = frames.map(Ok::<_, std::convert::Infallible>);
            return Ok((status, headers, Body::from_stream(frames)).into_response());
        }
        let bytes = answered.bytes(MOST_OF_ANSWER).await?;
        let body = whole(answer, &bytes).await?;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Ok((status, headers, body.to_string()).into_response())
    }

    /// Reads the body of a request.
    async fn read(
        &self,
        headers: &HeaderMap,
        body: Body,
    ) -> Result<(Bytes, OwnedSemaphorePermit), Refusal> {
        // A page in a browser may send any other type without asking.
        if !is_type(headers, "application/json") {
            return Err(Refusal::not_json());
        }
        if headers.contains_key(CONTENT_ENCODING) {
            return Err(Refusal::unread("the request is encoded"));
        }
        let length = headers.get(CONTENT_LENGTH).and_then(|it| it.to_str().ok()?.parse().ok());
        let length: usize = length.unwrap_or(MOST_OF_REQUEST);
        if length > MOST_OF_REQUEST {
            return Err(Refusal::too_large());
        }
        let units = u32::try_from(length / UNIT + 1).unwrap_or(u32::MAX);
        let admitted = self.admitted.clone().try_acquire_many_owned(units);
        let admitted = admitted.map_err(|_| Refusal::busy())?;
        let read = timeout(PATIENCE, axum::body::to_bytes(body, MOST_OF_REQUEST)).await;
        let bytes = read.map_err(|_| Refusal::too_slow())?;
        Ok((bytes.map_err(|_| Refusal::too_large())?, admitted))
    }
}

/// A request on its way to an upstream.
struct Call<'a> {
    upstream: &'a Upstream,
    parts: &'a Parts,
    rest: &'a str,
}

impl Call<'_> {
    async fn send(&self, body: Option<Bytes>) -> Result<Answered, Refusal> {
        let Parts { method, uri, headers, .. } = self.parts;
        self.upstream.send(method.clone(), self.rest, uri.query(), headers, body).await
    }

    async fn plain(&self) -> Result<Response, Refusal> {
        passed_on(self.send(None).await?, MOST_OF_ERROR * 8).await
    }
}

async fn answer(State(server): State<Arc<Server>>, request: Request) -> Response {
    server.answer(request).await
}

/// Passes an answer on as it is.
async fn passed_on(answered: Answered, most: usize) -> Result<Response, Refusal> {
    let (status, headers) = (answered.status, answered.headers.clone());
    if status.is_redirection() {
        return Err(Refusal::unreachable("the upstream answers from another place"));
    }
    let bytes = answered.bytes(most).await?;
    Ok((status, headers, bytes).into_response())
}

fn is_type(headers: &HeaderMap, kind: &str) -> bool {
    let given = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok()).unwrap_or_default();
    given.split(';').next().is_some_and(|mime| mime.trim().eq_ignore_ascii_case(kind))
}
