//! Events of a call while it runs.
