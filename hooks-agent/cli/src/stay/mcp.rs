//! `hooks-agent mcp`: a guard between any agent and an MCP server.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};
use std::time::Duration;

use clap::Args;
use hooks_agent_guest::{Guard, GuestThreads};
use hooks_agent_policy::policy::Policy;
use hooks_agent_proxy::mcp::{McpProxy, refuse};
use hooks_agent_serve::{NotHeld, Token};
use hooks_core::BoxError;
use tokio::net::TcpListener;
use tokio::process::Command;
use tokio::runtime::{Builder, Runtime};

use crate::guard::{keep_panics_short, print_shadow};
use crate::policies::PolicyArgs;
use crate::print::failed;

/// The exit code of a proxy that did not start.
const NOT_STARTED: u8 = 2;

/// Guards an MCP server: starts it, and is one itself on standard input and output. In the settings of an agent,
/// the command of the server is written behind `--`. A server behind a URL is guarded at `http://ADDRESS/mcp`.
///
/// Hooks of the policy decide about each tool call before the server has it, and about all that the server says
/// before the agent has it. What cannot be decided is denied or withheld.
#[derive(Args)]
pub(crate) struct McpArgs {
    #[command(flatten)]
    policies: PolicyArgs,
    /// The name of the server, which is in the names of its tools for policies: `mcp__NAME__TOOL`. Without it, the
    /// server names itself, and may do so as any other one.
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
    /// The SQLite file in which hooks keep values of threads. Without it, they end with the program.
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// The session whose limits hold. Without it, the session is that of this process.
    #[arg(long, value_name = "ID")]
    thread: Option<String>,
    /// The name of the agent, which policies match.
    #[arg(long, value_name = "NAME", default_value = Guard::DEFAULT_AGENT)]
    name: String,
    /// How many seconds a decision takes at most; then the call is denied, or what the server said withheld.
    #[arg(long, value_name = "SECONDS", default_value_t = 20)]
    deadline: u64,
    /// How many seconds the server may go on when the agent has left, and may take to end.
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    grace: u64,
    /// The URL of a server that is no command.
    #[arg(long, value_name = "URL", requires = "listen", conflicts_with = "command")]
    url: Option<String>,
    /// Where agents reach the guard of the server behind the URL, such as `127.0.0.1:3000`.
    #[arg(long, value_name = "ADDRESS", requires = "url")]
    listen: Option<SocketAddr>,
    /// The file of the token that agents send as `Proxy-Authorization: Bearer TOKEN`. With it, other machines may
    /// be let in.
    #[arg(long, value_name = "FILE", requires = "url")]
    token_file: Option<PathBuf>,
    /// The command of the server, and its arguments.
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "url")]
    command: Vec<OsString>,
}

pub(crate) fn run(args: &McpArgs) -> ExitCode {
    keep_panics_short();
    let runtime = match Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return failed(&error, NOT_STARTED),
    };
    let place = args.url.as_deref().zip(args.listen);
    let code = match (runtime.block_on(proxy(args)), place) {
        (Ok((_, proxy)), Some((url, address))) => {
            let served = runtime.block_on(serve(proxy, url, address, args.token_file.as_deref()));
            served.map_or_else(|error| failed(&*error, NOT_STARTED), |()| ExitCode::SUCCESS)
        }
        (Ok((policy, proxy)), None) => guard_command(&runtime, args, &policy, proxy),
        (Err(error), Some(_)) => failed(&*error, NOT_STARTED),
        (Err(error), None) => {
            let code = failed(&*error, NOT_STARTED);
            // The agent shows it to a person.
            let reason = format!("the guard of this MCP server did not start: {error}");
            runtime.block_on(refuse(&reason, tokio::io::stdin(), tokio::io::stdout()));
            code
        }
    };
    // Standard input may never end.
    runtime.shutdown_background();
    code
}

fn guard_command(runtime: &Runtime, args: &McpArgs, policy: &Policy, proxy: McpProxy) -> ExitCode {
    let Some((program, rest)) = args.command.split_first() else {
        return ExitCode::from(NOT_STARTED);
    };
    let mut command = Command::new(program);
    command.args(rest);
    let running = proxy.run(command, tokio::io::stdin(), tokio::io::stdout());
    let ended = runtime.block_on(async {
        tokio::select! {
            ended = running => Ok(ended),
            signal = terminated() => Err(signal),
        }
    });
    runtime.block_on(print_shadow(policy));
    let ended = match ended {
        Ok(ended) => ended,
        // The server is killed, which has not read that its agent left.
        Err(signal) => return ExitCode::from(of_signal(signal)),
    };
    match ended {
        Ok(status) => ExitCode::from(code(status)),
        Err(error) => {
            let code = failed(&error, NOT_STARTED);
            let reason = error.to_string();
            runtime.block_on(refuse(&reason, tokio::io::stdin(), tokio::io::stdout()));
            code
        }
    }
}

async fn serve(
    mut proxy: McpProxy,
    url: &str,
    address: SocketAddr,
    token: Option<&Path>,
) -> Result<(), BoxError> {
    if let Some(file) = token {
        proxy = proxy.token(Token::in_file(file)?.secret())?;
    }
    let listener = TcpListener::bind(address).await;
    let listener = listener.map_err(|error| format!("{address}: {error}"))?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    Ok(proxy.serve(url, listener).await?)
}

async fn proxy(args: &McpArgs) -> Result<(Policy, McpProxy), BoxError> {
    if args.policies.is_empty() {
        return Err(
            "no policy file: write `hooks-agent mcp --policy policy.toml -- COMMAND`".into()
        );
    }
    let policy = args.policies.builder().open()?;
    NotHeld::BY_A_GUARD.check(&policy.merged(), &args.name)?;
    let guard = Guard::new(policy.clone()).agent(args.name.as_str());
    let mut proxy = McpProxy::new(guard)
        .deadline(Duration::from_secs(args.deadline))
        .grace(Duration::from_secs(args.grace))
        .report(|line| eprintln!("{line}"));
    if let Some(name) = &args.server {
        proxy = proxy.server(name);
    }
    if let Some(thread) = &args.thread {
        proxy = proxy.session(thread);
    }
    if let Some(file) = &args.state {
        let threads = GuestThreads::open(file).await;
        let unopened = |error| format!("{}: {error}", file.display());
        proxy = proxy.threads(threads.map_err(unopened)?);
    }
    Ok((policy, proxy))
}

/// Returns the exit code of a server as that of this program: of one that a signal ended, as shells do.
fn code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        if let Some(signal) = status.signal() {
            return of_signal(signal);
        }
    }
    status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

fn of_signal(signal: i32) -> u8 {
    u8::try_from(128 + signal).unwrap_or(u8::MAX)
}

/// Waits for a signal that ends the program, and returns it.
#[cfg(unix)]
async fn terminated() -> i32 {
    use tokio::signal::unix::{SignalKind, signal};
    let kinds = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()];
    let [Ok(mut term), Ok(mut int), Ok(mut hup)] = kinds.map(signal) else {
        // They end the program by themselves.
        return std::future::pending().await;
    };
    let kind = tokio::select! {
        _ = term.recv() => kinds[0],
        _ = int.recv() => kinds[1],
        _ = hup.recv() => kinds[2],
    };
    kind.as_raw_value()
}

#[cfg(not(unix))]
async fn terminated() -> i32 {
    std::future::pending().await
}
