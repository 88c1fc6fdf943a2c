//! `hooks-agent trust`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use hooks_agent_policy::command::Trust;

use crate::print::failed;

/// Trusts commands of policy files, by the hashes that `hooks-agent check` prints.
#[derive(Args)]
pub(super) struct TrustArgs {
    /// The hashes.
    #[arg(required = true, value_name = "HASH")]
    hashes: Vec<String>,
    /// The file that keeps them.
    #[arg(long, value_name = "FILE")]
    file: PathBuf,
}

pub(super) fn run(args: &TrustArgs) -> ExitCode {
    let trust = Trust::file(&args.file);
    for hash in &args.hashes {
        if let Err(error) = trust.add(hash) {
            return failed(&error, 1);
        }
        say!("trusted in {}: {hash}", args.file.display());
    }
    ExitCode::SUCCESS
}
