//! `hooks-agent check` and `hooks-agent schema`.

use std::process::ExitCode;

use clap::Args;
use hooks_agent_policy::policy::{PolicyBuilder, PolicyFile, schema as schema_of_policies};

use crate::cli::failed;
use crate::cli::policies::PolicyArgs;

/// Prints what policy files say together, with the layer of each entry, or all their errors.
///
/// The exit code is 0 if they are valid, else 1.
#[derive(Args)]
pub(super) struct CheckArgs {
    /// Policy files of the project.
    #[arg(value_name = "FILE")]
    files: Vec<std::path::PathBuf>,
    #[command(flatten)]
    policies: PolicyArgs,
}

pub(super) fn run(args: &CheckArgs) -> ExitCode {
    if args.files.is_empty() && args.policies.is_empty() {
        eprintln!("no policy file: write `hooks-agent check policy.toml`");
        return ExitCode::from(2);
    }
    let files = args.files.iter().map(PolicyFile::at);
    let builder = files.fold(args.policies.builder(), PolicyBuilder::project);
    match builder.check() {
        Ok(merged) => {
            println!("{merged}");
            ExitCode::SUCCESS
        }
        Err(errors) => failed(&errors, 1),
    }
}

/// Prints the JSON schema of policy files, for editors.
pub(super) fn schema() -> ExitCode {
    println!("{:#}", schema_of_policies());
    ExitCode::SUCCESS
}
