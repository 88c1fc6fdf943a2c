//! A file of settings that is read.

use std::path::Path;

use crate::command::entry::Layer;
use crate::command::error::CommandProblem;
use crate::command::settings::imported::{Imported, Position};
use crate::command::settings::position::{Step, position};

/// A file of settings that is read.
pub(super) struct Settings<'a> {
    pub(super) path: &'a Path,
    pub(super) layer: Layer,
    pub(super) text: &'a str,
    /// The variables of all its commands.
    pub(super) env: Vec<(String, String)>,
    pub(super) pass_env: &'a [String],
    pub(super) problems: &'a mut Vec<CommandProblem>,
    pub(super) into: &'a mut Imported,
}

impl Settings<'_> {
    pub(super) fn problem(&mut self, steps: &[Step<'_>], field: &'static str, message: &str) {
        let place = self.position(steps).in_file(self.path.to_owned());
        self.problems.push(CommandProblem::new(place, field, message));
    }

    pub(super) fn warn(&mut self, steps: &[Step<'_>], message: &str) {
        let place = self.position(steps).in_file(self.path.to_owned());
        self.into.warnings.push(format!("{place}: {message}"));
    }

    pub(super) fn position(&self, steps: &[Step<'_>]) -> Position {
        position(self.text, steps)
    }
}
