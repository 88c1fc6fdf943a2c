//! Built-in hooks that bring in what is known.

mod long_term_memory;
mod skills;
