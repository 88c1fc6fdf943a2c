//! Options of [`Secrets`].

use hooks_agent_core::options::{HookOptions, OptionError, RegisteredHook, set};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::guard::policy::pii_detection::{Format, Strategy, allowed};
use crate::guard::secrets::{SecretScanner, Secrets};
use hooks_agent_core::hook::DynAgentHook;

inventory::submit!(RegisteredHook::of::<Options>());

/// Finds keys, tokens and passwords.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Options {
    /// Kinds that are not looked for, such as `password`. Default: none.
    without: Option<Vec<String>>,
    /// Whether keys with a wrong checksum are left. Default: false.
    checked: Option<bool>,
    /// Whether keys are found that were cut, too. Default: false.
    cut_keys: Option<bool>,
    /// Values that are found and left as they are. Default: none.
    allow_values: Option<Vec<String>>,
    /// What becomes of a secret. Default: redact.
    strategy: Option<Strategy>,
    /// The form of tokens, masks and hashes. Default: keyed.
    format: Option<Format>,
    /// Whether texts of the user are searched. Default: true.
    input: Option<bool>,
    /// Whether texts of the model are searched. Default: true.
    output: Option<bool>,
    /// Whether results of tools are searched. Default: true.
    tool_results: Option<bool>,
    /// Whether arguments of tool calls are searched. Default: true.
    tool_arguments: Option<bool>,
}

impl HookOptions for Options {
    const USE: &'static str = "secrets";

    fn into_hook(self) -> Result<Box<dyn DynAgentHook>, OptionError> {
        let scanner = SecretScanner::new().without(self.without.unwrap_or_default());
        let scanner = scanner.map_err(|error| OptionError::at("without", error.to_string()))?;
        let scanner = if self.checked == Some(true) { scanner.checked() } else { scanner };
        let scanner = if self.cut_keys == Some(true) { scanner.with_cut_keys() } else { scanner };
        let searched = [self.input, self.output, self.tool_results, self.tool_arguments];
        if searched.iter().all(|place| *place == Some(false)) {
            let message = "expected something to search; `input` is off, and so is the rest";
            return Err(OptionError::at("input", message));
        }
        let hook = Secrets::of(scanner).allow(allowed(self.allow_values, None));
        let hook = set(hook, self.strategy.map(Into::into), Secrets::strategy);
        let hook = set(hook, self.format.map(Into::into), Secrets::format);
        let hook = set(hook, self.input, Secrets::input);
        let hook = set(hook, self.output, Secrets::output);
        let hook = set(hook, self.tool_results, Secrets::tool_results);
        Ok(Box::new(set(hook, self.tool_arguments, Secrets::tool_arguments)))
    }
}
