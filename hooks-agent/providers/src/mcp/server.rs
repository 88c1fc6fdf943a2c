//! An MCP server.

use std::fmt;
use std::sync::Arc;

use hooks_agent_core::tool::{Tool, Tools};
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use rmcp::service::{ClientInitializeError, RunningService};
use rmcp::transport::Transport;
use rmcp::{ClientCacheConfig, ClientLifecycleMode, ClientServiceExt, RoleClient};
use tokio::process::Command;
use tokio::time::timeout;

use crate::mcp::error::McpError;
#[cfg(feature = "mcp-http")]
use crate::mcp::http::{Endpoint, explain};
use crate::mcp::options::McpOptions;
use crate::mcp::pipes::{Exit, Pipes};
use crate::mcp::progress::Watched;
use crate::mcp::remote::{Connection, RemoteTool};

/// A connection to a server of tools that speaks the Model Context Protocol (MCP).
///
/// The server is a process that [`spawn`](Self::spawn) starts, or is behind a URL that
/// `McpServer::connect` reaches (feature `mcp-http`). Both behave the same.
///
/// The tools run in the server. The text of a result is its text blocks, joined by line breaks; a
/// link to a resource is a line such as `[resource, file:///a.txt, text/plain]`. Images, audio and
/// the bytes of resources are [blocks](hooks_agent_core::message::ToolOutput::blocks). Structured content is
/// the [structured](hooks_agent_core::message::ToolOutput::structured) value, and also the text of a result
/// that has no text.
///
/// Every failure, of the tool or a [`McpError`], is an error that the model reads. Progress of the
/// server is [progress](hooks_agent_core::tool::ToolContext::progress) of the tool, as `2/5: message`.
/// Dropping a tool call notifies the server of its cancellation.
///
/// The connection is a task in the tokio runtime that created it, which needs the drivers for I/O
/// and time. The connection ends when this value is dropped: keep it for as long as its tools are
/// used.
///
/// ```no_run
/// use hooks_agent::prelude::*;
/// use hooks_agent::tool::McpServer;
/// use tokio::process::Command;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let mut command = Command::new("npx");
/// command.args(["-y", "@modelcontextprotocol/server-filesystem", "."]);
/// let server = McpServer::spawn(command).await?;
/// let agent = ReActAgent::builder("assistant")
///     .model(ScriptedModel::new("fixed", |_| "Done."))
///     .tools(server.tools())
///     .build()?;
/// # drop(agent);
/// server.close().await;
/// # Ok(())
/// # }
/// ```
#[must_use = "its tools end with it"]
pub struct McpServer {
    connection: Arc<Connection>,
    tools: Tools,
    service: RunningService<RoleClient, ClientConfig>,
}

impl McpServer {
    /// Starts a server as a child process and lists its tools, with the default options.
    ///
    /// The protocol runs over standard input and output; standard error goes where the command
    /// sends it.
    ///
    /// # Errors
    /// [`McpError`] if the process does not start, does not speak the protocol, or takes too long,
    /// which ends the process.
    pub async fn spawn(command: Command) -> Result<Self, McpError> {
        Self::spawn_with(McpOptions::new(), command).await
    }

    /// Starts a server as [`spawn`](Self::spawn) does, with options. Headers do not apply.
    ///
    /// # Errors
    /// As of [`spawn`](Self::spawn).
    pub async fn spawn_with(options: McpOptions, mut command: Command) -> Result<Self, McpError> {
        let program = command.as_std().get_program().to_string_lossy().into_owned();
        let exit = Exit::default();
        match Pipes::open(&mut command, exit.clone()) {
            Ok(pipes) => Self::start(pipes, program, exit, &options).await,
            Err(source) => Err(McpError::Start { program, source }),
        }
    }

    /// Connects to a server behind a URL and lists its tools, with the default options.
    ///
    /// The protocol is Streamable HTTP. A redirect is followed within the same scheme, host and
    /// port. A response whose stream breaks is asked for again for a few seconds.
    ///
    /// ```no_run
    /// use hooks_agent::tool::{McpError, McpOptions, McpServer};
    ///
    /// # async fn run() -> Result<(), McpError> {
    /// let open = McpServer::connect("https://example.com/mcp").await?;
    /// let options = McpOptions::new().bearer("a-token");
    /// let guarded = McpServer::connect_with(options, "https://example.com/mcp").await?;
    /// # drop((open, guarded));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`McpError`] if the server cannot be reached, refuses, does not speak the protocol, or takes
    /// too long.
    #[cfg(feature = "mcp-http")]
    pub async fn connect(url: impl Into<String>) -> Result<Self, McpError> {
        Self::connect_with(McpOptions::new(), url).await
    }

    /// Connects to a server as [`connect`](Self::connect) does, with options.
    ///
    /// # Errors
    /// As of [`connect`](Self::connect).
    #[cfg(feature = "mcp-http")]
    pub async fn connect_with(
        options: McpOptions,
        url: impl Into<String>,
    ) -> Result<Self, McpError> {
        let endpoint = Endpoint::parse(&url.into())?;
        let place = endpoint.place();
        let http = endpoint.open(options.headers.clone())?;
        Self::start(http, place, Exit::default(), &options).await
    }

    async fn start(
        transport: impl Transport<RoleClient> + 'static,
        server: String,
        exit: Exit,
        options: &McpOptions,
    ) -> Result<Self, McpError> {
        let limit = options.start_timeout;
        let started = async {
            match handshake(Watched::new(transport)).await {
                Ok(service) => Self::list(service, server.clone(), exit, options).await,
                Err(error) => Err(without_handshake(error, server.clone(), &exit)),
            }
        };
        match timeout(limit, started).await {
            Ok(started) => started,
            Err(_) => Err(McpError::TimedOut { server, after: limit }),
        }
    }

    async fn list(
        service: RunningService<RoleClient, ClientConfig>,
        server: String,
        exit: Exit,
        options: &McpOptions,
    ) -> Result<Self, McpError> {
        service.set_response_cache_config(ClientCacheConfig::disabled()).await;
        let info = service.peer_info();
        let named = info.as_ref().and_then(|info| info.server_info.as_ref());
        let server = options
            .name
            .clone()
            .or_else(|| named.map(|named| named.name.clone()))
            .unwrap_or(server);
        let peer = service.peer().clone();
        let connection =
            Arc::new(Connection { server, peer, exit, is_trusted: options.is_trusted });
        let has_tools = info.is_some_and(|info| info.capabilities.tools.is_some());
        let listed = if has_tools {
            service.list_all_tools().await.map_err(|error| connection.error(error))?
        } else {
            Vec::new()
        };
        let tools = listed
            .into_iter()
            .map(|tool| -> Arc<dyn Tool> { Arc::new(RemoteTool::new(tool, connection.clone())) });
        Ok(Self { tools: tools.collect(), connection, service })
    }

    /// Returns the tools that the server listed at its start.
    #[must_use]
    pub fn tools(&self) -> Tools {
        self.tools.clone()
    }

    /// Closes the connection and waits for the process to end. A process that does not end is
    /// killed. The session of a server behind a URL is deleted.
    ///
    /// Dropping does the same without waiting.
    pub async fn close(mut self) {
        if let Err(error) = self.service.close().await {
            tracing::warn!(target: "hooks_agent::tool", server = self.connection.server, %error, "the connection ended badly");
        }
    }
}

/// Supports servers of protocol versions with and without a handshake.
async fn handshake(
    transport: impl Transport<RoleClient> + 'static,
) -> Result<RunningService<RoleClient, ClientConfig>, ClientInitializeError> {
    let name = Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
    let client = ClientConfig::new(ClientCapabilities::default(), name);
    let lifecycle = ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::LATEST],
        legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
    };
    client.serve_with_lifecycle(transport, lifecycle).await
}

/// Converts the error of a handshake.
fn without_handshake(error: ClientInitializeError, server: String, exit: &Exit) -> McpError {
    use ClientInitializeError::{ConnectionClosed, TransportError};

    let last = last_of(&error);
    #[cfg(feature = "mcp-http")]
    if let TransportError { error, .. } = last
        && let Some(error) = explain(&server, error)
    {
        return error;
    }
    let status = exit.get().copied();
    if status.is_some() || matches!(last, ConnectionClosed(_) | TransportError { .. }) {
        McpError::Ended { server, status }
    } else {
        McpError::Handshake { server, source: error.into() }
    }
}

/// Returns the error of the second handshake, if the first one failed too.
fn last_of(error: &ClientInitializeError) -> &ClientInitializeError {
    match error {
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => last_of(fallback),
        error => error,
    }
}

impl fmt::Debug for McpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServer")
            .field("server", &self.connection.server)
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}
