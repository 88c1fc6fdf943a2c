//! Expansions of the macros, in a crate that denies lints and has little in scope.
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
