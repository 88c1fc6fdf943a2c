//! The holes in a guard, and how they are printed.

use std::fmt::Display;

/// A way around a guard, with what mends it.
pub(super) struct Hole {
    what: String,
    mend: String,
}

/// An agent, as it was examined.
#[derive(Default)]
pub(super) struct Findings {
    holes: Vec<Hole>,
    held: Vec<String>,
    notes: Vec<String>,
    /// Where the guard did not decide, and all is denied; and why.
    undecided: Vec<String>,
    why: String,
}

impl Findings {
    /// Adds a hole, and the line that mends it.
    pub(super) fn hole(&mut self, what: impl Display, mend: impl Display) {
        let hole = Hole { what: what.to_string(), mend: mend.to_string() };
        let is_known = |other: &Hole| other.what == hole.what && other.mend == hole.mend;
        if !self.holes.iter().any(is_known) {
            self.holes.push(hole);
        }
    }

    /// Adds a seam that was asked and held.
    pub(super) fn held(&mut self, seam: impl Into<String>) {
        self.held.push(seam.into());
    }

    /// Adds a seam at which the guard does not decide, so that everything is denied.
    pub(super) fn undecided(&mut self, seam: impl Into<String>, errors: &str) {
        self.undecided.push(seam.into());
        if self.why.is_empty() {
            errors.lines().next().unwrap_or_default().clone_into(&mut self.why);
        }
    }

    /// Adds what is neither.
    pub(super) fn note(&mut self, note: impl Display) {
        self.notes.push(note.to_string());
    }

    pub(super) fn has_holes(&self) -> bool {
        !self.holes.is_empty() || !self.undecided.is_empty()
    }

    /// Prints them.
    pub(super) fn print(&self) {
        if !self.held.is_empty() {
            say!("  refuses a canary at: {}", self.held.join(", "));
        }
        for note in &self.notes {
            say!("  - {note}");
        }
        for Hole { what, mend } in &self.holes {
            say!("  ! {what}\n    {mend}");
        }
        if !self.undecided.is_empty() {
            say!(
                "  ! the guard does not decide: everything is denied at {}",
                self.undecided.join(", ")
            );
            say!("    it says: {}", self.why);
        }
        if !self.has_holes() {
            say!("  no hole was found");
        }
    }
}
