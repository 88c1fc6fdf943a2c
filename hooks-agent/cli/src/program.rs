//! The commands of the program, and how they end.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::stay::{mcp, proxy, serve};
use crate::{approvals, check, doctor, guard, install, replay, score, trust};

/// Hooks for agents: guards coding agents, MCP servers and the APIs of models, checks policy files, replays recorded
/// runs, measures detectors, revokes remembered approvals.
#[derive(Parser)]
#[command(name = "hooks-agent", version, max_term_width = 100)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Guard(guard::GuardArgs),
    Install(install::InstallArgs),
    Uninstall(install::UninstallArgs),
    Doctor(doctor::DoctorArgs),
    Serve(serve::ServeArgs),
    Mcp(mcp::McpArgs),
    Proxy(proxy::ProxyArgs),
    Check(check::CheckArgs),
    Approvals(approvals::ApprovalArgs),
    Replay(replay::ReplayArgs),
    Score(score::ScoreArgs),
    Trust(trust::TrustArgs),
    /// Prints the JSON schema of policy files, for editors.
    Schema,
}

/// Runs the program with the arguments of this process.
///
/// Arguments that are wrong end it with exit code 2, by which a coding agent blocks its event.
#[must_use]
pub fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return unparsed(&error),
    };
    match args.command {
        Command::Guard(args) => guard::run(&args),
        Command::Proxy(args) => proxy::run(&args),
        Command::Install(args) => install::install(&args),
        Command::Uninstall(args) => install::uninstall(&args),
        Command::Mcp(args) => mcp::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Approvals(args) => approvals::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Score(args) => score::run(&args),
        Command::Trust(args) => trust::run(&args),
        Command::Schema => check::schema(),
    }
}

/// Prints what is wrong with the arguments, or the help that they ask for. A guard still has an event.
fn unparsed(error: &clap::Error) -> ExitCode {
    // Nothing can be done about an output that is closed.
    let _ = error.print();
    let is_guard = std::env::args_os().nth(1).is_some_and(|command| command == "guard");
    match u8::try_from(error.exit_code()) {
        Ok(0) => ExitCode::SUCCESS,
        _ if is_guard => guard::unparsed(),
        code => ExitCode::from(code.unwrap_or(1)),
    }
}
