//! The skills of all folders.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use crate::skills::error::SkillError;
use crate::skills::root::{Root, Rules};
use crate::skills::skill::Skill;
use crate::skills::snapshot::Snapshot;

/// The folders of skills, and the skills in them now.
#[derive(Debug)]
pub(super) struct Loaded {
    roots: Vec<Root>,
    current: Arc<Snapshot>,
}

impl Loaded {
    /// Takes folders, which are read by the first [`refresh`](Self::refresh).
    pub(super) fn new(folders: Vec<PathBuf>) -> Self {
        let mut known = BTreeSet::new();
        let folders =
            folders.into_iter().map(|folder| std::path::absolute(&folder).unwrap_or(folder));
        let folders = folders.filter(|folder| known.insert(folder.clone()));
        Self { roots: folders.map(Root::new).collect(), current: Arc::default() }
    }

    /// Reads what changed and returns the skills as they are now.
    pub(super) fn refresh(&mut self, rules: Rules) -> Arc<Snapshot> {
        let mut has_changed = false;
        for root in &mut self.roots {
            has_changed |= root.refresh(rules);
        }
        if has_changed {
            let next = self.take();
            for error in next.broken.iter().filter(|error| !self.current.has_error(error)) {
                tracing::warn!(target: "hooks_agent::builtin::knowledge", %error, "a skill is left out, or stays as it was");
            }
            self.current = Arc::new(next);
        }
        self.current.clone()
    }

    /// Returns the names of the skills as they were read last.
    pub(super) fn names(&self) -> Vec<&str> {
        self.current.skills.keys().map(String::as_str).collect()
    }

    fn take(&self) -> Snapshot {
        let mut next = Snapshot::default();
        next.broken.extend(self.roots.iter().flat_map(Root::errors).cloned());
        let skills = || self.roots.iter().flat_map(Root::skills);
        // A skill keeps its name when another one comes that has it too.
        let has_name = |skill: &&Arc<Skill>| {
            self.current.skills.get(&skill.name).is_some_and(|holder| holder.file == skill.file)
        };
        for skill in skills().filter(has_name).chain(skills().filter(|skill| !has_name(skill))) {
            if let Some(holder) = next.skills.get(&skill.name) {
                next.broken.push(Arc::new(SkillError::Duplicate {
                    name: skill.name.clone(),
                    first: holder.file.clone(),
                    second: skill.file.clone(),
                }));
            } else {
                next.skills.insert(skill.name.clone(), skill.clone());
            }
        }
        next
    }
}
