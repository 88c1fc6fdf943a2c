//! Options of [`RuleOfTwo`].

use hooks_agent_core::options::{HookOptions, OptionError, RegisteredHook, set};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::guard::rule_of_two::{Labels, RuleOfTwo};
use hooks_agent_core::hook::DynAgentHook;

inventory::submit!(RegisteredHook::of::<Options>());

/// Keeps untrusted input, private data and changes of state from meeting in one thread.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Options {
    /// The tools that return text which others write.
    #[serde(default)]
    untrusted_input: Vec<String>,
    /// The tools that return data which others may not read.
    #[serde(default)]
    private_data: Vec<String>,
    /// The tools that change something outside, or send something there.
    #[serde(default)]
    changes_state: Vec<String>,
    /// The tools that do none of these.
    #[serde(default)]
    harmless: Vec<String>,
    /// What tools do that are in none of the lists. Default: all three.
    unlabelled: Option<Vec<Label>>,
    /// What happens to a tool call that would complete the three. Default: ask.
    #[serde(default)]
    action: Action,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Label {
    UntrustedInput,
    PrivateData,
    ChangesState,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    #[default]
    Ask,
    Refuse,
}

impl HookOptions for Options {
    const USE: &'static str = "rule_of_two";

    fn into_hook(self) -> Result<Box<dyn DynAgentHook>, OptionError> {
        let hook = RuleOfTwo::new()
            .untrusted_input(self.untrusted_input)
            .private_data(self.private_data)
            .changes_state(self.changes_state)
            .harmless(self.harmless);
        let labels = self.unlabelled.map(|labels| {
            labels.into_iter().fold(Labels::NONE, |labels, label| labels | Labels::from(label))
        });
        let hook = set(hook, labels, RuleOfTwo::unlabelled);
        Ok(Box::new(match self.action {
            Action::Ask => hook,
            Action::Refuse => hook.refuse(),
        }))
    }
}

impl From<Label> for Labels {
    fn from(label: Label) -> Self {
        match label {
            Label::UntrustedInput => Self::UNTRUSTED_INPUT,
            Label::PrivateData => Self::PRIVATE_DATA,
            Label::ChangesState => Self::CHANGES_STATE,
        }
    }
}
