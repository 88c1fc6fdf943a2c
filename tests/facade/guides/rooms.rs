//! Rooms import one way, as `ARCHITECTURE.md` lists them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::{Page, root};

/// The rooms of a table, with the number of their row.
fn rooms(page: &Page, heading: &str) -> Vec<(String, usize)> {
    let lines = page.text.lines().skip_while(|line| *line != heading).skip(1);
    let rows =
        lines.take_while(|line| !line.starts_with("## ")).filter(|line| line.starts_with("| `"));
    let mut rooms = Vec::new();
    for (number, row) in rows.enumerate() {
        let names = row.split('|').nth(1).unwrap_or_default().split('`').skip(1).step_by(2);
        rooms.extend(names.map(|name| (name.to_owned(), number)));
    }
    assert!(!rooms.is_empty(), "ARCHITECTURE.md has no table under `{heading}`");
    rooms
}

/// The rooms that a source file names by `crate::`.
fn named(source: &str) -> BTreeSet<String> {
    let code = |line: &str| line.split("//").next().unwrap_or_default().to_owned();
    let source: String = source.lines().map(code).collect::<Vec<_>>().join("\n");
    let mut named = BTreeSet::new();
    for after in source.split("crate::").skip(1) {
        match after.strip_prefix('{') {
            None => drop(named.insert(word(after))),
            Some(group) => {
                let mut depth = 0;
                let mut parts = vec![String::new()];
                for sign in group.chars() {
                    match sign {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => parts.push(String::new()),
                        _ => {}
                    }
                    if let Some(part) = parts.last_mut().filter(|_| sign != ',') {
                        part.push(sign);
                    }
                }
                named.extend(parts.iter().map(|part| word(part.trim())));
            }
        }
    }
    named
}

fn word(text: &str) -> String {
    text.chars().take_while(|sign| sign.is_alphanumeric() || *sign == '_').collect()
}

/// Every import of a file that goes to a room of its own row, other than its own room, or of a later row.
fn wrong_ways(folder: &Path, room: &str, rooms: &[(String, usize)], wrong: &mut Vec<String>) {
    let row = |name: &str| rooms.iter().find(|(known, _)| known == name).map(|(_, row)| *row);
    let here = row(room);
    let entries = fs::read_dir(folder).map(|entries| entries.flatten().collect::<Vec<_>>());
    let files = match entries {
        Ok(entries) => entries.into_iter().map(|entry| entry.path()).collect(),
        Err(_) => vec![folder.with_extension("rs")],
    };
    for file in files {
        if file.is_dir() {
            wrong_ways(&file, room, rooms, wrong);
        } else if file.extension().is_some_and(|extension| extension == "rs") {
            let source = fs::read_to_string(&file).expect("a source file is text");
            for name in named(&source).into_iter().filter(|name| name != room) {
                if row(&name).is_some_and(|there| Some(there) >= here) {
                    wrong.push(format!("{}: `crate::{name}`", file.display()));
                }
            }
        }
    }
}

/// Checks the crate in a folder.
fn check(krate: &str, folder: &str) {
    let page = Page::read(root().join("ARCHITECTURE.md"));
    let rooms = rooms(&page, &format!("## Rooms of `{krate}`"));
    let src = root().join(folder).join("src");
    let mut there = BTreeSet::new();
    for entry in fs::read_dir(&src).expect("it has sources").flatten() {
        let name =
            entry.path().file_stem().expect("files have names").to_string_lossy().into_owned();
        if !matches!(name.as_str(), "ask" | "lib" | "main") {
            there.insert(name);
        }
    }
    let listed: BTreeSet<_> = rooms.iter().map(|(room, _)| room.clone()).collect();
    assert_eq!(there, listed, "the rooms of {krate}, and those in its table in ARCHITECTURE.md");
    let mut wrong = Vec::new();
    for (room, _) in &rooms {
        wrong_ways(&src.join(room), room, &rooms, &mut wrong);
    }
    assert!(
        wrong.is_empty(),
        "a room imports rooms above it in its table in ARCHITECTURE.md, and no others:\n{}",
        wrong.join("\n")
    );
}

/// The imports of a file by the page of its own room, `mod.rs`, and not by the file that defines what it
/// needs.
fn by_own_page(folder: &Path, room: &Path, name: &str, wrong: &mut Vec<String>) {
    let own = format!("use crate::{name}::");
    for file in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if file.is_dir() {
            by_own_page(&file, room, name, wrong);
            continue;
        }
        if file.extension().is_none_or(|extension| extension != "rs") || file.ends_with("mod.rs") {
            continue;
        }
        let source = fs::read_to_string(&file).expect("a source file is text");
        for rest in source.lines().filter_map(|line| line.strip_prefix(&own)) {
            // A group begins with names of the page.
            let next = word(rest);
            let is_file = room.join(&next).exists() || room.join(format!("{next}.rs")).exists();
            if next.is_empty() || !is_file {
                wrong.push(format!("{}: `{own}{rest}`", file.display()));
            }
        }
    }
}

#[test]
fn files_import_from_their_own_room_what_a_file_defines() {
    let mut wrong = Vec::new();
    let crates = [
        "hooks-core",
        "hooks-agent/core",
        "hooks-agent/builtin",
        "hooks-agent/knowledge",
        "hooks-agent/policy",
        "hooks-agent/providers",
        "hooks-agent/sql",
        "hooks-agent",
    ];
    for src in crates.map(|folder| root().join(folder).join("src")) {
        for room in fs::read_dir(&src).expect("it has sources").flatten().map(|it| it.path()) {
            let name = room.file_name().expect("rooms have names").to_string_lossy().into_owned();
            by_own_page(&room, &room, &name, &mut wrong);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn rooms_of_the_core_import_one_way() {
    check("hooks-core", "hooks-core");
}

#[test]
fn rooms_of_the_agent_import_one_way() {
    check("hooks-agent-core", "hooks-agent/core");
    check("hooks-agent", "hooks-agent");
}

#[test]
fn rooms_of_built_in_hooks_do_not_use_each_other() {
    let mut wrong = Vec::new();
    for krate in ["hooks-agent/builtin", "hooks-agent/knowledge"] {
        let src = root().join(krate).join("src");
        let entries = fs::read_dir(&src).expect("it has sources").flatten().map(|it| it.path());
        let rooms: Vec<_> = entries.filter(|path| path.is_dir()).collect();
        let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
        let others: Vec<_> = rooms.iter().map(|path| (name(path), 0)).collect();
        for room in &rooms {
            wrong_ways(room, &name(room), &others, &mut wrong);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn names_are_found_however_they_are_written() {
    let source =
        "use crate::a::B; // crate::no\nuse crate::{c, d::{e, f}, g};\nfn h() { crate::i::j() }";
    assert_eq!(named(source).into_iter().collect::<Vec<_>>(), ["a", "c", "d", "g", "i"]);
}
