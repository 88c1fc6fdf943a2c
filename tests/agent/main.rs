//! What `hooks-agent` promises.

mod calls;
mod hooks;
mod people;
mod rounds;
mod texts;
mod tools;
