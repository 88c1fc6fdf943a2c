//! A folder of skills.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use crate::skills::error::SkillError;
use crate::skills::file::{Unread, read_text};
use crate::skills::front_matter::parse;
use crate::skills::skill::Skill;
use crate::skills::stamp::Stamp;

/// The file of a skill, in its folder.
pub(super) const FILE: &str = "SKILL.md";

/// What a skill may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) max_bytes: usize,
    pub(super) other_keys: bool,
}

/// A folder of skills, and what was read of it.
#[derive(Debug)]
pub(super) struct Root {
    path: PathBuf,
    opened: Option<(Arc<Dir>, Stamp)>,
    /// By the names of the folders in it, also of those that are no skills yet.
    entries: BTreeMap<String, Entry>,
    error: Option<Arc<SkillError>>,
}

/// A folder that may be a skill: its last good version, and what is wrong with it now.
#[derive(Debug, Default)]
struct Entry {
    stamp: Option<Stamp>,
    good: Option<Arc<Skill>>,
    error: Option<Arc<SkillError>>,
}

impl Root {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, opened: None, entries: BTreeMap::new(), error: None }
    }

    /// Returns the last good version of each skill.
    pub(super) fn skills(&self) -> impl Iterator<Item = &Arc<Skill>> {
        self.entries.values().filter_map(|entry| entry.good.as_ref())
    }

    /// Returns what is wrong now.
    pub(super) fn errors(&self) -> impl Iterator<Item = &Arc<SkillError>> {
        self.error.iter().chain(self.entries.values().filter_map(|entry| entry.error.as_ref()))
    }

    /// Reads what changed, and returns whether anything did. What cannot be read stays as it was.
    pub(super) fn refresh(&mut self, rules: Rules) -> bool {
        match self.scan() {
            Ok(is_replaced) => {
                let Some((dir, _)) = &self.opened else { return false };
                let mut has_changed = self.error.take().is_some() || is_replaced;
                for (name, entry) in &mut self.entries {
                    has_changed |= entry.refresh(dir, &self.path, name, rules, is_replaced);
                }
                has_changed
            }
            Err(error) => {
                let is_known = self.error.as_ref().is_some_and(|known| is_same(known, &error));
                self.error = Some(Arc::new(error));
                !is_known
            }
        }
    }

    /// Finds the folders in the folder, and returns whether they are not the same as before.
    fn scan(&mut self) -> Result<bool, SkillError> {
        let failed = |source| self.failed("a folder that this program may read", Some(source));
        let now = Stamp::of(&self.path).map_err(failed)?;
        let before = self.opened.as_ref().filter(|(_, stamp)| stamp.is_same_folder(&now));
        if before.is_some_and(|(_, stamp)| !stamp.may_differ(&now)) {
            return Ok(false);
        }
        let is_replaced = before.is_none();
        let dir = match before {
            Some((dir, _)) => dir.clone(),
            None => {
                Arc::new(Dir::open_ambient_dir(&self.path, ambient_authority()).map_err(failed)?)
            }
        };
        let names = folders_in(&dir).map_err(failed)?;
        if dir.is_file(FILE) {
            return Err(self.failed("the folder around it: this one is a skill", None));
        }
        let known = self.entries.len();
        self.entries.retain(|name, _| names.contains(name));
        let is_fewer = self.entries.len() < known;
        for name in names {
            self.entries.entry(name).or_default();
        }
        self.opened = Some((dir, now));
        Ok(is_replaced || is_fewer)
    }

    fn failed(&self, expected: &'static str, source: Option<io::Error>) -> SkillError {
        SkillError::Folder { folder: self.path.clone(), expected, source }
    }
}

/// Returns the names of the folders in a folder, and of links, which may lead to folders.
fn folders_in(dir: &Dir) -> io::Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for entry in dir.entries()? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let name = entry.file_name().into_string();
        if let Ok(name) = name
            && (kind.is_dir() || kind.is_symlink())
            && !name.starts_with('.')
        {
            names.insert(name);
        }
    }
    Ok(names)
}

impl Entry {
    /// Reads the skill if it may have changed, and returns whether it did.
    fn refresh(
        &mut self,
        dir: &Arc<Dir>,
        root: &Path,
        name: &str,
        rules: Rules,
        is_replaced: bool,
    ) -> bool {
        let file = root.join(name).join(FILE);
        let now = match Stamp::of(&file) {
            Ok(now) => now,
            Err(source) => return self.fail(SkillError::Read { file, source }),
        };
        let is_known = self.stamp.as_ref().is_some_and(|stamp| !stamp.may_differ(&now));
        if is_known && !is_replaced {
            return false;
        }
        let loaded = if now.exists() || self.stamp.is_none() {
            load(dir, name, &file, rules)
        } else {
            Ok(None)
        };
        self.stamp = Some(now);
        match loaded {
            Ok(Some(skill)) => {
                let was_broken = self.error.take().is_some();
                if self.good.as_ref().is_some_and(|good| good.says_the_same(&skill)) {
                    return was_broken;
                }
                self.good = Some(Arc::new(skill));
                true
            }
            Ok(None) if self.good.is_none() => self.error.take().is_some(),
            Ok(None) => self.fail(SkillError::Read { file, source: ErrorKind::NotFound.into() }),
            Err(error) => self.fail(error),
        }
    }

    /// Notes what is wrong, and returns whether it is something new.
    fn fail(&mut self, error: SkillError) -> bool {
        let is_known = self.error.as_ref().is_some_and(|known| is_same(known, &error));
        if !is_known {
            self.error = Some(Arc::new(error));
        }
        !is_known
    }
}

/// Reads a skill. `None` if the folder has no `SKILL.md`.
fn load(
    dir: &Arc<Dir>,
    name: &str,
    file: &Path,
    rules: Rules,
) -> Result<Option<Skill>, SkillError> {
    let invalid = |line, found: &str, expected: &str| SkillError::Invalid {
        file: file.to_owned(),
        line,
        found: found.to_owned(),
        expected: expected.to_owned(),
    };
    let read = |source| SkillError::Read { file: file.to_owned(), source };
    let text = match read_text(dir, name, FILE, rules.max_bytes) {
        Ok(text) => text,
        Err(Unread::Missing) => {
            let Some(found) = misspelled(dir, name) else { return Ok(None) };
            let expected = format!("the name `{FILE}`");
            return Err(invalid(1, &format!("a file named `{found}`"), &expected));
        }
        Err(Unread::Outside) => return Err(SkillError::Outside { file: file.to_owned() }),
        Err(Unread::TooLong) => {
            return Err(SkillError::TooLong { file: file.to_owned(), limit: rules.max_bytes });
        }
        Err(Unread::NotText) => return Err(invalid(1, "bytes that are no text", "UTF-8")),
        Err(Unread::NoFile | Unread::Path) => {
            return Err(invalid(1, "a folder, a pipe or a device", "a file"));
        }
        Err(Unread::Io(source)) => return Err(read(source)),
    };
    let parsed = parse(&text, name, rules.other_keys)
        .map_err(|mistake| invalid(mistake.line, &mistake.found, &mistake.expected))?;
    Ok(Some(Skill {
        name: parsed.name,
        description: parsed.description,
        license: parsed.license,
        compatibility: parsed.compatibility,
        metadata: parsed.metadata,
        allowed_tools: parsed.allowed_tools,
        body: parsed.body,
        file: file.to_owned(),
        root: dir.clone(),
    }))
}

/// Returns the file whose name is `SKILL.md` in other letters.
fn misspelled(dir: &Dir, folder: &str) -> Option<String> {
    let names =
        dir.read_dir(folder).ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.into_iter().find(|name| name.eq_ignore_ascii_case(FILE))
}

fn is_same(known: &SkillError, error: &SkillError) -> bool {
    known.to_string() == error.to_string()
}
