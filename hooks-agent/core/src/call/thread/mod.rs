//! The thread of a call: its messages, the values that hooks keep with it, and when it is written.

mod history;
mod sub_threads;
mod user;
mod values;
