//! Built-in hooks that guard: what an agent may say, read and do.
