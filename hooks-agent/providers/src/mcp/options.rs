//! Options of a connection to an MCP server.

use std::fmt;
use std::time::Duration;

/// Options of a connection to an [`McpServer`](crate::McpServer).
///
/// ```
/// use std::time::Duration;
///
/// use hooks_agent::tool::McpOptions;
///
/// let options = McpOptions::new().start_timeout(Duration::from_secs(5));
/// # #[cfg(feature = "mcp-http")]
/// let options = options.bearer("a-token").header("x-project", "ada");
/// # #[cfg(feature = "mcp-http")]
/// assert!(!format!("{options:?}").contains("a-token"));
/// ```
#[derive(Clone)]
#[must_use]
pub struct McpOptions {
    pub(super) start_timeout: Duration,
    pub(super) is_trusted: bool,
    pub(super) name: Option<String>,
    #[cfg(feature = "mcp-http")]
    pub(super) headers: Vec<(String, String)>,
}

impl McpOptions {
    /// Creates options with a start timeout of 30 seconds and no headers.
    pub fn new() -> Self {
        Self {
            start_timeout: Duration::from_secs(30),
            is_trusted: false,
            name: None,
            #[cfg(feature = "mcp-http")]
            headers: Vec::new(),
        }
    }

    /// Sets how long the server may take to start, to answer and to list its tools. One that takes
    /// longer is [`McpError::TimedOut`](crate::McpError::TimedOut). Tool calls are limited by
    /// the timeouts of the agent.
    pub fn start_timeout(mut self, timeout: Duration) -> Self {
        self.start_timeout = timeout;
        self
    }

    /// Sets whether the server is believed what it says of its tools: which of them only read, destroy, or may
    /// run again. Without it, each [changes](hooks_agent_core::tool::Effect::Changes) something and is not
    /// [idempotent](hooks_agent_core::tool::Tool::is_idempotent), whatever the server says: who could gain by a
    /// wrong hint writes it. Default: no.
    pub fn trusted(mut self, is_trusted: bool) -> Self {
        self.is_trusted = is_trusted;
        self
    }

    /// Sets the name of the server, for errors and for [rules](hooks_agent_core::tool::Tool::server) about its tools. Without
    /// it, the server is called as it calls itself, which may be as any other one.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Adds the header `authorization: Bearer <token>` to each request of a server behind a URL.
    #[cfg(feature = "mcp-http")]
    pub fn bearer(self, token: impl AsRef<str>) -> Self {
        self.header("authorization", format!("Bearer {}", token.as_ref()))
    }

    /// Adds a header to each request of a server behind a URL. Replaces a header of the same name.
    #[cfg(feature = "mcp-http")]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }
}

impl Default for McpOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// Without the values of the headers, which hold keys.
impl fmt::Debug for McpOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut options = f.debug_struct("McpOptions");
        options.field("start_timeout", &self.start_timeout);
        options.field("is_trusted", &self.is_trusted);
        options.field("name", &self.name);
        #[cfg(feature = "mcp-http")]
        {
            let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
            options.field("headers", &names);
        }
        options.finish()
    }
}
