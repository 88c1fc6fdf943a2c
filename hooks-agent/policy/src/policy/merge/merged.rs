//! The merged content of the files of all layers.

use std::fmt;
use std::sync::Arc;

use hooks_agent_core::hooks_core::HookOrder;
use hooks_agent_core::options::Globs;

use crate::command::Layer;
use crate::policy::error::Place;
use crate::policy::merge::origin::Origin;
use crate::policy::merge::quotas::MergedQuota;
use crate::policy::merge::rules::MergedRule;

/// What the files of all layers come to, each entry with its layer and its place. `Display` prints
/// it for people.
///
/// No text of it has a value of `${env:..}`: options are as their file has them.
///
/// ```
/// use hooks_agent::policy::{Policy, PolicyFile};
///
/// let file = PolicyFile::text("policy.toml", "version = 1\n[[hook]]\nuse = \"timing\"\n");
/// let merged = Policy::builder().project(file).check()?;
/// assert_eq!(merged.hooks()[0].name(), "timing");
/// assert!(merged.to_string().contains("timing"), "{merged}");
/// # Ok::<(), hooks_agent::policy::PolicyErrors>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    pub(super) files: Vec<MergedFile>,
    pub(super) on_failure: Option<(&'static str, Origin)>,
    pub(super) hooks: Vec<MergedHook>,
    pub(super) commands: Vec<MergedCommand>,
    pub(super) rules: Vec<MergedRule>,
    /// What holds in each file that says so for tool calls that none of its rules speaks of.
    pub(super) defaults: Vec<(String, Origin)>,
    pub(super) quotas: Vec<MergedQuota>,
    pub(super) limits: MergedLimits,
    /// The limits of files that are in shadow.
    pub(super) shadow_limits: MergedLimits,
}

/// The `[limits]` of the merged files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MergedLimits {
    pub(super) max_iters: Option<(usize, Origin)>,
    pub(super) deny_tools: Vec<(String, Origin)>,
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MergedFile {
    pub(super) name: Arc<str>,
    pub(super) layer: Layer,
    pub(super) is_there: bool,
}

/// Tells changed options from the same: values of the environment count. `Debug` does not show it,
/// because short values can be guessed from it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct OptionsDigest(pub(super) [u8; 32]);

/// A hook of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergedHook {
    pub(super) name: String,
    pub(super) uses: String,
    pub(super) agents: Vec<String>,
    pub(super) priority: i32,
    pub(super) order: HookOrder,
    pub(super) is_parallel: Option<bool>,
    pub(super) inherits: Option<bool>,
    pub(super) is_enabled: bool,
    pub(super) is_shadow: bool,
    pub(super) options: String,
    pub(super) origin: Origin,
    pub(super) digest: OptionsDigest,
}

/// A command of the merged files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergedCommand {
    pub(super) event: String,
    pub(super) matcher: Option<String>,
    pub(super) run: String,
    pub(super) is_shadow: bool,
    pub(super) origin: Origin,
}

impl MergedCommand {
    /// Returns the name of its event.
    #[must_use]
    pub fn event(&self) -> &str {
        &self.event
    }

    /// Returns the layer of its file.
    #[must_use]
    pub fn layer(&self) -> Layer {
        self.origin.layer
    }

    /// Returns where it stands.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.origin.place
    }
}

impl Merged {
    /// Returns the commands, highest layer first.
    #[must_use]
    pub fn commands(&self) -> &[MergedCommand] {
        &self.commands
    }

    /// Returns the rules about tool calls, highest layer first.
    #[must_use]
    pub fn rules(&self) -> &[MergedRule] {
        &self.rules
    }

    /// Returns the quotas, highest layer first.
    #[must_use]
    pub fn quotas(&self) -> &[MergedQuota] {
        &self.quotas
    }

    /// Returns the hooks, in the order in which they run; those that are disabled too.
    #[must_use]
    pub fn hooks(&self) -> &[MergedHook] {
        &self.hooks
    }

    /// Returns the limit of the rounds of a call.
    #[must_use]
    pub fn max_iters(&self) -> Option<usize> {
        self.limits.most()
    }

    /// Returns the globs of the tools that are denied.
    pub fn deny_tools(&self) -> impl Iterator<Item = &str> {
        self.limits.deny_tools.iter().map(|(tool, _)| tool.as_str())
    }
}

impl MergedLimits {
    /// Returns the limit of the rounds of a call.
    pub(crate) fn most(&self) -> Option<usize> {
        self.max_iters.as_ref().map(|(most, _)| *most)
    }

    /// Returns the globs of the tools that are denied.
    pub(crate) fn denied(&self) -> Vec<String> {
        self.deny_tools.iter().map(|(tool, _)| tool.clone()).collect()
    }

    /// Returns where the first of the limits stands.
    pub(crate) fn place(&self) -> Option<&Place> {
        let most = self.max_iters.as_ref().map(|(_, origin)| origin);
        let denied = self.deny_tools.first().map(|(_, origin)| origin);
        most.or(denied).map(|origin| &origin.place)
    }
}

impl Merged {
    /// Returns the limits; with `in_shadow`, those of files that are in shadow.
    pub(crate) fn limits(&self, in_shadow: bool) -> &MergedLimits {
        if in_shadow { &self.shadow_limits } else { &self.limits }
    }

    /// Returns whether the file of this index was there.
    pub(crate) fn had_file(&self, index: usize) -> bool {
        self.files.get(index).is_some_and(|file| file.is_there)
    }
}

impl MergedHook {
    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the registered hook that it uses.
    #[must_use]
    pub fn uses(&self) -> &str {
        &self.uses
    }

    /// Returns the priority: lower runs first.
    #[must_use]
    pub fn priority(&self) -> i32 {
        self.priority
    }

    /// Returns where it stands by the names of others.
    pub fn order(&self) -> &HookOrder {
        &self.order
    }

    /// Returns the globs of the agents. Empty for all agents.
    #[must_use]
    pub fn agents(&self) -> &[String] {
        &self.agents
    }

    /// Returns whether the globs match the name of an agent.
    #[must_use]
    pub fn applies_to(&self, agent: &str) -> bool {
        let globs = Globs::new(self.agents.clone(), |_, _| {});
        self.agents.is_empty() || globs.is_none_or(|globs| globs.is_match(agent))
    }

    /// Returns whether it runs.
    #[must_use]
    pub fn is_enabled(&self) -> bool {
        self.is_enabled
    }

    /// Returns whether it runs in shadow.
    #[must_use]
    pub fn is_shadow(&self) -> bool {
        self.is_shadow
    }

    /// Returns the layer of its file.
    #[must_use]
    pub fn layer(&self) -> Layer {
        self.origin.layer
    }

    /// Returns where it stands.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.origin.place
    }

    /// Returns whether both do the same, wherever they stand.
    pub(crate) fn does_the_same(&self, other: &Self) -> bool {
        // The digest is of the options. Another field is either compared, or a place.
        let Self {
            name,
            uses,
            agents,
            priority,
            order,
            is_parallel,
            inherits,
            is_enabled,
            is_shadow,
            options: _,
            origin: _,
            digest,
        } = self;
        *name == other.name
            && *uses == other.uses
            && *agents == other.agents
            && *priority == other.priority
            && *order == other.order
            && *is_parallel == other.is_parallel
            && *inherits == other.inherits
            && *is_enabled == other.is_enabled
            && *is_shadow == other.is_shadow
            && *digest == other.digest
    }
}

impl fmt::Debug for OptionsDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OptionsDigest(..)")
    }
}

impl fmt::Display for Merged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "files, highest layer first")?;
        for MergedFile { name, layer, is_there } in &self.files {
            writeln!(f, "  {layer:<8} {name}{}", if *is_there { "" } else { " (not there)" })?;
        }
        if let Some((on_failure, origin)) = &self.on_failure {
            writeln!(f, "on_failure = {on_failure}, {origin}")?;
        }
        writeln!(f, "hooks, in the order in which they run{}", none(self.hooks.is_empty()))?;
        for hook in &self.hooks {
            write!(f, "{hook}")?;
        }
        if !self.commands.is_empty() {
            writeln!(f, "commands, in the order of their decisions")?;
        }
        for MergedCommand { event, matcher, run, is_shadow, origin } in &self.commands {
            let shadow = shadow(*is_shadow);
            let matcher = matcher.as_ref().map(|it| format!(" of {}", it.escape_debug()));
            writeln!(f, "  {event}{}: {run}, {origin}{shadow}", matcher.unwrap_or_default())?;
        }
        if !self.rules.is_empty() || !self.defaults.is_empty() {
            writeln!(f, "rules: of all that match, the strictest holds")?;
        }
        for rule in &self.rules {
            write!(f, "{rule}")?;
        }
        for (default, origin) in &self.defaults {
            let default = default.escape_debug();
            writeln!(f, "  {default} what no rule of the file speaks of, {origin}")?;
        }
        if !self.quotas.is_empty() {
            writeln!(f, "quotas: all of them must have what is used")?;
        }
        for quota in &self.quotas {
            write!(f, "{quota}")?;
        }
        let has_limits = [&self.limits, &self.shadow_limits].map(|it| it.place().is_some());
        writeln!(f, "limits{}", none(has_limits == [false; 2]))?;
        for (limits, is_shadow) in [(&self.limits, false), (&self.shadow_limits, true)] {
            let shadow = shadow(is_shadow);
            if let Some((most, origin)) = &limits.max_iters {
                writeln!(f, "  max_iters = {most}, {origin}{shadow}")?;
            }
            for (tool, origin) in &limits.deny_tools {
                writeln!(f, "  deny_tools: {}, {origin}{shadow}", tool.escape_debug())?;
            }
        }
        Ok(())
    }
}

fn shadow(is_shadow: bool) -> &'static str {
    if is_shadow { ", in shadow" } else { "" }
}

fn none(is_empty: bool) -> &'static str {
    if is_empty { ": none" } else { "" }
}

/// Shows the hook in one line, and its settings in further lines.
impl fmt::Display for MergedHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, uses, agents, priority, order, inherits, is_enabled, .. } = self;
        let Self { is_parallel, options, origin, .. } = self;
        let off = if *is_enabled { shadow(self.is_shadow) } else { ", disabled" };
        let uses = if uses == name { String::new() } else { format!(" ({uses})") };
        writeln!(f, "  {priority:>4} {name}{uses}, {origin}{off}")?;
        if options != "{}" {
            writeln!(f, "       with = {options}")?;
        }
        if !agents.is_empty() {
            writeln!(f, "       agents = {}", agents.join(", ").escape_debug())?;
        }
        if !order.is_empty() {
            writeln!(f, "       {}", order.to_string().escape_debug())?;
        }
        if let Some(is_parallel) = is_parallel {
            writeln!(f, "       parallel = {is_parallel}")?;
        }
        match inherits {
            Some(inherits) => writeln!(f, "       inherit = {inherits}"),
            None => Ok(()),
        }
    }
}
