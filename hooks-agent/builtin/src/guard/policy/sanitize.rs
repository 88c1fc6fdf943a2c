//! Options of [`Sanitize`].

use hooks_agent_core::options::{HookOptions, OptionError, RegisteredHook, set};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::guard::sanitize::Sanitize;
use hooks_agent_core::hook::DynAgentHook;

inventory::submit!(RegisteredHook::of::<Options>());

/// Replaces patterns in what tools return.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Options {
    /// The patterns: at least one.
    patterns: Vec<Pattern>,
    /// The tools whose results are searched. Default: all.
    tools: Option<Vec<String>>,
    /// The longest text in bytes. Default: 8 MiB.
    max_bytes: Option<usize>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Pattern {
    /// A regular expression.
    pattern: String,
    /// What stands in place of a match. Default: nothing.
    #[serde(default)]
    replacement: String,
}

impl HookOptions for Options {
    const USE: &'static str = "sanitize";

    fn into_hook(self) -> Result<Box<dyn DynAgentHook>, OptionError> {
        let mut hook: Option<Sanitize> = None;
        for (index, Pattern { pattern, replacement }) in self.patterns.into_iter().enumerate() {
            let added = match hook {
                None => Sanitize::new(pattern, replacement),
                Some(hook) => hook.pattern(pattern, replacement),
            };
            let at = |error| OptionError::at(format!("patterns[{index}].pattern"), error);
            hook = Some(added.map_err(at)?);
        }
        let Some(hook) = hook else {
            return Err(OptionError::at("patterns", "expected at least one pattern"));
        };
        if self.tools.as_ref().is_some_and(Vec::is_empty) {
            let message = "expected at least one tool; leave `tools` out for all tools";
            return Err(OptionError::at("tools", message));
        }
        let hook = set(hook, self.tools, Sanitize::for_tools);
        Ok(Box::new(set(hook, self.max_bytes, Sanitize::max_bytes)))
    }
}
