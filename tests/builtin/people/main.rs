//! Built-in hooks that ask people.

mod human_in_the_loop;
