//! Hooks that receive each event once.
