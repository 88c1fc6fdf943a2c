//! Runs a program with its input, in a process group of its own that ends with the run. Nothing
//! here knows what the program means by its output.

#[cfg(unix)]
mod error;
#[cfg(unix)]
mod exchange;
#[cfg(unix)]
mod group;
mod launch;
#[cfg(unix)]
mod run;
#[cfg(not(unix))]
mod unsupported;

pub(super) use launch::{Ended, Launch};
#[cfg(unix)]
pub(super) use run::run;
#[cfg(not(unix))]
pub(super) use unsupported::run;
