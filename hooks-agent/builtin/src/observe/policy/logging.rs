//! Options of [`Logging`].

use std::collections::{BTreeMap, HashMap};

use hooks_agent_core::options::{HookOptions, OptionError, RegisteredHook};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::observe::logging::Logging;
use hooks_agent_core::event::EventKind;
use hooks_agent_core::hook::DynAgentHook;

inventory::submit!(RegisteredHook::of::<Options>());

/// Logs events through `tracing`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Options {
    /// Whether texts are logged, as the hooks before this one left them. Default: false.
    #[serde(default)]
    content: bool,
    /// The levels of events, such as `{ PRE_ACTING = "info" }`.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Level>")]
    levels: HashMap<EventKind, Level>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Level {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

impl HookOptions for Options {
    const USE: &'static str = "logging";

    fn into_hook(self) -> Result<Box<dyn DynAgentHook>, OptionError> {
        let hook = Logging::new().content(self.content);
        let levels = self.levels.into_iter();
        Ok(Box::new(levels.fold(hook, |hook, (event, level)| hook.level(event, level.into()))))
    }
}

impl From<Level> for tracing::Level {
    fn from(level: Level) -> Self {
        match level {
            Level::Error => Self::ERROR,
            Level::Warn => Self::WARN,
            Level::Info => Self::INFO,
            Level::Debug => Self::DEBUG,
            Level::Trace => Self::TRACE,
        }
    }
}
