//! A studio on loopback, and a browser that reads it.

mod asked;
mod browser;
mod routes;
mod scan;
mod scripts;
mod sse;

pub(crate) use asked::{asked, until_resumed};
pub(crate) use browser::{Browser, open, open_at};
pub(crate) use routes::{GETS, POSTS, seen};
pub(crate) use scan::{MAIL, SECRET, assert_gone, everything, gone, reads};
pub(crate) use scripts::{Clerk, calls_then, clerk, says};
pub(crate) use sse::{Message, Stream};
