//! `hooks-agent check` and `hooks-agent schema`.

use std::process::ExitCode;

use clap::Args;
use hooks_agent_policy::policy::{PolicyBuilder, PolicyFile, schema as schema_of_policies};

use crate::policies::PolicyArgs;
use crate::print::failed;
use hooks_agent_guest::{Dialect, Guard};
use hooks_agent_serve::NotHeld;

/// Prints what policy files say together, with the layer of each entry, or all their errors; and what a coding agent
/// cannot be told.
///
/// The exit code is 0 if the files are valid, else 1.
#[derive(Args)]
pub(super) struct CheckArgs {
    /// Policy files of the project.
    #[arg(value_name = "FILE")]
    files: Vec<std::path::PathBuf>,
    #[command(flatten)]
    policies: PolicyArgs,
    /// Prints what this agent cannot be told, such as `claude` or `codex`.
    #[arg(long, value_name = "AGENT")]
    agent: Option<Dialect>,
}

pub(super) fn run(args: &CheckArgs) -> ExitCode {
    if let Some(agent) = args.agent {
        print_limits(agent);
        if args.files.is_empty() && args.policies.is_empty() {
            return ExitCode::SUCCESS;
        }
        say!("");
    }
    if args.files.is_empty() && args.policies.is_empty() {
        eprintln!("no policy file: write `hooks-agent check policy.toml`");
        return ExitCode::from(2);
    }
    let files = args.files.iter().map(PolicyFile::at);
    let builder = files.fold(args.policies.builder(), PolicyBuilder::project);
    match builder.check() {
        Ok(merged) => {
            say!("{merged}");
            match NotHeld::BY_A_GUARD.check(&merged, Guard::DEFAULT_AGENT) {
                Err(error) if args.agent.is_some() => failed(&*error, 1),
                _ => ExitCode::SUCCESS,
            }
        }
        Err(errors) => failed(&errors, 1),
    }
}

/// Prints what an agent cannot be told, and when it goes on without its guard.
fn print_limits(agent: Dialect) {
    say!("{}, as version {} behaves", agent.agent(), agent.version());
    let print = |title: &str, lines: &[String]| {
        if !lines.is_empty() {
            say!("\n{title}:");
        }
        for line in lines {
            say!("- {line}");
        }
    };
    print("cannot be told", &agent.cannot());
    let gaps: Vec<_> = agent.gaps().iter().map(|&gap| gap.to_owned()).collect();
    print("goes on without its guard", &gaps);
}

/// Prints the JSON schema of policy files, for editors.
pub(super) fn schema() -> ExitCode {
    say!("{:#}", schema_of_policies());
    ExitCode::SUCCESS
}
