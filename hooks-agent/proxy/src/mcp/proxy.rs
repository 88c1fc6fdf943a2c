//! A proxy between an agent and an MCP server.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use hooks_agent_guest::{Guard, GuestThreads};
use tokio::sync::Mutex;
use uuid::Uuid;

use crate::mcp::error::McpProxyError;
use crate::mcp::messages::channel::Shared;
use crate::mcp::messages::decisions::{Decisions, Kept};
use crate::mcp::messages::name::ServerName;
use crate::mcp::report::Report;

/// How many characters a token has at least.
const LEAST_OF_TOKEN: usize = 16;

/// A proxy between an agent and an MCP server: hooks decide about each tool call before the server has it, and
/// about all that the server says before the agent has it.
///
/// 1. A tool call is the event `PreToolUse` of [`Guard`]. One that hooks deny, ask about or end the run at is not
///    sent on: its answer is an error of the tool, with the reason. Arguments that they change are those that go on.
/// 2. What the server says is the event `PostToolUse`: results, errors, requests and notifications. What hooks
///    change is changed, and what they withhold is not sent on.
/// 3. What cannot be decided is denied or withheld: a hook fails or panics, the state cannot be kept, a
///    decision takes longer than [`deadline`](Self::deadline).
/// 4. What is no message of JSON-RPC, a batch, a message of more than 32 MiB, an answer to no request, and a
///    request with the id of one that waits are not sent on.
/// 5. Messages of one side stay in order. Decisions are made one after the other; tool calls run at once.
///
/// [The guide] has the names of the events, and what passes as it is.
///
/// | setting | default |
/// |---|---|
/// | [`server`](Self::server) | the name that the server says |
/// | [`session`](Self::session) | a random one |
/// | [`threads`](Self::threads) | values of hooks are in memory |
/// | [`deadline`](Self::deadline) | 20 seconds |
/// | [`grace`](Self::grace) | 5 seconds |
/// | [`token`](Self::token) | none: over HTTP, programs on this machine are let in |
/// | [`report`](Self::report) | nothing is reported |
///
/// A server that is a process [`run`](Self::run)s, one that is behind a URL is [`serve`](Self::serve)d, and
/// [`pass`](Self::pass) takes any streams.
///
/// ```
/// use hooks_agent::guest::Guard;
/// use hooks_agent::prelude::*;
/// use hooks_agent::proxy::mcp::McpProxy;
/// use hooks_agent::react::{HookSet, HookSource};
/// use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, duplex, split};
///
/// struct NoPayments(HookSet);
///
/// impl HookSource for NoPayments {
///     fn hooks(&self, _: &CallContext) -> HookSet {
///         self.0.clone()
///     }
/// }
///
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// let refuse = on(|event: &mut PreActing<'_>| match event.tool_use().name.as_str() {
///     "mcp__bank__pay" => event.refuse("no payments here"),
///     _ => Flow::Continue,
/// });
/// let proxy = McpProxy::new(Guard::new(NoPayments(HookSet::of(refuse)))).server("bank");
///
/// let (agent, of_agent) = duplex(1024);
/// let (server, _of_server) = duplex(1024);
/// tokio::spawn(async move { proxy.pass(split(of_agent), split(server)).await });
///
/// let (output, mut input) = split(agent);
/// let call = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pay"}}"#;
/// input.write_all(call).await?;
/// input.write_all(b"\n").await?;
/// let answer = BufReader::new(output).lines().next_line().await?.unwrap();
/// assert!(answer.contains("no payments here"));
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
///
/// [The guide]: https://docs.rs/hooks-agent/latest/hooks_agent/guide/mcp_proxy/index.html
#[must_use = "a proxy does nothing until it runs"]
pub struct McpProxy {
    guard: Guard,
    kept: Kept,
    session: String,
    deadline: Duration,
    name: ServerName,
    pub(crate) report: Report,
    pub(crate) grace: Duration,
    pub(crate) token: Option<String>,
}

impl McpProxy {
    /// Creates a proxy whose hooks are those of this guard.
    pub fn new(guard: Guard) -> Self {
        Self {
            guard,
            kept: Kept::Memory(Box::default()),
            session: Uuid::new_v4().to_string(),
            deadline: Duration::from_secs(20),
            name: ServerName::default(),
            report: Report::default(),
            grace: Duration::from_secs(5),
            token: None,
        }
    }

    /// Sets the name of the server, which is in the names of its tools: `mcp__NAME__TOOL`. Without it, the server
    /// names itself, and may do so as any other one. Characters other than letters of ASCII, digits, `-` and `_` become `_`.
    pub fn server(self, name: impl AsRef<str>) -> Self {
        let named = ServerName::default();
        named.set(name.as_ref());
        Self { name: named, ..self }
    }

    /// Sets the session whose limits hold. Proxies and guards with the same session and the same
    /// [`threads`](Self::threads) count together.
    pub fn session(self, id: impl Into<String>) -> Self {
        Self { session: id.into(), ..self }
    }

    /// Sets the file in which hooks keep values.
    pub fn threads(self, threads: GuestThreads) -> Self {
        Self { kept: Kept::File(Box::new(threads)), ..self }
    }

    /// Sets how long a decision may take. What takes longer is denied or withheld.
    pub fn deadline(self, deadline: Duration) -> Self {
        Self { deadline, ..self }
    }

    /// Sets how long a server may go on when the agent has left, and how long it may take to end.
    pub fn grace(self, grace: Duration) -> Self {
        Self { grace, ..self }
    }

    /// Sets who takes lines for the person who runs the proxy, such as why a message is dropped. They quote
    /// nothing of a message.
    pub fn report(self, line: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { report: Report::to(line), ..self }
    }

    /// Sets the token that requests over HTTP have: `Proxy-Authorization: Bearer TOKEN`. `Authorization` is for the
    /// server.
    ///
    /// # Errors
    /// [`McpProxyError::WeakToken`] if it is shorter than 16 characters, or has others than letters of ASCII, digits
    /// and `-._~`.
    pub fn token(self, token: impl Into<String>) -> Result<Self, McpProxyError> {
        let token = token.into();
        let is_plain = |it: char| it.is_ascii_alphanumeric() || "-._~".contains(it);
        if token.len() < LEAST_OF_TOKEN || !token.chars().all(is_plain) {
            return Err(McpProxyError::WeakToken);
        }
        Ok(Self { token: Some(token), ..self })
    }

    /// Returns what the channels of the proxy share.
    pub(crate) fn shared(self) -> Arc<Shared> {
        let Self { guard, kept, session, deadline, name, report, .. } = self;
        let decisions = Decisions { guard, kept: Mutex::new(kept), session, deadline, report };
        Arc::new(Shared { decisions, name })
    }
}

impl fmt::Debug for McpProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpProxy").field("guard", &self.guard).finish_non_exhaustive()
    }
}
