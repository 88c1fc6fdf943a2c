//! A studio on loopback, and a browser that reads it.

mod browser;
mod scripts;
mod sse;

pub(crate) use browser::{Browser, open};
pub(crate) use scripts::{calls_then, says};
pub(crate) use sse::{Message, Stream};
