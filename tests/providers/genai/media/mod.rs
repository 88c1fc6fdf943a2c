//! Images, audio and files, as each provider wants them.

mod attached;
mod tool;
mod user;
