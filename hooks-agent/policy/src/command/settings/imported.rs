//! Entries with their places.

use std::path::PathBuf;

use crate::command::{CommandEntry, CommandPlace};

/// The entries of all sources, and what people should know about them.
#[derive(Debug, Default)]
pub(in crate::command) struct Imported {
    pub(in crate::command) entries: Vec<(CommandEntry, EntryPlace)>,
    pub(in crate::command) warnings: Vec<String>,
    /// Whether a managed file leaves out what is not managed.
    pub(in crate::command) is_only_managed: bool,
}

/// Where an entry is, and its fields, as far as they are known.
#[derive(Debug)]
pub(in crate::command) enum EntryPlace {
    Entry(usize),
    Settings { path: PathBuf, at: Position, fields: Vec<(&'static str, Position)> },
}

/// A place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::command) struct Position {
    /// From 1.
    pub(in crate::command) line: usize,
    /// From 1, in characters.
    pub(in crate::command) column: usize,
}

impl Imported {
    /// Adds an entry of a program.
    pub(in crate::command) fn add_entry(&mut self, entry: CommandEntry, index: usize) {
        self.entries.push((entry, EntryPlace::Entry(index)));
    }
}

impl EntryPlace {
    /// Returns the place of a field, or else of the entry.
    pub(in crate::command) fn of(&self, field: &str) -> CommandPlace {
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
    pub(in crate::command) fn in_file(self, path: PathBuf) -> CommandPlace {
        CommandPlace::Settings { path, line: self.line, column: self.column }
    }
}
