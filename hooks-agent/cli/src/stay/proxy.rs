//! `hooks-agent proxy`: the guard between an agent and the API of its model.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use hooks_agent_guest::{Guard, LiveThreads};
use hooks_agent_policy::policy::Policy;
use hooks_agent_proxy::{ModelProxy, Provider, ProxyThreads};
use hooks_agent_serve::{NotHeld, Token};
use hooks_core::BoxError;
use tokio::net::TcpListener;

use crate::guard::keep_panics_short;
use crate::policies::PolicyArgs;
use crate::print::{failed, warn_on_stderr};
use crate::state::state_file;
use crate::stay::stop::{stopped, survive_full_files};

/// Hooks that a proxy cannot hold: they need what a request does not say.
const NOT_HELD: NotHeld = NotHeld {
    by: "proxy",
    hooks: &["budget", "mcp_pins", "provenance", "quotas"],
    why: "it counts no tokens, no money and no quotas, keeps nothing of what the agent read, and cannot ask servers \
          what their tools are",
};

/// Stands between an agent and the API of its model, and guards what goes through by the hooks of the policy.
///
/// The agent has `OPENAI_BASE_URL` or `ANTHROPIC_BASE_URL` as the proxy prints them. Keys stay with the agent: its headers
/// are passed on.
#[derive(Args)]
pub(crate) struct ProxyArgs {
    #[command(flatten)]
    policies: PolicyArgs,
    /// A provider and the URL of its API: `openai=https://api.openai.com/v1`, `anthropic=https://api.anthropic.com`.
    #[arg(long, value_name = "NAME=URL", required = true, value_parser = upstream)]
    upstream: Vec<(Provider, String)>,
    /// The address to listen at. One that other machines reach needs a token.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:4000")]
    listen: SocketAddr,
    /// A host and port by which the proxy is called, beside its address.
    #[arg(long, value_name = "HOST:PORT")]
    host: Vec<String>,
    /// A file with the token that requests must have in the header `x-hooks-agent-token`.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// The SQLite file in which hooks keep values of threads, which no other process uses meanwhile. Without it, `proxy.db`
    /// where programs of the user keep their state.
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// The name of the agent, which policies match.
    #[arg(long, value_name = "NAME", default_value = Guard::DEFAULT_AGENT)]
    name: String,
}

pub(crate) fn run(args: &ProxyArgs) -> ExitCode {
    keep_panics_short();
    match serve(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&*error, 2),
    }
}

fn serve(args: &ProxyArgs) -> Result<(), BoxError> {
    warn_on_stderr();
    if args.policies.is_empty() {
        return Err("no policy file: write `hooks-agent proxy --policy policy.toml`".into());
    }
    let policy = args.policies.builder().open()?;
    NOT_HELD.check(&policy.merged(), &args.name)?;
    let token = args.token_file.as_deref().map(Token::in_file).transpose()?;
    let state = match &args.state {
        Some(state) => state.clone(),
        None => state_file(None)?.with_file_name("proxy.db"),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        survive_full_files();
        let threads = Arc::new(LiveThreads::open(&state).await?);
        // Before anybody knows that it listens, and may stop it.
        let stopped = stopped();
        let mut proxy = proxy(args, &policy, threads.clone())?;
        if let Some(token) = token {
            proxy = proxy.token(token.secret());
        }
        let listener = TcpListener::bind(args.listen).await;
        let listener = listener.map_err(|error| {
            format!("{}: {error}: name another address by `--listen`", args.listen)
        })?;
        let address = listener.local_addr()?;
        for (provider, _) in &args.upstream {
            println!("{}", line(*provider, address));
        }
        let served = tokio::select! {
            served = proxy.serve(listener) => served.map_err(BoxError::from),
            () = threads.write_changes() => Ok(()),
            () = stopped => Ok(()),
        };
        threads.save().await?;
        served
    })
}

/// Creates the proxy, without its token.
fn proxy(
    args: &ProxyArgs,
    policy: &Policy,
    threads: Arc<LiveThreads>,
) -> Result<ModelProxy, BoxError> {
    let guard = Guard::new(policy.clone()).agent(args.name.as_str());
    let proxy = ModelProxy::new(guard, ProxyThreads::live(threads))?;
    let mut proxy = proxy.deny_tools(policy.merged().deny_tools())?;
    for (provider, url) in &args.upstream {
        proxy = proxy.upstream(*provider, url)?;
    }
    Ok(args.host.iter().fold(proxy, ModelProxy::host))
}

/// Returns what an agent has in its environment.
fn line(provider: Provider, address: SocketAddr) -> String {
    match provider {
        Provider::Anthropic => format!("ANTHROPIC_BASE_URL=http://{address}/anthropic"),
        _ => format!("OPENAI_BASE_URL=http://{address}/openai/v1"),
    }
}

fn upstream(text: &str) -> Result<(Provider, String), String> {
    let named = text.split_once('=').and_then(|(name, url)| {
        let provider = Provider::ALL.into_iter().find(|provider| provider.name() == name)?;
        Some((provider, url.to_owned()))
    });
    named.ok_or_else(|| "expected `openai=URL` or `anthropic=URL`".to_owned())
}
