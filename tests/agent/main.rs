//! Tests of `hooks-agent`.

mod calls;
mod hooks;
mod people;
mod rounds;
mod texts;
mod tools;
