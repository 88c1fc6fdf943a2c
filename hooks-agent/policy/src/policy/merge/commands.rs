//! The command hooks of all files.

use std::path::{Path, PathBuf};

use hooks_agent_core::hook::{AgentHookExt, HookModel, Shadowed};
use hooks_agent_core::options::set;
use hooks_agent_core::react::HookSet;

use crate::command::{
    CommandHooks, CommandHooksBuilder, CommandPlace, CommandProblem, Layer, Trust,
};
use crate::policy::commands::Command;
use crate::policy::error::PolicyError;
use crate::policy::file::OnFailure;
use crate::policy::merge::said::File;

/// Where commands run, and which.
#[derive(Default)]
pub(crate) struct CommandSetup {
    pub(crate) dir: Option<PathBuf>,
    pub(crate) trust: Trust,
    pub(crate) is_only_managed: bool,
    /// The hosts that requests may go to.
    pub(crate) hosts: Vec<String>,
    pub(crate) model: Option<HookModel>,
}

/// The commands of a policy, and the hook that runs them.
#[derive(Clone, Default)]
pub(crate) struct MadeCommands {
    enforced: Made,
    in_shadow: Made,
}

/// Commands with one hook.
#[derive(Clone, Default)]
struct Made {
    said: Vec<Said>,
    /// Registered where the first command stands.
    set: HookSet,
    shadow: Option<Shadowed>,
}

impl MadeCommands {
    /// Returns the hooks.
    pub(crate) fn sets(&self) -> impl Iterator<Item = &HookSet> {
        [&self.enforced.set, &self.in_shadow.set].into_iter()
    }

    /// Returns the hook of the commands in shadow, if there are any.
    pub(crate) fn shadow(&self) -> Option<&Shadowed> {
        self.in_shadow.shadow.as_ref()
    }
}

/// A command as its file says it, with what holds for it.
#[derive(Clone, PartialEq)]
struct Said {
    layer: Layer,
    on_failure: OnFailure,
    command: Command,
}

impl CommandSetup {
    /// Makes the hooks of all commands. Returns `last` if they are the same: they keep their sessions.
    pub(super) fn make(
        &self,
        files: &mut [File<'_>],
        last: Option<&MadeCommands>,
        errors: &mut Vec<PolicyError>,
    ) -> MadeCommands {
        let enforced = self.make_of(files, false, last.map(|last| &last.enforced), errors);
        let in_shadow = self.make_of(files, true, last.map(|last| &last.in_shadow), errors);
        MadeCommands { enforced, in_shadow }
    }

    /// Makes the hook of the commands that are in shadow, or of those that are not.
    fn make_of(
        &self,
        files: &mut [File<'_>],
        in_shadow: bool,
        last: Option<&Made>,
        errors: &mut Vec<PolicyError>,
    ) -> Made {
        let (mut said, mut places) = (Vec::new(), Vec::new());
        for (index, file) in files.iter().enumerate().filter(|(_, it)| it.is_shadow == in_shadow) {
            // A lower layer does not weaken the commands of a higher one.
            let on_failure = files[..=index].iter().find_map(|file| file.content.on_failure);
            let on_failure = on_failure.map_or(OnFailure::Block, |(on_failure, _)| on_failure);
            for (table, command) in file.commands.iter().enumerate() {
                let command = command.clone();
                said.push(Said { layer: file.document.layer, on_failure, command });
                places.push((index, table));
            }
        }
        if said.is_empty() {
            return Made::default();
        }
        let dir = self.dir.as_deref().unwrap_or(Path::new("."));
        let builder = CommandHooks::builder(dir).trust(self.trust.clone()).allow_hosts(&self.hosts);
        let builder = set(builder, self.model.clone(), CommandHooksBuilder::model);
        let builder = said
            .iter()
            .fold(builder, |builder, it| builder.entry(it.command.entry(it.layer, it.on_failure)));
        match builder.only_managed(self.is_only_managed).open() {
            // What was trusted when they were made may be trusted no longer.
            Ok(hooks) => {
                let (set, shadow) = match last.filter(|last| last.said == said) {
                    Some(last) => (last.set.clone(), last.shadow.clone()),
                    None if in_shadow => {
                        let shadowed = hooks.named("commands in shadow").in_shadow();
                        (HookSet::of(shadowed.clone()), Some(shadowed))
                    }
                    None => (HookSet::of(hooks), None),
                };
                let (file, table) = places[0];
                let File { document, content, .. } = &files[file];
                let place = document.place(content.commands[table].fields().span.start);
                Made { said, set: place.of_set(&set), shadow }
            }
            Err(error) => {
                for problem in error.problems() {
                    match problem.place() {
                        // It stands for a command that is missing.
                        CommandPlace::Entry(entry)
                            if said[*entry].command.is_incomplete
                                && problem.field() == CommandProblem::TRUST => {}
                        CommandPlace::Entry(entry) => {
                            let (file, table) = places[*entry];
                            report(&mut files[file], table, problem.field(), problem.message());
                        }
                        _ => errors.push(PolicyError::without_place(problem.to_string())),
                    }
                }
                Made::default()
            }
        }
    }
}

fn report(file: &mut File<'_>, table: usize, field: &str, message: &str) {
    let File { content, problems, .. } = file;
    let fields = content.commands[table].fields();
    let offset = fields.get(field).map_or(fields.span.start, |node| node.span.start);
    problems.add(offset, fields.path_of(field), message);
}
