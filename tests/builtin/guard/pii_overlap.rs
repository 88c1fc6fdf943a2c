//! Which match replaces matches that overlap.

use hooks_agent::builtin::{PiiDetector, PiiKind, PiiScanner, pii_clusters, settled_clusters};

#[test]
fn a_chain_of_matches_is_one_cluster_of_its_longest() {
    let clusters = pii_clusters(&[(0, 8..12), (1, 0..5), (2, 4..9), (3, 12..14)]);
    assert_eq!(clusters.len(), 2);
    assert_eq!((&clusters[0].range, clusters[0].longest), (&(0..12), 1));
    assert_eq!(clusters[0].members, [1, 2, 0]);
    assert_eq!((&clusters[1].range, clusters[1].longest), (&(12..14), 3));
}

#[test]
fn of_matches_of_the_same_length_the_first_registered_replaces() {
    let clusters = pii_clusters(&[(7, 0..5), (2, 1..6), (3, 0..5)]);
    assert_eq!((clusters.len(), clusters[0].longest), (1, 1));
    let same = pii_clusters(&[(1, 4..8), (1, 2..6)]);
    assert_eq!(same[0].longest, 1);
}

#[test]
fn no_matches_have_no_clusters() {
    assert!(pii_clusters(&[]).is_empty());
    assert_eq!(settled_clusters(&[], 7), 7);
}

#[test]
fn a_cluster_is_settled_as_a_whole() {
    let found = [(0, 0..5), (1, 4..9), (2, 9..12)];
    assert_eq!(settled_clusters(&found, 5), 0);
    assert_eq!(settled_clusters(&found, 9), 9);
    assert_eq!(settled_clusters(&found, 10), 9);
}

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
