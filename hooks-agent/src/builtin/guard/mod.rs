//! Hooks that guard: what an agent may say, read and do.
