//! The skills at one moment.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use crate::skills::error::SkillError;
use crate::skills::file::{Unread, check_path, read_text};
use crate::skills::skill::Skill;
use hooks_agent_core::call::{CallContext, Door};
use hooks_agent_core::error::TextBlocked;
use hooks_agent_core::message::visible;

const INTRODUCTION: &str = "# Skills\nA skill is instructions for one kind of task. If a task fits the \
    description of a skill, call the tool `read_skill` with its name before you begin, and do as it says. If \
    the instructions name another file of the skill, read it by the same tool, with its path as `file`.";

/// The skills at one moment, by name, and what is wrong with others.
#[derive(Debug, Default)]
pub(super) struct Snapshot {
    pub(super) skills: BTreeMap<String, Arc<Skill>>,
    pub(super) broken: Vec<Arc<SkillError>>,
}

impl Snapshot {
    /// Returns whether this is known to be wrong.
    pub(super) fn has_error(&self, error: &SkillError) -> bool {
        self.broken.iter().any(|known| known.to_string() == error.to_string())
    }

    /// Returns what the system prompt says of the skills; `None` if there are none.
    pub(super) async fn prompt(&self, cx: &CallContext) -> Result<Option<String>, TextBlocked> {
        if self.skills.is_empty() {
            return Ok(None);
        }
        let mut prompt = INTRODUCTION.to_owned();
        for skill in self.skills.values() {
            let description = cx.screen(Door::Skill, &skill.description).await?;
            let words: Vec<_> = description.split_whitespace().collect();
            // Writing to a string does not fail.
            let _ = write!(prompt, "\n- {}: {}", skill.name, words.join(" "));
        }
        Ok(Some(prompt))
    }

    /// Returns the instructions of a skill, or the text of a file in its folder.
    ///
    /// # Errors
    /// What the model is to do otherwise.
    pub(super) fn read(
        &self,
        name: &str,
        file: Option<&str>,
        limit: usize,
    ) -> Result<String, String> {
        let skill = self.skills.get(name).ok_or_else(|| {
            let names: Vec<_> = self.skills.keys().map(String::as_str).collect();
            format!("no skill named `{name}`, there are: {}", names.join(", "))
        })?;
        let Some(file) = file else { return Ok(visible(&skill.body).into_owned()) };
        let text = check_path(file).and_then(|()| read_text(&skill.root, name, file, limit));
        text.map(|text| visible(&text).into_owned()).map_err(|why| match why {
            Unread::Path => format!(
                "`{file}` is not a path in the folder of the skill, write one like `references/forms.md`: names \
                 with `/` between them, no `..`, no hidden files"
            ),
            Unread::Outside => format!("`{file}` leads out of the folder of the skill `{name}`"),
            Unread::Missing => format!("the skill `{name}` has no file `{file}`"),
            Unread::NoFile => format!("`{file}` is not a file, name a file"),
            Unread::TooLong => {
                format!("`{file}` is not read, because it is longer than the limit of {limit} bytes")
            }
            Unread::NotText => format!("`{file}` is not read, because it is no text in UTF-8"),
            Unread::Io(error) => format!("`{file}` cannot be read: {}", error.kind()),
        })
    }
}
