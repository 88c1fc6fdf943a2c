//! `hooks-agent score`.

mod labels;
mod runs;
mod set;
mod table;
mod tally;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use hooks_agent_builtin::guard::SecretScanner;
use hooks_agent_builtin::guard::pii::{PiiConfidence, PiiDetector, PiiKind, PiiScanner};
use hooks_core::BoxError;

use crate::print::failed;
use crate::score::runs::RunArgs;
use crate::score::set::Set;
use crate::score::tally::{ANY, Tally};

/// Measures detectors on texts of your own, and guards on recorded runs.
///
/// With `--pii` or `--secrets`: how well values are found in texts whose values are known. A file has one JSON object a line: `text`, and `spans`, a list of `[start, end, kind]`, counted in
/// characters, where the kind `any` is found as any kind; `language` and the `region` of telephone numbers may be beside them. Or it is a JSON array in the
/// form of Presidio's data generator. Nothing leaves the machine; the
/// values that are missed or wrong are printed.
///
/// With `--guard`: how many recorded attacks the hooks of a policy file stop, and how often they ask in runs without one.
/// FILE is a folder of runs in the form of `AgentDojo`, a folder in it for each model, or of tapes, of which each thread is a
/// run; what is known of an attack stands in `NAME.toml` beside `NAME.tape`. Each run is played through the hooks:
/// the model and the tools are stand-ins that answer what was recorded, a question is answered with yes, and after a
/// refusal the run goes on as if the call had run. What a model does after a refusal is not known, so a guard is measured
/// up to its first decision, and at the calls that the attack needs.
///
/// With `--suggest-labels`: prints a draft of a policy file with `provenance` for the tools in the runs.
///
/// The exit code is 0 if the files could be read, else 2.
#[derive(Args)]
pub(super) struct ScoreArgs {
    /// The files, or folders of runs.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Looks for personal data.
    #[arg(long, required_unless_present_any = ["secrets", "labels", "suggest_labels"])]
    pii: bool,
    /// Looks for keys, tokens and passwords.
    #[arg(long)]
    secrets: bool,
    /// The kinds to look for, such as `email,phone`. Default: all.
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    kinds: Vec<String>,
    /// How sure it must be: `low`, `medium` or `high`.
    #[arg(long, value_name = "LEVEL", default_value = "medium")]
    min_confidence: String,
    /// How many misses and false alarms of each kind are printed.
    #[arg(long, value_name = "COUNT", default_value_t = 5)]
    list: usize,
    #[command(flatten)]
    runs: RunArgs,
}

pub(super) fn run(args: &ScoreArgs) -> ExitCode {
    if args.runs.suggest_labels {
        return runs::suggest(&args.files);
    }
    if let Some(labels) = &args.runs.labels {
        return runs::run(&args.files, labels, &args.runs);
    }
    match scored(args) {
        Ok(tally) => {
            // Whoever reads may have enough before the end.
            let _ = std::io::stdout().write_all(table::of(&tally, args.list).as_bytes());
            ExitCode::SUCCESS
        }
        Err(error) => failed(&*error, 2),
    }
}

fn scored(args: &ScoreArgs) -> Result<Tally, BoxError> {
    let kinds = if args.pii { kinds(&args.kinds)? } else { Vec::new() };
    let scanner = PiiScanner::new(kinds).min_confidence(least(&args.min_confidence)?);
    let secrets = args.secrets.then(SecretScanner::new);
    let mut known: BTreeSet<_> =
        scanner.kinds().iter().map(|kind| kind.name().to_owned()).collect();
    known.insert(ANY.to_owned());
    if args.secrets {
        known.extend(SecretScanner::kinds().map(|kind| kind.name.to_owned()));
    }
    let mut tally = Tally::new(known);
    for file in &args.files {
        for text in Set::read(file)?.texts {
            let mut found = Vec::new();
            match &text.region {
                None => scanner.scan(&text.text, 0, &mut found),
                Some(region) => {
                    let scanner = scanner.clone().phone_regions([region]);
                    scanner
                        .map_err(|error| format!("{}: {error}", text.place))?
                        .scan(&text.text, 0, &mut found);
                }
            }
            if let Some(secrets) = &secrets {
                secrets.scan(&text.text, 0, &mut found);
            }
            tally.add(&text, &found);
        }
    }
    Ok(tally)
}

fn kinds(names: &[String]) -> Result<Vec<PiiKind>, BoxError> {
    if names.is_empty() {
        return Ok(PiiScanner::all().kinds().to_vec());
    }
    let mut kinds = Vec::new();
    for name in names {
        let of_name = PiiKind::ALL.into_iter().filter(|kind| kind.name() == name);
        let before = kinds.len();
        kinds.extend(of_name);
        if kinds.len() == before {
            let known: Vec<_> = PiiKind::ALL.iter().map(|kind| kind.name()).collect();
            return Err(format!("no kind `{name}`; there are: {}", known.join(", ")).into());
        }
    }
    Ok(kinds)
}

fn least(name: &str) -> Result<PiiConfidence, BoxError> {
    match name {
        "low" => Ok(PiiConfidence::Low),
        "medium" => Ok(PiiConfidence::Medium),
        "high" => Ok(PiiConfidence::High),
        _ => Err(format!("no confidence `{name}`; there are: low, medium, high").into()),
    }
}
