//! The programs of both READMEs, which are run as tests.
#![doc = include_str!("../../README.md")]

#[cfg(doctest)]
#[doc = include_str!("../../hooks-agent/README.md")]
mod readme_of_agent {}
