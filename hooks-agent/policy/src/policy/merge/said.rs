//! The content of one file, as the merge takes it.

use crate::command::Layer;
use crate::policy::commands::{Command, read_commands};
use crate::policy::file::{Document, FileContent, OnFailure, Problems};
use crate::policy::merge::merged::MergedCommand;
use crate::policy::merge::origin::Origin;

/// A text with what it says.
pub(super) struct File<'a> {
    pub(super) document: &'a Document,
    pub(super) problems: Problems<'a>,
    pub(super) content: FileContent,
    pub(super) commands: Vec<Command>,
    /// Whether all of it is in shadow.
    pub(super) is_shadow: bool,
}

impl<'a> File<'a> {
    /// Reads a text. `shadows` says that all but the managed files are in shadow.
    pub(super) fn read(document: &'a Document, shadows: bool) -> Self {
        let mut problems = Problems::new(document);
        let content = FileContent::read(document, &mut problems);
        let commands = read_commands(&content.commands, &mut problems);
        let is_shadow = content.is_shadow || shadows && document.layer != Layer::Managed;
        Self { document, problems, content, commands, is_shadow }
    }

    pub(super) fn origin(&self, at: usize) -> Origin {
        Origin { layer: self.document.layer, place: self.document.place(at) }
    }

    pub(super) fn merged_commands(&self) -> impl Iterator<Item = MergedCommand> {
        let tables = self.content.commands.iter().zip(&self.commands);
        tables.map(|(table, command)| {
            let Command { event, matcher, run, .. } = command;
            MergedCommand {
                event: event.clone(),
                matcher: matcher.clone(),
                run: run.to_string(),
                is_shadow: self.is_shadow,
                origin: self.origin(table.fields().span.start),
            }
        })
    }

    pub(super) fn on_failure(&self) -> Option<(&'static str, Origin)> {
        self.content.on_failure.map(|(on_failure, at)| {
            let text = match on_failure {
                OnFailure::Block => "block",
                OnFailure::Continue => "continue",
            };
            (text, self.origin(at))
        })
    }
}
