//! Measures guards on recorded runs: how many attacks they stop, and how often they ask.

mod goals;
mod kind;
mod labels;
mod play;
mod print;
mod record;
mod suggest;
mod sums;
mod tapes;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use hooks_agent_policy::policy::Policy;
use hooks_core::BoxError;
use serde::de::DeserializeOwned;

use crate::policies::PolicyArgs;
use crate::print::failed;
use crate::score::runs::goals::Goals;
use crate::score::runs::kind::{Kind, kind_of};
use crate::score::runs::labels::Labels;
use crate::score::runs::play::Player;
use crate::score::runs::record::Run;
use crate::score::runs::suggest::Suggested;
use crate::score::runs::sums::{Outcome, Sums};

/// How guards are measured.
#[derive(Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    policies: PolicyArgs,
    /// The labels of the tools in the runs: `untrusted`, `private`, `plain`, and `[sinks]` with the arguments of each.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["pii", "secrets"])]
    pub(super) labels: Option<PathBuf>,
    /// The calls that the goals of attacks need.
    #[arg(long, value_name = "FILE", requires = "labels")]
    goals: Option<PathBuf>,
    /// Only the runs of these suites.
    #[arg(long = "suite", value_name = "NAME", requires = "labels")]
    suites: Vec<String>,
    /// Prints JSON.
    #[arg(long, requires = "labels")]
    json: bool,
    /// Prints a draft of a policy file with `provenance` for the tools in the runs, and scores nothing.
    #[arg(long, conflicts_with_all = ["labels", "pii", "secrets"])]
    pub(super) suggest_labels: bool,
    /// Prints all attacks that were not stopped, and all other runs with a decision.
    #[arg(long, requires = "labels")]
    misses: bool,
}

/// The result of a score.
struct Scored {
    sums: Sums,
    /// The runs that could not be read, and why.
    unread: Vec<String>,
    took: Duration,
}

pub(super) fn run(folders: &[PathBuf], labels: &Path, args: &RunArgs) -> ExitCode {
    match scored(folders, labels, args) {
        Ok(scored) => {
            let text =
                if args.json { print::json(&scored) } else { print::table(&scored, args.misses) };
            // Whoever reads may have enough before the end.
            let _ = std::io::stdout().write_all(text.as_bytes());
            ExitCode::SUCCESS
        }
        Err(error) => failed(&*error, 2),
    }
}

/// Prints a draft of a policy file for the tools in runs.
pub(super) fn suggest(folders: &[PathBuf]) -> ExitCode {
    match suggested(folders) {
        Ok(policy) => {
            let _ = std::io::stdout().write_all(policy.as_bytes());
            ExitCode::SUCCESS
        }
        Err(error) => failed(&*error, 2),
    }
}

fn suggested(folders: &[PathBuf]) -> Result<String, BoxError> {
    let mut suggested = Suggested::default();
    let mut is_any = false;
    for (file, folder) in files(folders)? {
        match read(&file, &folder) {
            Ok(runs) => {
                is_any |= !runs.is_empty();
                for run in &runs {
                    suggested.add(run);
                }
            }
            Err(error) => eprintln!("{}: {error}", file.display()),
        }
    }
    if is_any { Ok(suggested.policy()) } else { Err("no run can be read".into()) }
}

fn scored(folders: &[PathBuf], labels: &Path, args: &RunArgs) -> Result<Scored, BoxError> {
    if args.policies.is_empty() {
        let example = "hooks-agent score runs --labels labels.toml --guard guard.toml";
        return Err(format!("no guard: name a policy file, as `{example}` does").into());
    }
    let labels: Labels = read_toml(labels)?;
    let goals: Goals = args.goals.as_deref().map_or_else(|| Ok(Goals::default()), read_toml)?;
    let policy = args.policies.builder().open()?;
    let files = files(folders)?;
    let start = Instant::now();
    let suites = &args.suites;
    let work = Work { suites, labels, goals, policy, files, next: AtomicUsize::new(0) };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let parts = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let part = work.part();
                parts.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(part);
            });
        }
    });
    let (mut sums, mut unread) = (Sums::default(), Vec::new());
    for part in parts.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
        let (outcomes, unreadable) = part?;
        for outcome in outcomes {
            sums.add(outcome);
        }
        unread.extend(unreadable);
    }
    sums.sort();
    unread.sort();
    Ok(Scored { sums, unread, took: start.elapsed() })
}

/// The runs, which several threads share.
struct Work<'a> {
    suites: &'a [String],
    labels: Labels,
    goals: Goals,
    policy: Policy,
    files: Vec<(PathBuf, String)>,
    next: AtomicUsize,
}

impl Work<'_> {
    /// Scores runs until none is left.
    fn part(&self) -> Result<(Vec<Outcome>, Vec<String>), BoxError> {
        let player = Player::new(self.policy.clone(), &self.labels)?;
        let (mut outcomes, mut unread) = (Vec::new(), Vec::new());
        while let Some((file, folder)) = self.files.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            let runs = match read(file, folder) {
                Ok(runs) => runs,
                Err(error) => {
                    unread.push(format!("{}: {error}", file.display()));
                    continue;
                }
            };
            let is_asked_for =
                |run: &&Run| self.suites.is_empty() || self.suites.contains(&run.suite);
            for run in runs.iter().filter(is_asked_for) {
                let kind = kind_of(run, &self.goals);
                let decided =
                    if matches!(kind, Kind::LeftOut) { Vec::new() } else { player.play(run) };
                outcomes.push(Outcome::of(run, file, &kind, &decided));
            }
        }
        Ok((outcomes, unread))
    }
}

/// The ending of the names of tapes.
const TAPE: &str = "tape";

/// Reads the runs of a file: one, or those of a tape.
fn read(file: &Path, folder: &str) -> Result<Vec<Run>, BoxError> {
    if file.extension().is_some_and(|extension| extension == TAPE) {
        return tapes::read(file, folder);
    }
    Ok(vec![Run::read(file, folder)?])
}

/// Returns the files of runs in folders, in order.
fn files(folders: &[PathBuf]) -> Result<Vec<(PathBuf, String)>, BoxError> {
    let mut files = Vec::new();
    for folder in folders {
        collect(folder, &mut files)?;
    }
    if files.is_empty() {
        return Err("no run: expected a folder with files `*.json` or `*.tape`".into());
    }
    files.sort();
    Ok(files)
}

/// Collects the files of runs, each with the name of the first folder that it is in.
fn collect(root: &Path, files: &mut Vec<(PathBuf, String)>) -> Result<(), BoxError> {
    let mut open = vec![(root.to_owned(), None::<String>)];
    while let Some((folder, first)) = open.pop() {
        let entries =
            std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for entry in entries {
            let entry = entry?;
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if entry.file_type()?.is_dir() {
                open.push((path, Some(first.clone().unwrap_or(name))));
            } else if path.extension().is_some_and(|it| it == "json" || it == TAPE) {
                files.push((path, first.clone().unwrap_or_default()));
            }
        }
    }
    Ok(())
}

fn read_toml<T: DeserializeOwned>(file: &Path) -> Result<T, BoxError> {
    let name = file.display();
    let text = std::fs::read_to_string(file).map_err(|error| format!("{name}: {error}"))?;
    toml::from_str(&text).map_err(|error| format!("{name}: {error}").into())
}
