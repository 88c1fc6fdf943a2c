//! `hooks-agent serve`: a guard that stays.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use clap::Args;
use hooks_agent_guest::Guard;
use hooks_agent_policy::policy::PolicyEvent;
use hooks_agent_serve::{Decisions, Server, Token};
use hooks_core::BoxError;

use crate::policies::PolicyArgs;
use crate::print::{failed, warn_on_stderr};
use crate::state::{socket_file, state_file};
use crate::stay::stop::{stopped, survive_full_files};

const NEEDS_ADDRESS: &str = "a guard has no socket on this system: write `hooks-agent serve --address 127.0.0.1:7788 --token-file FILE`, and \
                             have `hooks-agent-ask` ask it with the same arguments";

/// Serves a guard that decides about the events of coding agents: one process, one policy, which is read again when its
/// files change.
///
/// `hooks-agent-ask` asks it, as the hook of an agent: `hooks-agent install AGENT --serve` writes it into the settings.
/// State is in memory and written to the file together, every 20 milliseconds; a server that is killed loses as much.
#[derive(Args)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    policies: PolicyArgs,
    /// The SQLite file of threads, which no other process uses meanwhile: another one than that of `hooks-agent guard`.
    /// Without it, `serve.db` where programs of the user keep their state.
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// The Unix socket, which its user alone can reach. Without it, `serve.sock` beside the file of threads. Systems other
    /// than Unix have none: `--address` is needed there.
    #[arg(long, value_name = "FILE")]
    socket: Option<PathBuf>,
    /// An address of this machine to listen on too, such as `127.0.0.1:7788`, for hooks that are HTTP handlers.
    #[arg(long, value_name = "ADDRESS", requires = "token_file")]
    address: Option<SocketAddr>,
    /// The file of the token that requests at the address have. It is created if it is not there.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// The name of the agent, which policies match.
    #[arg(long, value_name = "NAME", default_value = Guard::DEFAULT_AGENT)]
    name: String,
    /// How many seconds a decision takes at most; then the event is blocked.
    #[arg(long, value_name = "SECONDS", default_value_t = 15)]
    deadline: u64,
    /// Has each answer wait until what it changed is on the disk: nothing is lost if the server is killed.
    #[arg(long)]
    durable: bool,
}

pub(crate) fn run(args: &ServeArgs) -> ExitCode {
    match serve(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&*error, 1),
    }
}

fn serve(args: &ServeArgs) -> Result<(), BoxError> {
    warn_on_stderr();
    if args.policies.is_empty() {
        return Err("no policy file: write `hooks-agent serve --policy policy.toml`".into());
    }
    let policy = args.policies.builder().open()?;
    let _watcher = policy.watch()?;
    let mut changes = policy.subscribe();
    thread::spawn(move || {
        while let Some(event) = changes.wait() {
            say(&event);
        }
    });
    let state = match &args.state {
        Some(state) => state.clone(),
        None => state_file(None)?.with_file_name("serve.db"),
    };
    let socket = match &args.socket {
        Some(socket) => Some(socket.clone()),
        None if cfg!(unix) => Some(socket_file(&state)?),
        None if args.address.is_some() => None,
        None => return Err(NEEDS_ADDRESS.into()),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        survive_full_files();
        if let Some(socket) = &socket {
            // Another one has the file too, which would be waited for.
            refuse_served(socket)?;
        }
        let decisions = Decisions::open(policy, &state).await?.agent(args.name.as_str())?;
        // Before anybody knows that it listens, and may stop it.
        let stopped = stopped();
        let decisions = decisions.deadline(Duration::from_secs(args.deadline));
        let mut server = Server::new(decisions.wait_for_disk(args.durable));
        if let Some(socket) = socket {
            server = server.socket(&socket).await?;
            println!("{}", socket.display());
        }
        if let (Some(address), Some(file)) = (args.address, &args.token_file) {
            server = server.address(address, Token::in_file(file)?).await?;
            if let Some(address) = server.local_address() {
                println!("http://{address}");
            }
        }
        server.serve(stopped).await?;
        Ok::<(), BoxError>(())
    })
}

#[cfg(unix)]
fn refuse_served(socket: &Path) -> Result<(), BoxError> {
    match std::os::unix::net::UnixStream::connect(socket) {
        Ok(_) => Err(hooks_agent_serve::ServeError::IsServed(socket.to_owned()).into()),
        Err(_) => Ok(()),
    }
}

#[cfg(not(unix))]
fn refuse_served(_: &Path) -> Result<(), BoxError> {
    Ok(())
}

/// Says what came of files that changed.
fn say(event: &PolicyEvent) {
    match event {
        PolicyEvent::Reloaded(reloaded) => eprintln!("the policy was read again: {reloaded}"),
        PolicyEvent::Failed(errors) => {
            eprintln!("the policy is broken, the last one stays: {errors}");
        }
        _ => {}
    }
}
