//! Options of [`Provenance`] in policy files.

use std::collections::BTreeMap;

use hooks_agent_core::hook::DynAgentHook;
use hooks_agent_core::options::{HookOptions, OptionError, RegisteredHook, set};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::options::Glob;
use crate::provenance::hook::Provenance;
use crate::provenance::labels::Sink;
use crate::provenance::settings::Handles;

inventory::submit!(RegisteredHook::of::<Options>());

/// Asks about tool calls that change something, where an argument came from others.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Options {
    /// Globs of the tools whose results others write.
    #[serde(default)]
    untrusted: Vec<Glob>,
    /// Globs of the tools whose results nobody else writes, and which change nothing.
    #[serde(default)]
    trusted: Vec<Glob>,
    /// The tools that change something, by their names or globs, with their arguments.
    #[serde(default)]
    sinks: BTreeMap<String, SinkOptions>,
    /// Which values of records, such as ids and names, may be destinations. Default: any.
    handles: Option<HandleOption>,
    /// Whether what the user named may bring destinations. Default: true.
    named_sources: Option<bool>,
    /// Whether links in what the user named may be opened. Default: true.
    named_links: Option<bool>,
    /// Whether addresses in contents are traced. Default: true.
    links: Option<bool>,
    /// Whether calls are asked about of which the user did not speak, and texts of others do. Default: true.
    unasked: Option<bool>,
    /// The most text that is looked through, in bytes. Default: 16 MiB.
    max_read: Option<usize>,
    /// What happens to a tool call with an argument that others brought. Default: ask.
    #[serde(default)]
    action: Action,
}

/// The arguments of a tool that changes something; others go by their names.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SinkOptions {
    /// Where something goes, or what is acted on.
    #[serde(default)]
    destination: Vec<String>,
    /// What is sent or stored there.
    #[serde(default)]
    content: Vec<String>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum HandleOption {
    Any,
    Chosen,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    #[default]
    Ask,
    Refuse,
}

impl HookOptions for Options {
    const USE: &'static str = "provenance";

    fn into_hook(self) -> Result<Box<dyn DynAgentHook>, OptionError> {
        let at = |key: &'static str| {
            move |error: crate::provenance::ProvenanceError| {
                OptionError::at(format!("{key}[{}]", error.index), error)
            }
        };
        let mut hook = Provenance::new();
        hook = hook.untrusted(self.untrusted).map_err(at("untrusted"))?;
        hook = hook.trusted(self.trusted).map_err(at("trusted"))?;
        for (tool, SinkOptions { destination, content }) in self.sinks {
            let sink = Sink::new().destination(destination).content(content);
            hook = hook
                .sink(&tool, sink)
                .map_err(|error| OptionError::at(format!("sinks.{tool}"), error))?;
        }
        let handles = self.handles.map(|handles| match handles {
            HandleOption::Any => Handles::Any,
            HandleOption::Chosen => Handles::Chosen,
        });
        hook = set(hook, handles, Provenance::handles);
        hook = set(hook, self.named_sources, Provenance::named_sources);
        hook = set(hook, self.named_links, Provenance::named_links);
        hook = set(hook, self.links, Provenance::links);
        hook = set(hook, self.unasked, Provenance::unasked);
        hook = set(hook, self.max_read, Provenance::max_read);
        Ok(Box::new(match self.action {
            Action::Ask => hook,
            Action::Refuse => hook.refuse(),
        }))
    }
}
