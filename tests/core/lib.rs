//! The program of the README of `hooks-core`, which is run as a test.
#![doc = include_str!("../../hooks-core/README.md")]
