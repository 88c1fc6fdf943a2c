//! Built-in hooks use only what every user of the crate can use.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../hooks-agent/src")
}

/// The Rust files in a folder and in the folders inside of it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let inside = entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] });
    inside.filter(|path| path.extension().is_some_and(|it| it == "rs")).collect()
}

/// The code of a file, without comments.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.collect::<Vec<_>>().join("\n")
}

fn is_name(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

/// The names that a path like `a::{B, C}` or `a::B` ends with, given what follows `start`.
fn names(path: &str) -> Vec<&str> {
    let list = match path.strip_prefix('{') {
        Some(list) => list.split('}').next().unwrap(),
        None => path.split(|char| !is_name(char)).next().unwrap(),
    };
    list.split(',').map(str::trim).filter(|name| !name.is_empty()).collect()
}

/// The names that the crate exports at its root.
fn exported() -> HashSet<String> {
    let lib = code(&source().join("lib.rs"));
    let exports = lib.split("pub use ").skip(1).map(|rest| rest.split(';').next().unwrap());
    let last = exports.map(|path| match path.split_once('{') {
        Some((_, list)) => list.trim_end_matches('}'),
        None => path.rsplit("::").next().unwrap(),
    });
    last.flat_map(|list| list.split(',')).map(|name| name.trim().to_owned()).collect()
}

/// The paths into the crate, in code of a file in this folder, that users do not have.
fn private_paths(code: &str, folder: &str, exported: &HashSet<String>) -> Vec<String> {
    let own = format!("{folder}::");
    let into_crate = code.match_indices("crate::").map(|(at, found)| &code[at + found.len()..]);
    let of_others = into_crate.filter(|path| !path.starts_with(&own));
    let unknown = of_others.flat_map(|path| {
        let is_deeper = !path.starts_with('{')
            && path.trim_start_matches(is_name).starts_with("::")
            && !exported.contains(names(path)[0]);
        let names = names(path).into_iter();
        names.filter(move |name| is_deeper || !exported.contains(*name)).map(str::to_owned)
    });
    let upward = code.match_indices("super::").map(|_| "super".to_owned());
    unknown.chain(upward).collect()
}

#[test]
fn built_in_hooks_import_from_the_crate_only_what_it_exports() {
    let (source, exported) = (source(), exported());
    assert!(exported.contains("AgentHook") && exported.contains("priority"));
    assert!(!exported.contains("event"));
    let files = files(&source.join("builtin"));
    assert!(files.len() > 3);
    for file in files {
        let folder = file.parent().unwrap().strip_prefix(&source).unwrap();
        let folder = folder.to_str().unwrap().replace(std::path::MAIN_SEPARATOR, "::");
        assert_eq!(private_paths(&code(&file), &folder, &exported), [""; 0], "{}", file.display());
    }
}

#[test]
fn an_import_of_what_the_crate_does_not_export_is_found() {
    let found = |code: &str| private_paths(code, "builtin::observe::jsonl_trace", &exported());
    assert_eq!(found("use crate::{AgentHook, EventKind};\nuse crate::Flow;"), [""; 0]);
    assert_eq!(found("use crate::builtin::observe::jsonl_trace::runs::Runs;"), [""; 0]);
    assert_eq!(found("let at = crate::priority::SECURITY;"), [""; 0]);
    assert_eq!(found("use crate::event::Decided;"), ["event"]);
    assert_eq!(found("use crate::{\n    AgentHook,\n    event,\n};"), ["event"]);
    assert_eq!(found("use crate::builtin::other::Runs;"), ["builtin"]);
    assert_eq!(found("use super::super::event;"), ["super", "super"]);
}
