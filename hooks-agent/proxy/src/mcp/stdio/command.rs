//! A server that is a process.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

use crate::mcp::error::McpProxyError;
use crate::mcp::messages::channel::Channel;
use crate::mcp::proxy::McpProxy;
use crate::mcp::stdio::pipes::pass;

/// How long what a process wrote is read after its end, if others hold its output open.
const LAST_WORDS: Duration = Duration::from_secs(1);

impl McpProxy {
    /// Starts the server as a child process, and passes messages between it and the streams of an agent, each a
    /// line, until the server ends. Its standard error is that of this process.
    ///
    /// When the agent ends its stream, so does that to the server; a server that goes on for longer than the time
    /// of [grace](Self::grace) is terminated, with its group of processes, and killed after that time once more.
    /// Requests without an answer get an error then.
    ///
    /// Requires a runtime of tokio with I/O and time enabled. If this future is dropped, the process is killed.
    ///
    /// ```no_run
    /// use hooks_agent::guest::Guard;
    /// use hooks_agent::policy::{Layer, Policy, PolicyFile};
    /// use hooks_agent::proxy::mcp::McpProxy;
    /// use tokio::process::Command;
    ///
    /// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
    /// let policy = Policy::builder().file(Layer::Project, PolicyFile::at("policy.toml")).open()?;
    /// let proxy = McpProxy::new(Guard::new(policy)).server("files");
    /// let mut command = Command::new("npx");
    /// command.args(["-y", "@modelcontextprotocol/server-filesystem", "."]);
    /// let status = proxy.run(command, tokio::io::stdin(), tokio::io::stdout()).await?;
    /// # let _ = status;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`McpProxyError::Start`] if the process does not start, [`McpProxyError::Ended`] if it is not known how it
    /// ended.
    pub async fn run(
        self,
        mut command: Command,
        input: impl AsyncRead + Unpin,
        output: impl AsyncWrite + Unpin,
    ) -> Result<ExitStatus, McpProxyError> {
        let program = command.as_std().get_program().to_string_lossy().into_owned();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        // What it starts ends with it.
        #[cfg(unix)]
        command.process_group(0);
        let started = command.spawn();
        let start = |source| McpProxyError::Start { program: program.clone(), source };
        let mut child = started.map_err(start)?;
        let (Some(to_server), Some(of_server)) = (child.stdin.take(), child.stdout.take()) else {
            let source = std::io::Error::other("it has no pipes");
            return Err(McpProxyError::Start { program, source });
        };
        let (report, grace) = (self.report.clone(), self.grace);
        let channel = Channel::new(self.shared());
        let has_ended = async {
            // How it ended is asked again below.
            let _ = child.wait().await;
            sleep(LAST_WORDS).await;
        };
        let (agent, server) = ((input, output), (of_server, to_server));
        pass(&channel, &report, grace, agent, server, has_ended).await;
        end(&mut child, grace).await.map_err(|source| McpProxyError::Ended { program, source })
    }
}

/// Waits for the end of a process: of its own, then terminated, then killed.
async fn end(child: &mut Child, grace: Duration) -> std::io::Result<ExitStatus> {
    if let Ok(ended) = timeout(grace, child.wait()).await {
        return ended;
    }
    #[cfg(unix)]
    {
        use rustix::process::Signal;
        signal(child, Signal::TERM);
        if let Ok(ended) = timeout(grace, child.wait()).await {
            return ended;
        }
        signal(child, Signal::KILL);
    }
    child.start_kill()?;
    child.wait().await
}

#[cfg(unix)]
fn signal(child: &Child, signal: rustix::process::Signal) {
    let id = child.id().and_then(|id| i32::try_from(id).ok());
    if let Some(group) = id.and_then(rustix::process::Pid::from_raw) {
        // One that has ended needs no signal.
        let _ = rustix::process::kill_process_group(group, signal);
    }
}
