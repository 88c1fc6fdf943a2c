//! The settings of skills.

use std::path::PathBuf;

use crate::skills::error::SkillsError;
use crate::skills::hook::Skills;
use crate::skills::loaded::Loaded;
use crate::skills::root::Rules;

/// The settings of [`Skills`].
#[derive(Clone, Debug)]
#[must_use = "`open` finishes it"]
pub struct SkillsBuilder {
    folders: Vec<PathBuf>,
    leaves_out_broken: bool,
    rules: Rules,
}

impl SkillsBuilder {
    pub(super) fn new(folders: Vec<PathBuf>) -> Self {
        let rules = Rules { max_bytes: 65_536, other_keys: false };
        Self { folders, leaves_out_broken: false, rules }
    }

    /// Sets whether skills that are broken are left out and [listed](Skills::broken), instead of failing
    /// [`open`](Self::open). Of two skills of one name, the first stays.
    pub fn leave_out_broken(mut self, leave_out: bool) -> Self {
        self.leaves_out_broken = leave_out;
        self
    }

    /// Sets the longest file that is read, in bytes.
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.rules.max_bytes = bytes;
        self
    }

    /// Sets whether the front matter may have keys that the format does not have. They are ignored.
    pub fn allow_other_keys(mut self, allow: bool) -> Self {
        self.rules.other_keys = allow;
        self
    }

    /// Reads the skills.
    ///
    /// # Errors
    /// Everything that is wrong, unless broken skills are [left out](Self::leave_out_broken).
    pub fn open(self) -> Result<Skills, SkillsError> {
        let mut loaded = Loaded::new(self.folders);
        let first = loaded.refresh(self.rules);
        if !first.broken.is_empty() && !self.leaves_out_broken {
            return Err(SkillsError::new(first.broken.clone()));
        }
        Ok(Skills::new(loaded, self.rules))
    }
}
