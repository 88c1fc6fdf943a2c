//! The hook that offers skills to the model.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use hooks_core::HookResult;

use crate::skills::builder::SkillsBuilder;
use crate::skills::error::{SkillError, SkillsError};
use crate::skills::loaded::Loaded;
use crate::skills::root::Rules;
use crate::skills::skill::Skill;
use crate::skills::snapshot::Snapshot;
use crate::skills::tool::read_skill;
use hooks_agent_core::agent_hook;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::event::PreCall;

/// Offers skills to the model: folders with instructions in the format
/// [Agent Skills](https://agentskills.io/specification). The name and the description of each skill are
/// in the system prompt; the model reads the instructions, and other files of the skill, when a task
/// needs them, by the tool `read_skill(name, file?)`.
///
/// Each folder that is given has a folder for each skill, with a file `SKILL.md`: front matter in YAML
/// between two lines `---`, then the instructions.
///
/// | key | |
/// |---|---|
/// | `name` | the name of the folder: 1 to 64 of `a` to `z`, `0` to `9` and `-`, no `-` at an end or beside another |
/// | `description` | what it does and when to use it: 1 to 1,024 characters |
/// | `license` | text, if given |
/// | `compatibility` | what it needs around it: 1 to 500 characters, if given |
/// | `metadata` | texts by name, if given |
/// | `allowed-tools` | names with spaces between them or a list, if given; nothing is approved by it |
///
/// A folder without `SKILL.md`, and one whose name begins with a dot, is no skill. Two skills of one
/// name are an error.
///
/// | setting | default |
/// |---|---|
/// | [`open`](Self::open), [`builder`](Self::builder): the folders | |
/// | [`leave_out_broken`](SkillsBuilder::leave_out_broken) | false: a broken skill fails `open` |
/// | [`max_bytes`](SkillsBuilder::max_bytes) of a file | 65,536 |
/// | [`allow_other_keys`](SkillsBuilder::allow_other_keys) in the front matter | false |
///
/// # Changes
/// At the start of each call, skills whose `SKILL.md` has another time or length are read again, skills
/// that are new are added, and those whose folder is gone are removed. A skill that became broken, and
/// all skills of a folder that cannot be read, stay as they were; this is reported through `tracing`
/// once, and [listed](Self::broken). A call has the names, descriptions and instructions that it began
/// with; other files are read as they are when the model asks.
///
/// # Paths
/// The model gives a path of names with `/` between them. Absolute paths, `..`, `\`, `:`, control
/// characters and hidden names are refused on every system. The file system resolves the path below
/// the folder of the skill, so a link never leads out of it, also one that is made later. Only
/// files with text in UTF-8 are read; the model reads why a file is not.
///
/// Files are read on the thread of the call. The priority is [`PRIORITY`](Self::PRIORITY). The hook is
/// not inherited: a sub-agent that is to have the skills gets a clone.
///
/// ```
/// use hooks_agent::builtin::knowledge::Skills;
/// use hooks_agent::prelude::*;
/// use serde_json::json;
///
/// let folder = std::env::temp_dir().join(format!("skills-{}", std::process::id()));
/// std::fs::create_dir_all(folder.join("tides"))?;
/// let text = "---\nname: tides\ndescription: Says when it is high tide.\n---\nAsk the moon.";
/// std::fs::write(folder.join("tides/SKILL.md"), text)?;
///
/// # futures::executor::block_on(async {
/// // `model` reads the skill and answers with its instructions.
/// # let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
/// #     assert!(request.messages[0].text().contains("- tides: Says when it is high tide."));
/// #     match request.messages.last().and_then(|msg| msg.tool_results().next()) {
/// #         Some(result) => result.output.as_str().into(),
/// #         None => ToolUse::new("1", "read_skill", json!({ "name": "tides" })).into(),
/// #     }
/// # });
/// let skills = Skills::open([&folder])?;
/// let agent = ReActAgent::builder("assistant").model(model).hook(skills).build()?;
/// assert_eq!(agent.call("When is high tide?").await?.text(), "Ask the moon.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone)]
#[must_use = "an agent runs it if it is added to its builder"]
pub struct Skills {
    shared: Arc<Shared>,
}

struct Shared {
    rules: Rules,
    loaded: Mutex<Loaded>,
}

/// The skills of a call.
type OfCall = OnceLock<Arc<Snapshot>>;

impl Skills {
    /// The priority: after rules that are added to the system prompt, before the program's own hooks.
    pub const PRIORITY: i32 = 82;

    /// Reads the skills in these folders.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub fn open(
        folders: impl IntoIterator<Item = impl Into<PathBuf>>,
    ) -> Result<Self, SkillsError> {
        Self::builder(folders).open()
    }

    /// Returns settings for the skills in these folders.
    pub fn builder(folders: impl IntoIterator<Item = impl Into<PathBuf>>) -> SkillsBuilder {
        SkillsBuilder::new(folders.into_iter().map(Into::into).collect())
    }

    pub(super) fn new(loaded: Loaded, rules: Rules) -> Self {
        Self { shared: Arc::new(Shared { rules, loaded: Mutex::new(loaded) }) }
    }

    /// Returns the skills as they are now, by name.
    #[must_use]
    pub fn skills(&self) -> Vec<Arc<Skill>> {
        self.now().skills.values().cloned().collect()
    }

    /// Returns what is wrong now: skills that are left out, and edits that did not take effect.
    #[must_use]
    pub fn broken(&self) -> Vec<Arc<SkillError>> {
        self.now().broken.clone()
    }

    /// Reads what changed.
    fn now(&self) -> Arc<Snapshot> {
        let mut loaded = self.shared.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        loaded.refresh(self.shared.rules)
    }

    /// Returns the skills that a call began with.
    pub(super) fn of_call(&self, cx: &CallContext) -> Arc<Snapshot> {
        let of_call = cx.hook_state::<OfCall>(Arc::as_ptr(&self.shared).addr());
        of_call.get_or_init(|| self.now()).clone()
    }

    pub(super) fn max_bytes(&self) -> usize {
        self.shared.rules.max_bytes
    }
}

#[agent_hook(priority = Self::PRIORITY, tools = |hook: &Self| vec![read_skill(hook.clone())])]
impl Skills {
    async fn pre_call(&self, event: &mut PreCall<'_>) -> HookResult {
        let snapshot = self.of_call(event.context());
        if let Some(prompt) = snapshot.prompt(event.context()).await? {
            event.append_system(prompt);
        }
        Ok(())
    }
}

impl fmt::Debug for Skills {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let loaded = self.shared.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        f.debug_struct("Skills").field("skills", &loaded.names()).finish_non_exhaustive()
    }
}
