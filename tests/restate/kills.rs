//! Processes that are killed.
