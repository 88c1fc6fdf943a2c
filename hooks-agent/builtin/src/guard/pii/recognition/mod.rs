//! Recognizers for personal data: how they are asked, and what they are asked for.

mod cache;
mod door;

pub use door::PiiRecognition;
