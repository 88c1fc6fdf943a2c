//! `hooks-agent score`.

mod labels;
mod set;
mod table;
mod tally;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use hooks_agent_builtin::guard::pii::{PiiConfidence, PiiDetector, PiiKind, PiiScanner};
use hooks_core::BoxError;

use crate::cli::failed;
use crate::cli::score::set::Set;
use crate::cli::score::tally::Tally;

/// Measures how well personal data are found in texts of your own, whose values are known.
///
/// A file has one JSON object a line: `text`, and `spans`, a list of `[start, end, kind]`, counted in
/// characters; or it is a JSON array in the form of Presidio's data generator. Nothing leaves the machine; the
/// values that are missed or wrong are printed.
///
/// The exit code is 0 if the files could be read, else 2.
#[derive(Args)]
pub(super) struct ScoreArgs {
    /// The files.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Looks for personal data.
    #[arg(long, required = true)]
    pii: bool,
    /// The kinds to look for, such as `email,phone`. Default: all.
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    kinds: Vec<String>,
    /// How sure it must be: `low`, `medium` or `high`.
    #[arg(long, value_name = "LEVEL", default_value = "medium")]
    min_confidence: String,
    /// How many misses and false alarms of each kind are printed.
    #[arg(long, value_name = "COUNT", default_value_t = 5)]
    list: usize,
}

pub(super) fn run(args: &ScoreArgs) -> ExitCode {
    match scored(args) {
        Ok(tally) => {
            table::print(&tally, args.list);
            ExitCode::SUCCESS
        }
        Err(error) => failed(&*error, 2),
    }
}

fn scored(args: &ScoreArgs) -> Result<Tally, BoxError> {
    let scanner = PiiScanner::new(kinds(&args.kinds)?).min_confidence(least(&args.min_confidence)?);
    let known = scanner.kinds().iter().map(|kind| kind.name().to_owned()).collect();
    let mut tally = Tally::new(known);
    for file in &args.files {
        for text in Set::read(file)?.texts {
            let mut found = Vec::new();
            scanner.scan(&text.text, 0, &mut found);
            tally.add(text, &found);
        }
    }
    Ok(tally)
}

fn kinds(names: &[String]) -> Result<Vec<PiiKind>, BoxError> {
    if names.is_empty() {
        return Ok(PiiKind::ALL.to_vec());
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
