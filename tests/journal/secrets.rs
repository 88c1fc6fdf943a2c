//! What hooks redact is not in the journal.
