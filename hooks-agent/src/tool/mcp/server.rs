//! An MCP server.

use std::fmt;
use std::sync::Arc;

use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use rmcp::service::{ClientInitializeError, RunningService};
use rmcp::{ClientCacheConfig, ClientLifecycleMode, ClientServiceExt, RoleClient};
use tokio::process::Command;

use crate::tool::mcp::error::McpError;
use crate::tool::mcp::pipes::{Exit, Pipes};
use crate::tool::mcp::remote::{Connection, RemoteTool};
use crate::tool::{Tool, Tools};

/// A connection to a server of tools that speaks the Model Context Protocol (MCP).
///
/// The tools run in the server. A result is its text blocks, joined by line breaks; other content
/// is described in a line such as `[image, image/png]`, and a result without text is its structured
/// content as JSON. Every failure, of the tool or a [`McpError`], is an error that the model reads.
/// Progress of the server is [progress](crate::ToolContext::progress) of the tool, as
/// `2/5: message`. Dropping a tool call notifies the server of its cancellation.
///
/// The connection is a task in the tokio runtime that created it, which needs the drivers for I/O
/// and time. The connection ends when this value is dropped: keep it for as long as its tools are
/// used.
///
/// ```no_run
/// use hooks_agent::{McpServer, ReActAgent, ScriptedModel};
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
    /// Starts a server as a child process and lists its tools.
    ///
    /// The protocol runs over standard input and output; standard error goes where the command
    /// sends it. There is no timeout: to limit the start, wrap it in `tokio::time::timeout`, which
    /// ends the process when it expires.
    ///
    /// # Errors
    /// [`McpError`] if the process does not start or does not speak the protocol.
    pub async fn spawn(mut command: Command) -> Result<Self, McpError> {
        let program = command.as_std().get_program().to_string_lossy().into_owned();
        let exit = Exit::default();
        let pipes = match Pipes::open(&mut command, exit.clone()) {
            Ok(pipes) => pipes,
            Err(source) => return Err(McpError::Start { program, source }),
        };
        let service = match handshake(pipes).await {
            Ok(service) => service,
            Err(error) => {
                let status = exit.get().copied();
                return Err(if status.is_some() || is_cut(&error) {
                    McpError::Ended { server: program, status }
                } else {
                    McpError::Handshake { program, source: error.into() }
                });
            }
        };
        Self::list(service, program, exit).await
    }

    async fn list(
        service: RunningService<RoleClient, ClientConfig>,
        program: String,
        exit: Exit,
    ) -> Result<Self, McpError> {
        service.set_response_cache_config(ClientCacheConfig::disabled()).await;
        let info = service.peer_info();
        let named = info.as_ref().and_then(|info| info.server_info.as_ref());
        let server = named.map_or(program, |named| named.name.clone());
        let connection = Arc::new(Connection { server, peer: service.peer().clone(), exit });
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
    /// killed.
    ///
    /// Dropping does the same without waiting.
    pub async fn close(mut self) {
        if let Err(error) = self.service.close().await {
            tracing::warn!(server = self.connection.server, %error, "the connection ended badly");
        }
    }
}

/// Supports servers of protocol versions with and without a handshake.
async fn handshake(
    pipes: Pipes,
) -> Result<RunningService<RoleClient, ClientConfig>, ClientInitializeError> {
    let name = Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
    let client = ClientConfig::new(ClientCapabilities::default(), name);
    let lifecycle = ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::LATEST],
        legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
    };
    client.serve_with_lifecycle(pipes, lifecycle).await
}

fn is_cut(error: &ClientInitializeError) -> bool {
    use ClientInitializeError::{ConnectionClosed, TransportError};
    matches!(error, ConnectionClosed(_) | TransportError { .. })
}

impl fmt::Debug for McpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServer")
            .field("server", &self.connection.server)
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}
