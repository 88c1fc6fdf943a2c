//! A scripted upstream, and a proxy before it.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::serve::ListenerExt;
use futures::stream;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::hook::AgentHook;
use hooks_agent_core::react::{HookSet, HookSource};
use hooks_agent_guest::Guard;
use hooks_agent_proxy::{ModelProxy, Provider, ProxyThreads};
use serde_json::Value;
use tokio::net::TcpListener;

use crate::forms::Form;

/// The same hooks for everybody.
pub(crate) struct Always(pub(crate) HookSet);

impl HookSource for Always {
    fn hooks(&self, _: &CallContext) -> HookSet {
        self.0.clone()
    }
}

/// What the upstream answers.
#[derive(Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) kind: &'static str,
    pub(crate) chunks: Vec<Bytes>,
    /// Whether the connection breaks off after the chunks.
    pub(crate) is_cut: bool,
}

impl Reply {
    pub(crate) fn events(text: impl Into<String>) -> Self {
        Self::chunks(vec![text.into().into()])
    }

    pub(crate) fn chunks(chunks: Vec<Bytes>) -> Self {
        Self { status: 200, kind: "text/event-stream", chunks, is_cut: false }
    }

    pub(crate) fn json(body: &Value) -> Self {
        let chunks = vec![body.to_string().into()];
        Self { status: 200, kind: "application/json", chunks, is_cut: false }
    }

    pub(crate) fn status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    pub(crate) fn cut(self) -> Self {
        Self { is_cut: true, ..self }
    }
}

/// What the upstream got.
#[derive(Clone)]
pub(crate) struct Got {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

#[derive(Clone, Default)]
struct Upstream {
    replies: Arc<Mutex<VecDeque<Reply>>>,
    got: Arc<Mutex<Vec<Got>>>,
}

/// A proxy with hooks, before a scripted upstream.
pub(crate) struct Rig {
    upstream: Upstream,
    url: String,
    pub(crate) address: SocketAddr,
    client: reqwest::Client,
}

/// What an agent gets.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {}", self.text))
    }
}

impl Rig {
    pub(crate) async fn new(hooks: HookSet) -> Self {
        Self::with(hooks, |proxy| proxy).await
    }

    pub(crate) async fn of(hook: impl AgentHook) -> Self {
        Self::new(HookSet::of(hook)).await
    }

    pub(crate) async fn with(hooks: HookSet, set: impl FnOnce(ModelProxy) -> ModelProxy) -> Self {
        let upstream = Upstream::default();
        let router = Router::new().fallback(reply).with_state(upstream.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let listener = listener.tap_io(|io| io.set_nodelay(true).unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        let (address, client) = serve(hooks, &url, set).await;
        Self { upstream, url, address, client }
    }

    /// Sets what the upstream answers next.
    pub(crate) fn replies(&self, reply: Reply) {
        self.upstream.replies.lock().unwrap().push_back(reply);
    }

    /// Forgets what the upstream was to answer.
    pub(crate) fn forget_reply(&self) {
        self.upstream.replies.lock().unwrap().pop_back();
    }

    /// Returns the URL of the API of the upstream that is like that of `OpenAI`.
    pub(crate) fn upstream_url(&self) -> String {
        format!("{}/v1", self.url)
    }

    /// Returns the requests that the upstream got.
    pub(crate) fn got(&self) -> Vec<Got> {
        self.upstream.got.lock().unwrap().clone()
    }

    pub(crate) async fn post(&self, form: Form, body: &Value) -> Answer {
        self.post_to(form.path(), &[], body).await
    }

    pub(crate) async fn post_to(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> Answer {
        let url = format!("http://{}{path}", self.address);
        let mut request = self.client.post(url).header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        read(request.body(body.to_string()).send().await.unwrap()).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        read(self.client.get(format!("http://{}{path}", self.address)).send().await.unwrap()).await
    }

    pub(crate) fn client(&self) -> &reqwest::Client {
        &self.client
    }
}

/// Serves a proxy before an upstream.
pub(crate) async fn serve(
    hooks: HookSet,
    url: &str,
    set: impl FnOnce(ModelProxy) -> ModelProxy,
) -> (SocketAddr, reqwest::Client) {
    let proxy = ModelProxy::new(Guard::new(Always(hooks)), ProxyThreads::in_memory()).unwrap();
    let proxy = set(proxy);
    let proxy = proxy.upstream(Provider::OpenAi, &format!("{url}/v1")).unwrap();
    let proxy = proxy.upstream(Provider::Anthropic, url).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { proxy.serve(listener).await });
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    (address, client)
}

pub(crate) async fn read(response: reqwest::Response) -> Answer {
    let status = response.status().as_u16();
    Answer { status, text: response.text().await.unwrap() }
}

async fn reply(State(upstream): State<Upstream>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    let body = serde_json::from_slice(&bytes).unwrap_or_default();
    let got = Got { path: parts.uri.to_string(), headers: parts.headers, body };
    upstream.got.lock().unwrap().push(got);
    let reply =
        upstream.replies.lock().unwrap().pop_front().expect("a request that is not scripted");
    let status = StatusCode::from_u16(reply.status).unwrap();
    let headers = [("content-type", reply.kind), ("x-request-id", "req_1")];
    let cut = reply.is_cut.then(|| Err(io::Error::other("cut")));
    let body = if reply.is_cut {
        Body::from_stream(stream::iter(reply.chunks.into_iter().map(Ok).chain(cut)))
    } else {
        Body::from_stream(stream::iter(reply.chunks.into_iter().map(Ok::<_, Infallible>)))
    };
    (status, headers, body).into_response()
}
