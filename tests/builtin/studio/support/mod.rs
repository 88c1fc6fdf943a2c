//! A studio on loopback, and a browser that reads it.

mod browser;
mod scripts;
mod sse;

pub(crate) use browser::{Browser, open};
pub(crate) use scripts::{Clerk, calls_then, clerk, says};
pub(crate) use sse::{Message, Stream};
