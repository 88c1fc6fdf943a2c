//! `hooks-agent replay`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use hooks_agent_core::hook::ShadowCounts;
use hooks_agent_policy::policy::MergedHook;
use hooks_agent_replay::{DriftKind, RecordedCall, Recording, Rerun, Verdict, rerun};
use hooks_core::BoxError;
use serde_json::json;

use crate::policies::PolicyArgs;
use crate::print::failed;

/// Says what a policy would have refused, changed or let through in recorded runs.
///
/// No model is asked and no tool runs: both are stand-ins that answer what was recorded. The exit code is
/// 0 if no decision changed, 1 if one did, 2 if the tape or the policy cannot be read.
#[derive(Args)]
pub(super) struct ReplayArgs {
    /// The tape.
    #[arg(value_name = "TAPE")]
    tape: PathBuf,
    #[command(flatten)]
    policies: PolicyArgs,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
}

/// What the exit code says of a drift: what hooks decide, and what follows from it.
const DECISIONS: [DriftKind; 6] = [
    DriftKind::DecisionChanged,
    DriftKind::ToolInputChanged,
    DriftKind::ToolOrder,
    DriftKind::ToolMissing,
    DriftKind::ToolExtra,
    DriftKind::OutcomeChanged,
];

/// What a replay cannot say.
struct Notes {
    /// The kinds of texts that the tape has no more.
    redacted: Vec<String>,
    /// The hooks that decided in the recording and that the policy does not have.
    not_run: BTreeSet<String>,
    /// What the entries of the policy that are in shadow would have done.
    shadow: Vec<(String, ShadowCounts)>,
}

pub(super) fn run(args: &ReplayArgs) -> ExitCode {
    match again(args) {
        Ok((runs, notes)) => {
            if args.json {
                let Notes { redacted, not_run, shadow } = notes;
                let shadow: BTreeMap<_, _> = shadow.into_iter().collect();
                let printed = json!({
                    "runs": runs, "redacted": redacted, "not_run": not_run, "shadow": shadow,
                });
                say!("{printed}");
            } else {
                print(&runs, &notes);
            }
            ExitCode::from(u8::from(runs.iter().any(has_changed)))
        }
        Err(error) => failed(&*error, 2),
    }
}

fn again(args: &ReplayArgs) -> Result<(Vec<Rerun>, Notes), BoxError> {
    if args.policies.is_empty() {
        return Err("no policy file: write `hooks-agent replay run.tape --policy new.toml`".into());
    }
    let policy = args.policies.builder().open()?;
    let recording = Recording::read(&args.tape)?;
    let merged = policy.merged();
    let own = merged.hooks().iter().map(MergedHook::name).chain(["policy limits", "CommandHooks"]);
    let own: BTreeSet<_> = own.collect();
    let decided = recording.calls().iter().flat_map(RecordedCall::decisions);
    let not_run = decided.map(|it| it.hook().to_owned()).filter(|it| !own.contains(it.as_str()));
    let (redacted, not_run) = (recording.redacted().to_vec(), not_run.collect());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let again = rerun(recording, |_, builder| builder.hook_source(policy.clone()));
    let runs = runtime.block_on(again)?;
    runtime.block_on(policy.shadow_caught_up());
    let notes = Notes { redacted, not_run, shadow: policy.shadow_counts() };
    Ok((runs, notes))
}

fn has_changed(run: &Rerun) -> bool {
    // What was not made again cannot be said to stay.
    run.outcome == "skipped"
        || run.drift.verdict == Verdict::Broken
        || DECISIONS.iter().any(|kind| run.drift.has(*kind))
}

fn print(runs: &[Rerun], notes: &Notes) {
    let changed = runs.iter().filter(|run| has_changed(run)).count();
    for Rerun { run, agent, thread, outcome, drift, .. } in runs {
        say!("{run}, agent {agent}, thread {thread}: {outcome}");
        say!("{drift}");
    }
    if !notes.redacted.is_empty() {
        let kinds = notes.redacted.join(", ");
        say!("the tape has no texts of these kinds, so hooks find none: {kinds}");
    }
    if !notes.not_run.is_empty() {
        let names = notes.not_run.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        say!("these hooks decided in the recording and are not in the policy: {names}");
    }
    for (name, counts) in &notes.shadow {
        say!("in shadow: {name}: {counts}");
    }
    say!("{changed} of {} runs would go another way", runs.len());
}
