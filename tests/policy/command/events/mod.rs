//! The other events.

mod calls;
mod compressions;
mod ends;
mod rounds;
