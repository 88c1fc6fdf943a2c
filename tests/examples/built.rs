//! Which examples cargo has built beside these tests: it skips those without a feature in silence.

use std::collections::BTreeSet;
use std::env::consts::EXE_SUFFIX;
use std::path::PathBuf;

// The crate whose examples they are, with the feature `full`.
use hooks_examples as _;

use hooks_fixtures::tell;

use crate::manifest::examples;

/// The program of an example.
pub(crate) fn program(example: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests.ancestors().nth(2).unwrap().join(format!("examples/{example}{EXE_SUFFIX}"))
}

#[test]
fn the_tests_of_the_workspace_build_every_example() {
    let (there, missing): (BTreeSet<_>, BTreeSet<_>) =
        examples().into_iter().partition(|example| program(example).is_file());
    if there.is_empty() {
        tell("skipped: examples are built by `cargo test --workspace`");
        return;
    }
    assert!(missing.is_empty(), "not built: {missing:?}. Is their feature in `full`?");
}
