//! A program that is replaced while a call runs.
