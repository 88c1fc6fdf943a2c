//! Entries with their places.

use std::path::PathBuf;

use crate::command::entry::CommandEntry;
use crate::command::error::CommandPlace;

/// The entries of all sources, and what people should know about them.
#[derive(Debug, Default)]
pub(crate) struct Imported {
    pub(crate) entries: Vec<(CommandEntry, EntryPlace)>,
    pub(crate) warnings: Vec<String>,
    /// Whether a managed file leaves out what is not managed.
    pub(crate) is_only_managed: bool,
}

/// Where an entry is, and its fields, as far as they are known.
#[derive(Debug)]
pub(crate) enum EntryPlace {
    Entry(usize),
    Settings { path: PathBuf, at: Position, fields: Vec<(&'static str, Position)> },
}

/// A place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    /// From 1.
    pub(crate) line: usize,
    /// From 1, in characters.
    pub(crate) column: usize,
}

impl Imported {
    /// Adds an entry of a program.
    pub(crate) fn add_entry(&mut self, entry: CommandEntry, index: usize) {
        self.entries.push((entry, EntryPlace::Entry(index)));
    }
}

impl EntryPlace {
    /// Returns the place of a field, or else of the entry.
    pub(crate) fn of(&self, field: &str) -> CommandPlace {
        match self {
            Self::Entry(index) => CommandPlace::Entry(*index),
            Self::Settings { path, at, fields } => {
                let found = fields.iter().find(|(name, _)| *name == field);
                found.map_or(*at, |(_, at)| *at).in_file(path.clone())
            }
        }
    }
}

impl Position {
    pub(crate) fn in_file(self, path: PathBuf) -> CommandPlace {
        CommandPlace::Settings { path, line: self.line, column: self.column }
    }
}
