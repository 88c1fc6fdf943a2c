//! The proxy, and its settings.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hooks_agent_core::options::Globs;
use hooks_agent_guest::Guard;
use hooks_agent_listener::BoundedListener;
use tokio::net::TcpListener;

use crate::model::access::Access;
use crate::model::error::ProxyError;
use crate::model::guarded::{Known, ProxyThreads};
use crate::model::request::{Conversations, RequestGuard};
use crate::model::route::Provider;
use crate::model::server::Server;
use crate::model::upstream::Upstream;

/// How long an upstream may be silent, unless the program says it.
const SILENCE: Duration = Duration::from_mins(10);

/// A guard between an agent, written elsewhere and in any language, and the API of its model.
///
/// The agent has the URL of the proxy in place of that of its provider. Each request goes on to the provider, with its
/// headers, once the hooks of the [`Guard`] let it through; each answer comes back as they leave it.
///
/// | what | hooks | what an agent gets |
/// |---|---|---|
/// | texts of users | those of [`Guard::screen_prompt`] | changed in place; blocked: an error, and nothing is sent |
/// | results of tools | `PostToolUse` | replaced or withheld in place |
/// | a model call | those of [`Guard::count_model_call`] | an error at a limit |
/// | text and thoughts of the model | those of [`Guard::screen_answer`] | what they release, as soon as they do |
/// | tool calls of the model | `PreToolUse` | denied: a text with the reason; other arguments |
/// | tools that the provider runs | both | not offered, or their results withheld |
///
/// An answer that breaks off, or that a hook blocks or fails at, ends as an error of the provider's form. What cannot be
/// guarded is refused. [The guide] has the details.
///
/// ```no_run
/// use hooks_agent::builtin::guard::PiiDetection;
/// use hooks_agent::guest::Guard;
/// use hooks_agent::prelude::*;
/// use hooks_agent::proxy::{ModelProxy, Provider, ProxyThreads};
/// use hooks_agent::react::{HookSet, HookSource};
///
/// struct Always(HookSet);
///
/// impl HookSource for Always {
///     fn hooks(&self, _: &CallContext) -> HookSet {
///         self.0.clone()
///     }
/// }
///
/// # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
/// let guard = Guard::new(Always(HookSet::of(PiiDetection::all())));
/// let proxy = ModelProxy::new(guard, ProxyThreads::in_memory())?
///     .upstream(Provider::OpenAi, "https://api.openai.com/v1")?
///     .upstream(Provider::Anthropic, "https://api.anthropic.com")?;
/// proxy.serve(tokio::net::TcpListener::bind("127.0.0.1:4000").await?).await?;
/// # Ok(())
/// # }
/// ```
///
/// [The guide]: https://docs.rs/hooks-agent/latest/hooks_agent/guide/proxy/index.html
#[must_use = "a proxy does nothing until it is served"]
pub struct ModelProxy {
    guard: Guard,
    threads: ProxyThreads,
    known: Known,
    upstreams: Vec<(Provider, Upstream)>,
    denied: Globs,
    hosts: Vec<String>,
    token: Option<String>,
    silence: Duration,
}

impl ModelProxy {
    /// Creates a proxy without upstreams.
    ///
    /// # Errors
    /// [`ProxyError::Random`] if the system gives no random numbers.
    pub fn new(guard: Guard, threads: ProxyThreads) -> Result<Self, ProxyError> {
        // All names are left out.
        let denied = globs(vec!["!*".to_owned()])?;
        Ok(Self {
            guard,
            threads,
            known: Known::new()?,
            upstreams: Vec::new(),
            denied,
            hosts: Vec::new(),
            token: None,
            silence: SILENCE,
        })
    }

    /// Sets how long an upstream may be silent; 10 minutes if it is not set. It holds for the upstreams that are set
    /// later.
    pub fn silence(mut self, silence: Duration) -> Self {
        self.silence = silence;
        self
    }

    /// Sets the URL of the API of a provider, such as `https://api.openai.com/v1` or `https://api.anthropic.com`.
    /// Requests to `/openai/v1` and `/anthropic` go there.
    ///
    /// # Errors
    /// [`ProxyError::Url`] if it is no plain URL, [`ProxyError::NoTls`] for `https` without TLS, [`ProxyError::Client`]
    /// if there can be no client.
    pub fn upstream(mut self, provider: Provider, url: &str) -> Result<Self, ProxyError> {
        let upstream = Upstream::new(provider, url, self.silence)?;
        self.upstreams.retain(|(known, _)| *known != provider);
        self.upstreams.push((provider, upstream));
        Ok(self)
    }

    /// Takes the tools with these names, which may be globs, out of requests. Hooks decide about their calls in any case.
    ///
    /// # Errors
    /// [`ProxyError::Glob`] for one that is none.
    pub fn deny_tools(
        mut self,
        tools: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<Self, ProxyError> {
        let tools: Vec<String> = tools.into_iter().map(Into::into).collect();
        if !tools.is_empty() {
            self.denied = globs(tools)?;
        }
        Ok(self)
    }

    /// Sets the token that requests have in the header `x-hooks-agent-token`. An address that other machines reach needs
    /// one.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// Adds a host and port by which the proxy is called, beside its address: the `Host` of a request must be one.
    pub fn host(mut self, host: impl Into<String>) -> Self {
        self.hosts.push(host.into());
        self
    }

    /// Returns the router of a proxy that listens at this address.
    ///
    /// # Errors
    /// [`ProxyError::NoToken`] and [`ProxyError::NoHost`], for an address that other machines reach.
    pub fn into_router(self, address: SocketAddr) -> Result<Router, ProxyError> {
        let access = Access::new(address, &self.hosts, self.token)?;
        let requests = RequestGuard {
            guard: self.guard,
            threads: Arc::new(self.threads),
            known: self.known,
            conversations: Arc::new(Conversations::new()),
            denied: self.denied,
        };
        let upstreams = self.upstreams;
        let admitted = Server::admission();
        Ok(Server { access, upstreams, requests, admitted }.into_router())
    }

    /// Serves the proxy, with [bounded](BoundedListener) connections.
    ///
    /// # Errors
    /// Those of [`into_router`](Self::into_router); [`ProxyError::Listener`] if the listener fails.
    pub async fn serve(self, listener: TcpListener) -> Result<(), ProxyError> {
        let router = self.into_router(listener.local_addr()?)?;
        axum::serve(BoundedListener::new(listener), router).await?;
        Ok(())
    }
}

fn globs(texts: Vec<String>) -> Result<Globs, ProxyError> {
    let mut wrong = None;
    let kept = texts.clone();
    let globs = Globs::new(texts, |index, reason| {
        let glob = kept.get(index).cloned().unwrap_or_default();
        wrong.get_or_insert((glob, reason));
    });
    match (globs, wrong) {
        (Some(globs), None) => Ok(globs),
        (_, wrong) => {
            let (glob, reason) = wrong.unwrap_or_default();
            Err(ProxyError::Glob { glob, reason })
        }
    }
}

impl fmt::Debug for ModelProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelProxy")
            .field("guard", &self.guard)
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}
