//! Builds and opens command hooks.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use hooks_agent_core::hook::HookModel;
use hooks_agent_core::tool::Tool;

use crate::command::entry::{Checked, CommandEntry, Layer, Resources, check};
use crate::command::error::{CommandHooksError, CommandPlace, CommandProblem};
use crate::command::hook::command_hooks::CommandHooks;
use crate::command::hook::commands::Commands;
use crate::command::settings::{Imported, SettingsFile, import};
use crate::command::trust::{Trust, UntrustedCommand};

/// Builds [`CommandHooks`].
#[derive(Debug)]
#[must_use]
pub struct CommandHooksBuilder {
    dir: PathBuf,
    sources: Vec<Source>,
    trust: Trust,
    is_only_managed: bool,
    resources: Resources,
}

/// Where entries come from, in configured order.
#[derive(Debug)]
enum Source {
    Entry(Box<CommandEntry>),
    Settings(SettingsFile, Layer),
}

impl CommandHooks {
    /// Starts command hooks of the project in this directory, which is the working directory of the
    /// commands.
    pub fn builder(project_dir: impl Into<PathBuf>) -> CommandHooksBuilder {
        CommandHooksBuilder {
            dir: project_dir.into(),
            sources: Vec::new(),
            trust: Trust::default(),
            is_only_managed: false,
            resources: Resources::default(),
        }
    }
}

impl CommandHooksBuilder {
    /// Adds a command. The order in which commands are added is the one in which their answers are
    /// combined.
    pub fn entry(mut self, entry: CommandEntry) -> Self {
        self.sources.push(Source::Entry(Box::new(entry)));
        self
    }

    /// Adds the commands of a `settings.json` of a coding agent: a path, or a [`SettingsFile`]. A failure of one of them lets the
    /// call go on, as it does there, unless its handler has `"onFailure": "block"`; opening warns
    /// about each handler that guards something and would let it pass.
    pub fn settings(mut self, file: impl Into<SettingsFile>, layer: Layer) -> Self {
        self.sources.push(Source::Settings(file.into(), layer));
        self
    }

    /// Sets which commands of [`Layer::Project`] may run. The default is none.
    pub fn trust(mut self, trust: Trust) -> Self {
        self.trust = trust;
        self
    }

    /// Allows requests to these hosts: `guards.example.com` on all ports, or `127.0.0.1:8080` on one. The default
    /// is none. Names are compared whole: `example.com` is not `guards.example.com`.
    pub fn allow_hosts(mut self, hosts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        hosts.into_iter().for_each(|host| self.resources.hosts.add(host.into()));
        self
    }

    /// Gives the tools of a server to entries that [call](CommandEntry::mcp_tool) them by this name of the
    /// server: those of an `McpServer`, which has to be kept, or tools of the program. A name that was given
    /// before gets these tools too. The default is none.
    pub fn mcp_server(
        mut self,
        name: impl Into<String>,
        tools: impl IntoIterator<Item = Arc<dyn Tool>>,
    ) -> Self {
        self.resources.servers.add(name.into(), tools);
        self
    }

    /// Gives the model that entries [ask](CommandEntry::prompt). It answers beside the agent: no hook runs around
    /// it, and its tokens count only if the [`HookModel`] says so. The default is none.
    pub fn model(mut self, model: impl Into<HookModel>) -> Self {
        self.resources.model = Some(model.into());
        self
    }

    /// Leaves out all commands that are not of [`Layer::Managed`]. They are checked, but need no
    /// trust.
    pub fn only_managed(mut self, is_only_managed: bool) -> Self {
        self.is_only_managed = is_only_managed;
        self
    }

    /// Checks all entries and settings.
    ///
    /// # Errors
    /// [`CommandHooksError`] with all problems: entries that are not valid, settings that cannot be
    /// read, commands of the project that are not trusted, hosts that are not allowed, tools and models that were
    /// not given, a directory that does not exist, a system other than Unix.
    pub fn open(self) -> Result<CommandHooks, CommandHooksError> {
        let mut problems = Vec::new();
        let mut report = |field, message: String| {
            problems.push(CommandProblem::new(CommandPlace::Builder, field, message));
        };
        let dir = self.dir.canonicalize().ok().filter(|dir| dir.is_dir());
        if !cfg!(unix) {
            let message = "expected a Unix system, commands run on no other: use the Windows \
                           Subsystem for Linux";
            report("project_dir", message.to_owned());
        } else if dir.is_none() {
            let message = format!("expected a directory that exists: {}", self.dir.display());
            report("project_dir", message);
        }
        self.resources.hosts.problems().for_each(|problem| report("allow_hosts", problem));
        let dir = dir.unwrap_or_else(|| self.dir.clone());
        let trusted = self.trust.all().map_err(|error| report("trust", error.to_string()));
        let imported = self.entries(&mut problems);
        let is_only_managed = self.is_only_managed || imported.is_only_managed;
        let trusted = trusted.ok();
        let (mut commands, mut warnings) = (Vec::new(), imported.warnings);
        for (entry, place) in &imported.entries {
            let place_of = |field: &'static str| place.of(field);
            let checked =
                check(entry, &dir, &self.resources, &place_of, &mut problems, &mut warnings);
            let Some(command) = checked else { continue };
            if is_only_managed && command.layer != Layer::Managed {
                continue;
            }
            if let Some(trusted) = &trusted
                && let Some(untrusted) = untrusted(entry, &command, trusted)
            {
                problems.push(CommandProblem::untrusted(place.of("trust"), untrusted));
            }
            commands.push(command);
        }
        if !problems.is_empty() {
            problems.sort_by(|one, other| one.place().order().cmp(&other.place().order()));
            return Err(CommandHooksError::new(problems));
        }
        for warning in &warnings {
            tracing::warn!(target: "hooks_agent::command", "{warning}");
        }
        Ok(CommandHooks::new(Commands::new(commands), dir))
    }

    /// Returns the entries of all sources, in order.
    fn entries(&self, problems: &mut Vec<CommandProblem>) -> Imported {
        let mut all = Imported::default();
        let mut index = 0;
        for source in &self.sources {
            match source {
                Source::Entry(entry) => {
                    all.add_entry(CommandEntry::clone(entry), index);
                    index += 1;
                }
                Source::Settings(file, layer) => import(file, *layer, &mut all, problems),
            }
        }
        all
    }
}

/// Returns the command, if it is of the project and nobody trusted it.
fn untrusted(
    entry: &CommandEntry,
    command: &Checked,
    trusted: &BTreeSet<String>,
) -> Option<UntrustedCommand> {
    let is_trusted = command.layer != Layer::Project || trusted.contains(&command.hash);
    (!is_trusted).then(|| UntrustedCommand::new(entry, command.event, &command.hash))
}
