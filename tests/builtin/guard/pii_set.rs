//! Recall and precision of the built-in kinds, on lines made from published formats and check digits.
//!
//! `cargo test -p hooks-agent-builtin-tests --test guard pii_set -- --nocapture` prints the table.

mod lines;
mod lookalikes;
mod random;
mod values;

use hooks_agent_builtin::guard::pii::{PiiDetector, PiiKind, PiiMatch, PiiScanner};

use lines::LANGUAGES;
use random::Random;

/// The kinds with a shape of their own, which are the first ones.
const SHAPES: [PiiKind; 8] = {
    use PiiKind::{CreditCard, Email, Iban, Ipv4, Ipv6, MacAddress, Phone, Url};
    [Email, CreditCard, Ipv4, Ipv6, MacAddress, Url, Phone, Iban]
};

const VALUES_PER_KIND: usize = 16;
const LOOKALIKES_PER_FORM: usize = 8;

#[derive(Clone, Default)]
struct Row {
    positives: usize,
    found: usize,
    false_positives: Vec<String>,
}

fn scan(text: &str) -> Vec<PiiMatch> {
    let mut found = Vec::new();
    PiiScanner::all().scan(text, 0, &mut found);
    found
}

fn row_of(found: &PiiMatch) -> usize {
    let same_name = PiiKind::ALL.iter().position(|kind| kind.name() == found.kind);
    same_name.unwrap()
}

/// Counts the lines with a value of each kind, and what else is found in them.
fn count_positives(rows: &mut [Row], missed: &mut Vec<String>) {
    let mut random = Random::new(1);
    for (index, language) in LANGUAGES.iter().enumerate() {
        for (kind, row) in SHAPES.into_iter().zip(0..) {
            for count in 0..VALUES_PER_KIND {
                let value = values::value(kind, index, count, &mut random);
                let line = language.around(count, &value);
                let at = line.find(&value).unwrap();
                let range = at..at + value.len();
                let found = scan(&line);
                rows[row].positives += 1;
                if found.iter().any(|it| it.kind == kind.name() && it.range == range) {
                    rows[row].found += 1;
                } else {
                    missed.push(format!("{kind:?}: {line}"));
                }
                // Kinds may be parts of others, such as the host of a URL.
                let elsewhere = |it: &&PiiMatch| it.range.end <= at || it.range.start >= range.end;
                for found in found.iter().filter(elsewhere) {
                    rows[row_of(found)].false_positives.push(line.clone());
                }
            }
        }
    }
}

/// Counts what is found in lines that only look alike. Returns the number of lines.
fn count_lookalikes(rows: &mut [Row]) -> usize {
    let (mut random, mut lines) = (Random::new(2), 0);
    for language in &LANGUAGES {
        for form in lookalikes::FORMS {
            for count in 0..LOOKALIKES_PER_FORM {
                let value = form(&mut random);
                let line = language.around(count, &value);
                lines += 1;
                for found in scan(&line) {
                    rows[row_of(&found)].false_positives.push(line.clone());
                }
            }
        }
    }
    lines
}

#[test]
fn what_is_found_does_not_depend_on_how_much_stands_before_and_behind() {
    let mut random = Random::new(3);
    let words = "so it is and so on ".repeat(40);
    for kind in SHAPES {
        for count in 0..VALUES_PER_KIND {
            let line = LANGUAGES[0].around(count, &values::value(kind, 0, count, &mut random));
            let alone: Vec<_> = scan(&line).into_iter().map(|it| (it.kind, it.range)).collect();
            let at = words.len() + 1;
            let among = scan(&format!("{words}\n{line}\n{words}")).into_iter();
            let among: Vec<_> =
                among.map(|it| (it.kind, it.range.start - at..it.range.end - at)).collect();
            assert_eq!(among, alone, "{line}");
        }
    }
}

#[test]
fn every_valid_format_is_found_and_at_most_one_percent_of_lookalikes() {
    let mut rows = vec![Row::default(); PiiKind::ALL.len()];
    let mut missed = Vec::new();
    count_positives(&mut rows, &mut missed);
    let lookalikes = count_lookalikes(&mut rows);
    let positives: usize = rows.iter().map(|row| row.positives).sum();
    println!("{} languages, {positives} lines with a value, {lookalikes} without", LANGUAGES.len());
    println!("{:<12} {:>9} {:>7} {:>7} {:>7}", "kind", "positives", "found", "missed", "false");
    for (kind, row) in PiiKind::ALL.iter().zip(&rows) {
        if row.positives == 0 && row.false_positives.is_empty() {
            continue;
        }
        let (positives, found, wrong) = (row.positives, row.found, row.false_positives.len());
        // The versions of IP have one name; what is found of either wrongly is in the first row.
        println!(
            "{:<12} {positives:>9} {found:>7} {:>7} {wrong:>7}",
            format!("{kind:?}"),
            positives - found
        );
        row.false_positives.iter().for_each(|line| println!("    false: {line}"));
    }
    let wrong: usize = rows.iter().map(|row| row.false_positives.len()).sum();
    println!("false: {wrong} of {lookalikes}");
    assert!(positives >= 400 && lookalikes >= positives && LANGUAGES.len() == 8);
    assert_eq!(missed, [""; 0]);
    assert!(wrong * 100 <= lookalikes, "{wrong} of {lookalikes}");
}
