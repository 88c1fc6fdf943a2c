//! The guides read well by themselves, as files, and as pages of the documentation.
//!
//! Their links are references. At the end of each file, they are paths of files; on a page, the list
//! `links.md` of the crate comes first and holds, with paths of items, which rustdoc checks.

mod rooms;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A file in Markdown.
struct Page {
    path: PathBuf,
    text: String,
}

impl Page {
    fn read(path: PathBuf) -> Self {
        let text =
            fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self { path, text }
    }

    /// The lines with the language of their block, if they are in one.
    fn lines(&self) -> impl Iterator<Item = (Option<&str>, &str)> {
        let mut language = None;
        self.text.lines().filter_map(move |line| match (language, line.strip_prefix("```")) {
            (None, Some(of)) => {
                language = Some(of.trim());
                None
            }
            (Some(_), Some(_)) => {
                language = None;
                None
            }
            (language, None) => Some((language, line)),
        })
    }

    fn prose(&self) -> impl Iterator<Item = &str> {
        self.lines().filter_map(|(language, line)| language.is_none().then_some(line))
    }

    /// The references, by label, and where they lead.
    fn definitions(&self) -> BTreeMap<String, String> {
        let prose: Vec<_> = self.prose().collect();
        let last = prose.iter().rev().take_while(|line| is_definition(line));
        let definitions = last.filter_map(|line| {
            let (label, target) = line.strip_prefix('[')?.split_once("]: ")?;
            Some((label.to_owned(), target.to_owned()))
        });
        let mut known = BTreeMap::new();
        let mut labels = BTreeSet::new();
        for (label, target) in definitions {
            assert!(
                labels.insert(label.to_lowercase()),
                "{}: [{label}] twice",
                self.path.display()
            );
            known.insert(label, target);
        }
        known
    }

    /// The labels that are used, and the targets of other links.
    fn links(&self) -> (BTreeSet<String>, Vec<String>) {
        let (mut labels, mut targets) = (BTreeSet::new(), Vec::new());
        let mut prose: Vec<_> = self.prose().collect();
        while prose.pop_if(|line| is_definition(line)).is_some() {}
        let prose = prose.join("\n");
        let mut rest = prose.as_str();
        while let Some((text, after)) = next_link(rest) {
            if let Some((label, later)) = after.strip_prefix('[').and_then(|it| it.split_once(']'))
            {
                labels.insert(label.replace('\n', " "));
                rest = later;
            } else if let Some((target, later)) =
                after.strip_prefix('(').and_then(|it| it.split_once(')'))
            {
                targets.push(target.to_owned());
                rest = later;
            } else {
                labels.insert(text.replace('\n', " "));
                rest = after;
            }
        }
        (labels, targets)
    }

    /// Follows a link of the file.
    fn follow(&self, target: &str) {
        if target.starts_with("https://") || target.starts_with("http://") {
            return;
        }
        let (file, heading) = target.split_once('#').unwrap_or((target, ""));
        let path = match file {
            "" => self.path.clone(),
            file => self.path.parent().unwrap().join(file),
        };
        assert!(path.exists(), "{}: there is no {target}", self.path.display());
        if !heading.is_empty() {
            let page = Page::read(path);
            let anchors: Vec<_> = page.prose().filter_map(anchor).collect();
            assert!(
                anchors.iter().any(|it| it == heading),
                "{}: no heading {target}",
                self.path.display()
            );
        }
    }
}

fn is_definition(line: &str) -> bool {
    line.starts_with('[') && line.contains("]: ") && !line.contains("](")
}

/// Returns the text of the next link in brackets, and what follows it. Code is no link, unless it is in
/// brackets.
fn next_link(text: &str) -> Option<(&str, &str)> {
    let mut at = 0;
    loop {
        let found = at + text[at..].find(['[', '`'])?;
        if text[found..].starts_with('`') {
            at = found + 1 + text[found + 1..].find('`')? + 1;
            continue;
        }
        let inside = &text[found + 1..];
        // Brackets in code are part of the text.
        let code = inside.strip_prefix('`').and_then(|code| Some(code.find('`')? + 2));
        let end = code.unwrap_or(0) + inside[code.unwrap_or(0)..].find(']')?;
        let (link, after) = (&inside[..end], &inside[end + 1..]);
        let is_plain = !after.starts_with(['[', '(']);
        if is_plain && !(link.starts_with('`') && link.ends_with('`')) {
            at = found + 1;
            continue;
        }
        return Some((link, after));
    }
}

/// Returns the anchor of a heading, as forges and rustdoc make it.
fn anchor(line: &str) -> Option<String> {
    let heading = line.trim_start_matches('#').strip_prefix(' ')?;
    line.starts_with('#').then_some(())?;
    let kept = heading.chars().filter(|it| it.is_alphanumeric() || matches!(it, ' ' | '-' | '_'));
    Some(kept.map(|it| if it == ' ' { '-' } else { it.to_ascii_lowercase() }).collect())
}

/// The folders with guides, and where their crates are.
const GUIDES: [(&str, &str); 3] = [
    ("hooks-core/docs", "hooks-core/src"),
    ("hooks-agent/docs", "hooks-agent/src"),
    ("hooks-agent/engines/restate/docs", "hooks-agent/engines/restate/src"),
];

fn guides(folder: &str) -> Vec<Page> {
    let files = fs::read_dir(root().join(folder)).unwrap().map(|file| file.unwrap().path());
    let mut files: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|it| it == "md") && !path.ends_with("links.md"))
        .collect();
    files.sort();
    files.into_iter().map(Page::read).collect()
}

#[test]
fn each_guide_has_one_title_and_examples_without_hidden_lines() {
    for (folder, _) in GUIDES {
        for page in guides(folder) {
            let titles: Vec<_> = page.prose().filter(|line| line.starts_with("# ")).collect();
            assert_eq!(titles.len(), 1, "{:?}: {titles:?}", page.path);
            assert!(page.text.starts_with(titles[0]), "{:?}", page.path);
            for (language, line) in page.lines() {
                let is_rust = language.is_some_and(|it| it.is_empty() || it.starts_with("rust"));
                let is_hidden = line.trim_start().starts_with("# ") || line.trim() == "#";
                assert!(!(is_rust && is_hidden), "{:?}: {line}", page.path);
                assert_ne!(language, Some(""), "{:?}: a block without a language", page.path);
            }
        }
    }
}

#[test]
fn links_of_files_lead_to_files() {
    let pages = GUIDES.iter().flat_map(|(folder, _)| guides(folder));
    let others = [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "examples/README.md",
        "hooks-agent/README.md",
        "hooks-core/README.md",
        "hooks-agent/engines/restate/README.md",
    ];
    let others = others.map(|file| root().join(file)).into_iter().filter(|path| path.exists());
    for page in pages.chain(others.map(Page::read)) {
        let definitions = page.definitions();
        let (labels, targets) = page.links();
        for target in targets.iter().chain(definitions.values()) {
            page.follow(target);
        }
        let known: BTreeSet<_> = definitions.keys().map(|label| label.to_lowercase()).collect();
        let used: BTreeSet<_> = labels.iter().map(|label| label.to_lowercase()).collect();
        for label in &used {
            assert!(known.contains(label), "{:?}: [{label}] leads nowhere", page.path);
        }
        for label in &known {
            assert!(used.contains(label), "{:?}: nothing is linked to [{label}]", page.path);
        }
    }
}

#[test]
fn links_of_pages_lead_to_what_the_files_have() {
    for (folder, source) in GUIDES {
        let list = Page::read(root().join(folder).join("links.md"));
        let items = list.definitions();
        let mut used = BTreeSet::new();
        for page in guides(folder) {
            for (label, file) in page.definitions() {
                if file.starts_with("http") {
                    continue;
                }
                let item = items.get(&label);
                let item = item.unwrap_or_else(|| panic!("{:?}: no item of [{label}]", page.path));
                used.insert(label.clone());
                if item.contains("guide::") || item.contains('#') {
                    continue;
                }
                // The file has the last name of the path of the item, or is that of the module.
                let name = item.rsplit("::").next().unwrap().trim_end_matches("()");
                let path = page.path.parent().unwrap().join(&file);
                let is_module = ["mod.rs", "lib.rs", &format!("{name}.rs")]
                    .iter()
                    .any(|end| file.ends_with(end));
                let text = fs::read_to_string(&path).unwrap();
                assert!(is_module || text.contains(name), "{:?}: {file} has no {name}", page.path);
            }
        }
        let all: BTreeSet<_> = items.keys().cloned().collect();
        assert_eq!(all, used, "{source}: links that no guide has, or the other way round");
    }
}

/// The table of crates that a program needs besides.
#[test]
fn companion_crates_are_crates_of_the_workspace() {
    let readme = Page::read(root().join("hooks-agent/README.md"));
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let rows = readme.prose().skip_while(|line| !line.starts_with("| a program that"));
    let rows: Vec<_> = rows.skip(2).take_while(|line| line.starts_with('|')).collect();
    assert!(rows.len() > 5, "the table is there");
    for row in rows {
        let crates = row.split('|').nth(2).unwrap();
        let names: Vec<_> = crates.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty(), "{row}");
        for name in names {
            let is_known = manifest.lines().any(|line| line.starts_with(&format!("{name} = ")));
            assert!(is_known, "{name} of {row}");
        }
    }
}
