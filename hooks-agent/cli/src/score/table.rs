//! Writes the counts as a table.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use crate::score::tally::{Case, Counts, Tally};

/// Two-sided, 95 %.
const Z: f64 = 1.96;

/// Returns the counts of each kind and language, and some of the misses and false alarms.
pub(super) fn of(tally: &Tally, listed: usize) -> String {
    let mut table = String::new();
    write(&mut table, tally, listed).expect("a text takes all");
    table
}

fn write(to: &mut String, tally: &Tally, listed: usize) -> fmt::Result {
    writeln!(
        to,
        "{:<22}{:>8}{:>8}{:>9}{:>9}{:>8}{:>8}  {:<22}{:<22}",
        "kind", "values", "exact", "overlap", "covered", "found", "wrong", "recall", "precision"
    )?;
    for (kind, counts) in &tally.kinds {
        row(to, kind, counts)?;
    }
    row(to, "all", &tally.all())?;
    if tally.languages.len() > 1 {
        writeln!(to)?;
        for (language, counts) in &tally.languages {
            row(to, if language.is_empty() { "no language" } else { language }, counts)?;
        }
    }
    let (texts, wrong) = (tally.texts, tally.wrong_texts);
    writeln!(to, "\n{texts} texts, {wrong} with a false alarm: {}", share(wrong, texts))?;
    if !tally.unknown.is_empty() {
        let unknown = tally.unknown.iter().map(|(kind, count)| format!("{kind} {count}"));
        writeln!(to, "not looked for: {}", unknown.collect::<Vec<_>>().join(", "))?;
    }
    list(to, "missed", &tally.missed, listed)?;
    list(to, "false alarms", &tally.wrong, listed)
}

/// Recall is of values that were found with their kind, precision of what was found where a value is.
fn row(to: &mut String, name: &str, counts: &Counts) -> fmt::Result {
    let Counts { values, exact, overlap, covered, found, wrong } = *counts;
    writeln!(
        to,
        "{name:<22}{values:>8}{exact:>8}{overlap:>9}{covered:>9}{found:>8}{wrong:>8}  {:<22}{:<22}",
        share(overlap, values),
        share(found - wrong, found)
    )
}

fn list(to: &mut String, title: &str, cases: &[Case], listed: usize) -> fmt::Result {
    if cases.is_empty() || listed == 0 {
        return Ok(());
    }
    writeln!(to, "\n{title}:")?;
    let mut by_kind: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for case in cases {
        by_kind.entry(&case.kind).or_default().push(case);
    }
    for (kind, cases) in by_kind {
        for case in cases.iter().take(listed) {
            writeln!(to, "  {kind}: {:?} behind {:?}  {}", case.value, case.before, case.place)?;
        }
        if cases.len() > listed {
            writeln!(to, "  {kind}: and {} more", cases.len() - listed)?;
        }
    }
    Ok(())
}

/// A share with its interval by Wilson's method, such as `98.0 % (93.0 to 99.4)`.
fn share(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "-".to_owned();
    }
    #[expect(clippy::cast_precision_loss, reason = "counts of texts")]
    let (part, whole) = (part as f64, whole as f64);
    let (rate, z2) = (part / whole, Z * Z);
    let middle = rate + z2 / (2.0 * whole);
    let half = Z * (rate * (1.0 - rate) / whole + z2 / (4.0 * whole * whole)).sqrt();
    let bound = |bound: f64| (100.0 * bound / (1.0 + z2 / whole)).clamp(0.0, 100.0);
    let (low, high) = (bound(middle - half), bound(middle + half));
    format!("{:.1} % ({low:.1} to {high:.1})", 100.0 * rate)
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn shares_have_their_intervals() {
        // Newcombe 1998, table I: 81 of 263, 0 of 20.
        assert_eq!(share(81, 263), "30.8 % (25.5 to 36.6)");
        assert_eq!(share(0, 20), "0.0 % (0.0 to 16.1)");
        assert_eq!(share(0, 0), "-");
    }
}
