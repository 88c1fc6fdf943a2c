//! The server of the studio.

mod runs;
mod support;
