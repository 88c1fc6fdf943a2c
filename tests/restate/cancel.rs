//! Calls that are cancelled or interrupted.
