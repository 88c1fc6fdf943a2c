//! What the macros expand to, where nothing is allowed and little is in scope.
#![deny(
    missing_docs,
    unused,
    unreachable_pub,
    elided_lifetimes_in_paths,
    missing_debug_implementations,
    single_use_lifetimes,
    clippy::all,
    clippy::pedantic
)]
#![forbid(unsafe_code)]

mod bare;
mod strict;

pub use strict::{
    count_letters, tools, CountLetters, Failure, Letters, Speaker, SpeakerReplyArgs, Strict,
    StrictPlanArgs, StrictPrintArgs,
};
