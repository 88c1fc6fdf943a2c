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

/// The names that a module exports, each as `crate::module::Name`; those of the root without a module.
fn exported() -> HashSet<String> {
    let root = code(&source().join("lib.rs"));
    let modules = root.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    let modules = modules.filter(|module| !module.starts_with("__"));
    let mut exported = exports("", &root);
    for module in modules {
        let folder = source().join(module).join("mod.rs");
        let file = if folder.exists() { folder } else { source().join(format!("{module}.rs")) };
        let code = code(&file);
        exported.extend(exports(&format!("{module}::"), &code));
        let inside =
            code.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
        exported.extend(inside.map(|name| format!("{module}::{name}")));
    }
    exported
}

/// The names that this code exports.
fn exports(module: &str, code: &str) -> HashSet<String> {
    let exports = code.split("pub use ").skip(1).map(|rest| rest.split(';').next().unwrap());
    let last = exports.map(|path| match path.split_once('{') {
        Some((_, list)) => list.trim_end_matches('}'),
        None => path.rsplit("::").next().unwrap(),
    });
    let used = last.flat_map(|list| list.split(',')).map(str::trim);
    let used = used.filter(|name| !name.is_empty()).map(str::to_owned);
    let declared = ["pub struct ", "pub enum ", "pub trait ", "pub fn "].into_iter();
    let declared = declared.flat_map(|keyword| code.split(keyword).skip(1));
    let declared =
        declared.map(|rest| rest.split(|char| !is_name(char)).next().unwrap().to_owned());
    used.chain(declared).map(|name| format!("{module}{name}")).collect()
}

/// The paths into the crate, in code of a file in this folder, that users do not have.
fn private_paths(code: &str, folder: &str, exported: &HashSet<String>) -> Vec<String> {
    let own = format!("{folder}::");
    let into_crate = code.match_indices("crate::").map(|(at, found)| &code[at + found.len()..]);
    let of_others = into_crate.filter(|path| !path.starts_with(&own));
    let unknown = of_others.flat_map(|path| {
        let module = match path.split_once("::") {
            Some((module, _)) if module.chars().all(is_name) => format!("{module}::"),
            _ => String::new(),
        };
        let names = names(&path[module.len()..]).into_iter();
        let paths = names.map(move |name| format!("{module}{name}"));
        paths.filter(|path| !exported.contains(path))
    });
    let upward = code.match_indices("super::").map(|_| "super".to_owned());
    unknown.chain(upward).collect()
}

#[test]
fn built_in_hooks_import_from_the_crate_only_what_it_exports() {
    let (source, exported) = (source(), exported());
    assert!(exported.contains("hook::AgentHook") && exported.contains("hook::priority"));
    assert!(exported.contains("memory::Memory") && !exported.contains("event::Decided"));
    let files = files(&source.join("builtin"));
    assert!(files.len() > 3);
    for file in files {
        let folder = file.parent().unwrap().strip_prefix(&source).unwrap();
        let folder = folder.to_str().unwrap().replace(std::path::MAIN_SEPARATOR, "::");
        let mut paths = private_paths(&code(&file), &folder, &exported);
        // Plain HTTP has nothing of an agent.
        paths.retain(|path| !path.starts_with("http::"));
        assert_eq!(paths, [""; 0], "{}", file.display());
    }
}

#[test]
fn an_import_of_what_the_crate_does_not_export_is_found() {
    let found = |code: &str| private_paths(code, "builtin::observe::jsonl_trace", &exported());
    assert_eq!(found("use crate::event::{EventKind, Flow};\nuse crate::HookResult;"), [""; 0]);
    assert_eq!(found("use crate::builtin::observe::jsonl_trace::runs::Runs;"), [""; 0]);
    assert_eq!(found("let at = crate::hook::priority::SECURITY;"), [""; 0]);
    assert_eq!(found("use crate::event::Decided;"), ["event::Decided"]);
    assert_eq!(found("use crate::hook::{\n    AgentHook,\n    named,\n};"), ["hook::named"]);
    assert_eq!(found("use crate::builtin::other::Runs;"), ["builtin::other"]);
    assert_eq!(found("use super::super::event;"), ["super", "super"]);
}
