//! Options of [`SensitiveWords`].

use std::path::PathBuf;

use hooks_agent_core::options::{HookOptions, OptionError, RegisteredHook, set};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::guard::sensitive_words::SensitiveWords;
use crate::guard::words::WordList;
use hooks_agent_core::hook::DynAgentHook;

inventory::submit!(RegisteredHook::of::<Options>());

/// Finds the words of a list.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Options {
    /// The words. `words` or `file` is required.
    words: Option<Vec<String>>,
    /// A file with one word in each line, read when the policy is loaded.
    file: Option<PathBuf>,
    /// Whether words are found inside of other words too. Default: false.
    #[serde(default)]
    anywhere: bool,
    /// What becomes of them. Default: mask.
    #[serde(default)]
    action: Action,
    /// Whether texts of the user are searched. Default: true.
    input: Option<bool>,
    /// Whether texts of the model are searched. Default: true.
    output: Option<bool>,
    /// Whether results of tools are searched.
    tool_results: Option<bool>,
    /// Whether arguments of tool calls are searched.
    tool_arguments: Option<bool>,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    #[default]
    Mask,
    Block,
}

impl HookOptions for Options {
    const USE: &'static str = "sensitive_words";

    fn into_hook(self) -> Result<Box<dyn DynAgentHook>, OptionError> {
        let searched = [self.input, self.output, self.tool_results, self.tool_arguments];
        if searched == [Some(false); 4] {
            let message = "expected something to search; `input` is off, and so is the rest";
            return Err(OptionError::at("input", message));
        }
        let words = match (self.words, self.file) {
            (Some(words), None) => {
                WordList::new(words).map_err(|it| OptionError::at("words", it))?
            }
            (None, Some(file)) => {
                WordList::from_file(file).map_err(|it| OptionError::at("file", it))?
            }
            _ => return Err("expected either `words` or `file`".into()),
        };
        let hook = SensitiveWords::new(if self.anywhere { words.anywhere() } else { words });
        let hook = match self.action {
            Action::Mask => hook,
            Action::Block => hook.block(),
        };
        let hook = set(hook, self.input, SensitiveWords::input);
        let hook = set(hook, self.output, SensitiveWords::output);
        let hook = set(hook, self.tool_results, SensitiveWords::tool_results);
        Ok(Box::new(set(hook, self.tool_arguments, SensitiveWords::tool_arguments)))
    }
}
