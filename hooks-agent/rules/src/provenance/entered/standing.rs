//! Finds where a value stands in what entered a call.

use crate::provenance::entered::read::Read;
use crate::provenance::entered::sources::Sources;
use crate::provenance::reading::needle::{Needle, TooMany};

/// Where a value stands.
pub(crate) struct Standing<'a> {
    pub(crate) is_said: bool,
    pub(crate) is_instructed: bool,
    /// What was read that has it: of trusted results, those that do not only repeat it.
    pub(crate) reads: Vec<&'a Read>,
}

impl<'a> Standing<'a> {
    /// # Errors
    /// [`TooMany`] if it stands at too many places of a text.
    pub(crate) fn of(sources: &'a Sources, needle: &Needle) -> Result<Self, TooMany> {
        let mut reads = Vec::new();
        for read in &sources.reads {
            let is_in = !needle.places_in(&read.text.folded)?.is_empty();
            if is_in && !(read.is_trusted && read.repeats(needle)) {
                reads.push(read);
            }
        }
        let (is_said, is_instructed) = (sources.is_said(needle), sources.is_instructed(needle));
        Ok(Self { is_said, is_instructed, reads })
    }

    pub(crate) fn is_nowhere(&self) -> bool {
        !self.is_said && !self.is_instructed && self.reads.is_empty()
    }
}
