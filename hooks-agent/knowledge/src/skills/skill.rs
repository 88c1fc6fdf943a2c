//! A skill.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::Dir;

/// A skill as its `SKILL.md` has it.
#[derive(Clone)]
pub struct Skill {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) license: Option<String>,
    pub(super) compatibility: Option<String>,
    pub(super) metadata: BTreeMap<String, String>,
    pub(super) allowed_tools: Vec<String>,
    pub(super) body: String,
    pub(super) file: PathBuf,
    /// The folder of skills that the skill is in.
    pub(super) root: Arc<Dir>,
}

impl Skill {
    /// Returns the name, which is that of the folder.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns what the skill does and when to use it.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Returns the license, if there is one.
    #[must_use]
    pub fn license(&self) -> Option<&str> {
        self.license.as_deref()
    }

    /// Returns what the skill needs around it, if it says so.
    #[must_use]
    pub fn compatibility(&self) -> Option<&str> {
        self.compatibility.as_deref()
    }

    /// Returns the other properties.
    #[must_use]
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.metadata
    }

    /// Returns the tools that the author of the skill approves beforehand. The hook does not approve
    /// them.
    #[must_use]
    pub fn allowed_tools(&self) -> &[String] {
        &self.allowed_tools
    }

    /// Returns the instructions: the text behind the front matter.
    #[must_use]
    pub fn body(&self) -> &str {
        &self.body
    }

    /// Returns the path of the `SKILL.md`.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Returns whether two versions say the same.
    pub(super) fn says_the_same(&self, other: &Self) -> bool {
        fn said(skill: &Skill) -> impl PartialEq + '_ {
            let Skill { name, description, license, compatibility, metadata, .. } = skill;
            let Skill { allowed_tools, body, .. } = skill;
            (name, description, license, compatibility, metadata, allowed_tools, body)
        }
        Arc::ptr_eq(&self.root, &other.root) && said(self) == said(other)
    }
}

impl fmt::Debug for Skill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Skill")
            .field("name", &self.name)
            .field("description", &self.description)
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}
