//! The manifest of the examples.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

fn manifest() -> Table {
    fs::read_to_string(folder().join("Cargo.toml")).unwrap().parse().unwrap()
}

/// The names of the examples.
pub(crate) fn examples() -> BTreeSet<String> {
    let manifest = manifest();
    let examples = manifest["example"].as_array().unwrap().iter();
    examples.map(|example| example["name"].as_str().unwrap().to_owned()).collect()
}

fn names(list: &Value) -> BTreeSet<String> {
    list.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_manifest_has_every_example() {
    let files = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|file| file.extension().is_some_and(|it| it == "rs"));
    let mut files: BTreeSet<_> =
        files.map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    let library = manifest()["lib"]["path"].as_str().unwrap().to_owned();
    files.remove(library.trim_end_matches(".rs"));
    assert_eq!(files, examples());
}

#[test]
fn full_has_every_feature_and_each_example_names_features_that_are_there() {
    let manifest = manifest();
    let features = manifest["features"].as_table().unwrap();
    let mut all: BTreeSet<_> = features.keys().cloned().collect();
    all.remove("default");
    all.remove("full");
    assert_eq!(names(&features["full"]), all, "`full` is every feature but `default`");
    for example in manifest["example"].as_array().unwrap() {
        let Some(required) = example.get("required-features") else { continue };
        assert!(names(required).is_subset(&all), "{example}");
    }
}
