//! The content of one file, as the merge takes it.

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
}

impl<'a> File<'a> {
    pub(super) fn read(document: &'a Document) -> Self {
        let mut problems = Problems::new(document);
        let content = FileContent::read(document, &mut problems);
        let commands = read_commands(&content.commands, &mut problems);
        Self { document, problems, content, commands }
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
