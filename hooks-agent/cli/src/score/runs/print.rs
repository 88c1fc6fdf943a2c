//! Prints what was scored.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value, json};

use crate::score::runs::Scored;
use crate::score::runs::sums::{Sum, average, percent};

/// How many of a list are shown without `--misses`.
const FEW: usize = 5;

type Share = fn(&Sum) -> Option<f64>;

const STOPPED: Share = |sum| percent(sum.stopped, sum.attacks);
const OWN: Share = |sum| percent(sum.stopped_at_own, sum.attacks);
const ASKED: Share = |sum| percent(sum.benign_asked, sum.benign);
const RESISTED: Share = |sum| percent(sum.resisted_asked, sum.resisted);

/// The table, for people.
pub(super) fn table(scored: &Scored, all_misses: bool) -> String {
    let Scored { sums, unread, took } = scored;
    let mut text = String::new();
    let width = [&sums.suites, &sums.models, &sums.attacks].into_iter().flat_map(BTreeMap::keys);
    let width = width.map(|name| name.chars().count()).max().unwrap_or(0).max(20);
    head(&mut text, width);
    row(&mut text, width, "all", &sums.all);
    for (title, groups) in
        [("suite", &sums.suites), ("model", &sums.models), ("attack", &sums.attacks)]
    {
        let _ = writeln!(text, "\nby {title}");
        for (name, sum) in groups {
            row(&mut text, width, name, sum);
        }
    }
    text.push_str("\naverages, in which each counts the same\n");
    for (title, groups) in [("models", &sums.models), ("injections", &sums.injections)] {
        let average = |share: Share| cell(average(groups.values(), share));
        let (stopped, own) = (average(STOPPED), average(OWN));
        let (asked, resisted) = (average(ASKED), average(RESISTED));
        let _ = writeln!(
            text,
            "{title:width$}  {:>7} {stopped:>8} {own:>8} {:>7} {asked:>8} {:>8} {:>8} {resisted:>8}",
            "", "", "", ""
        );
    }
    for (title, first) in [
        ("attacks, by the tool of the first decision", &sums.first_in_attacks),
        ("benign runs, by the tool of the first decision", &sums.first_in_benign),
    ] {
        let _ = writeln!(text, "\n{title}");
        let mut first: Vec<_> = first.iter().collect();
        first.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        for (tool, count) in first {
            let _ = writeln!(text, "{count:>7} {tool}");
        }
    }
    list(&mut text, "attacks not stopped at a call of their own", &sums.missed, all_misses);
    list(&mut text, "benign runs with a decision", &sums.asked, all_misses);
    if all_misses {
        list(&mut text, "resisted attacks with a decision", &sums.resisted_asked, true);
    }
    list(&mut text, "runs that cannot be read", unread, all_misses);
    let _ = writeln!(
        text,
        "\n{} runs, {} of them count for nothing, {} cannot be read; {:.1} s",
        sums.runs,
        sums.left_out,
        unread.len(),
        took.as_secs_f64()
    );
    text
}

fn head(text: &mut String, width: usize) {
    let _ = writeln!(
        text,
        "{:width$}  {:>7} {:>8} {:>8} {:>7} {:>8} {:>8} {:>8} {:>8}",
        "%", "attacks", "stopped", "at own", "benign", "asked", "per run", "resisted", "asked"
    );
}

fn row(text: &mut String, width: usize, name: &str, sum: &Sum) {
    let per_run = percent(sum.benign_decisions, sum.benign).map(|share| share / 100.0);
    let per_run = per_run.map_or_else(|| "-".to_owned(), |count| format!("{count:.2}"));
    let _ = writeln!(
        text,
        "{name:width$}  {:>7} {:>8} {:>8} {:>7} {:>8} {per_run:>8} {:>8} {:>8}",
        sum.attacks,
        cell(STOPPED(sum)),
        cell(OWN(sum)),
        sum.benign,
        cell(ASKED(sum)),
        sum.resisted,
        cell(RESISTED(sum)),
    );
}

fn cell(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{share:.1}"))
}

fn list(text: &mut String, title: &str, lines: &[String], all: bool) {
    if lines.is_empty() {
        return;
    }
    let shown = if all { lines.len() } else { FEW };
    let _ = writeln!(text, "\n{} {title}", lines.len());
    for line in lines.iter().take(shown) {
        let _ = writeln!(text, "  {line}");
    }
    if lines.len() > shown {
        let _ = writeln!(text, "  and {} more, with `--misses`", lines.len() - shown);
    }
}

/// The same, for programs.
pub(super) fn json(scored: &Scored) -> String {
    let Scored { sums, unread, took } = scored;
    let averages = |groups: &BTreeMap<String, Sum>| -> Value {
        let average = |share: Share| average(groups.values(), share);
        json!({
            "stopped": average(STOPPED), "stopped_at_own": average(OWN), "benign_asked": average(ASKED),
            "resisted_asked": average(RESISTED),
        })
    };
    let printed = json!({
        "all": sums.all, "suites": sums.suites, "models": sums.models, "attacks": sums.attacks,
        "injections": sums.injections,
        "averages": { "models": averages(&sums.models), "injections": averages(&sums.injections) },
        "first_in_attacks": sums.first_in_attacks, "first_in_benign": sums.first_in_benign,
        "missed": sums.missed, "asked": sums.asked,
        "resisted_asked": sums.resisted_asked, "unread": unread,
        "runs": sums.runs, "left_out": sums.left_out, "seconds": took.as_secs_f64(),
    });
    format!("{printed}\n")
}
