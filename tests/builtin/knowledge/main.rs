//! Built-in hooks that bring in what is known.

mod skills;
