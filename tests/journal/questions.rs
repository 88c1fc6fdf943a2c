//! Questions to people in a call with a journal.
