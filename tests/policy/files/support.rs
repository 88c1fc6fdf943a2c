//! Parts that the tests share: files in folders of their own, and agents that say which hooks ran.

use std::fs;
use std::path::{Path, PathBuf};

use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_policy::policy::{Policy, PolicyBuilder, PolicyErrors, PolicyFile};
use schemars::JsonSchema;
use serde::Deserialize;
use tempfile::TempDir;

/// A folder that removes itself, with a policy file.
pub(crate) struct Folder {
    folder: TempDir,
}

impl Folder {
    pub(crate) fn with(text: &str) -> Self {
        let folder = Self { folder: tempfile::tempdir().unwrap() };
        folder.write(text);
        folder
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.path().join("policy.toml")
    }

    pub(crate) fn write(&self, text: &str) {
        fs::write(self.file(), text).unwrap();
    }

    /// Saves as editors do: another file that takes the place of the first.
    pub(crate) fn save_by_rename(&self, text: &str) {
        let next = self.path().join("policy.toml.next");
        fs::write(&next, text).unwrap();
        fs::rename(next, self.file()).unwrap();
    }

    pub(crate) fn policy(&self) -> Policy {
        with_say(Policy::builder().project(self.file())).open().unwrap()
    }
}

/// Options of the hook `say`, which adds its text to replies.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Say {
    pub(crate) text: String,
}

/// Lets files use the hook `say`.
pub(crate) fn with_say(builder: PolicyBuilder) -> PolicyBuilder {
    builder.register("say", |Say { text }| {
        let say = move |event: &mut PostCall<'_>| event.final_message_mut().push_text(&text);
        Ok::<_, std::convert::Infallible>(on(say))
    })
}

/// A file with one hook `say`.
pub(crate) fn says(text: &str) -> String {
    format!("version = 1\n[[hook]]\nuse = \"say\"\nwith = {{ text = \"{text}\" }}\n")
}

pub(crate) fn text(text: &str) -> PolicyFile {
    PolicyFile::text("policy.toml", text)
}

/// The policy of a text.
pub(crate) fn policy(content: &str) -> Policy {
    with_say(Policy::builder().project(text(content))).open().unwrap()
}

/// What is wrong with a text.
pub(crate) fn errors(content: &str) -> PolicyErrors {
    with_say(Policy::builder().project(text(content))).check().unwrap_err()
}

/// The errors of a text, each as a line.
pub(crate) fn lines(content: &str) -> Vec<String> {
    errors(content).list().iter().map(ToString::to_string).collect()
}

/// An agent that says "Done." and then what hooks add.
pub(crate) fn builder(name: &str, policy: &Policy) -> ReActAgentBuilder {
    let model = ScriptedModel::new("fixed", |_| "Done.");
    ReActAgent::builder(name).model(model).hook_source(policy.clone())
}

pub(crate) async fn reply(policy: &Policy, name: &str) -> String {
    builder(name, policy).build().unwrap().call("Go").await.unwrap().text()
}
