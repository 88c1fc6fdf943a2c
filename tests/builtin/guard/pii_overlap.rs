//! Which match replaces matches that overlap.

use hooks_agent_builtin::guard::pii::{PiiDetector, PiiKind, PiiScanner};

#[test]
fn a_scanner_merges_kinds_that_overlap() {
    let text = "ana@example.com/path 10.0.0.1";
    let found = PiiScanner::all().find(text, 0).unwrap();
    assert_eq!((&*found.kind, found.range), ("url", 0..20));
    let found = PiiScanner::all().find(text, 20).unwrap();
    assert_eq!((&*found.kind, found.range), ("ip", 21..29));
    let first = PiiScanner::new([PiiKind::Email, PiiKind::Url]).find("a@b.com/x", 0).unwrap();
    assert_eq!((&*first.kind, first.range), ("email", 0..9));
}
