//! Matches of a scanner in a text, for tests.

use hooks_agent_builtin::guard::pii::{PiiDetector, PiiKind, PiiScanner};

/// The values of this kind in a text.
pub(crate) fn values(kind: PiiKind, text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    PiiScanner::new([kind]).scan(text, 0, &mut found);
    assert!(found.iter().all(|found| found.kind == kind.name()));
    let all = PiiScanner::all();
    let mut of_all = Vec::new();
    all.scan(text, 0, &mut of_all);
    assert!(found.iter().all(|found| of_all.contains(found)), "one pass finds less: {text}");
    found.iter().map(|found| &text[found.range.clone()]).collect()
}

/// The ranges of this kind in a text, in characters.
pub(crate) fn chars(kind: PiiKind, text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    PiiScanner::new([kind]).scan(text, 0, &mut found);
    let count = |at: usize| text[..at].chars().count();
    found.iter().map(|found| (count(found.range.start), count(found.range.end))).collect()
}

#[track_caller]
pub(crate) fn found(kind: PiiKind, wanted: &[&str]) {
    for value in wanted {
        for text in [
            (*value).to_owned(),
            format!("see {value} and on"),
            format!("({value})"),
            format!("\"{value}\","),
            format!("请看{value}，谢谢"),
            format!("{value}."),
        ] {
            assert_eq!(values(kind, &text), [*value], "in {text}");
        }
    }
}

#[track_caller]
pub(crate) fn not_found(kind: PiiKind, texts: &[&str]) {
    for text in texts {
        assert_eq!(values(kind, text), [""; 0], "in {text}");
    }
}
