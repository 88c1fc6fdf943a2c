//! Calls on one thread and on many.
