//! Tests of `hooks-agent`.

mod calls;
mod hooks;
mod people;
mod prices;
mod rounds;
mod texts;
mod tools;
