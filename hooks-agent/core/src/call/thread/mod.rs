//! The thread of a call: its messages, the values that hooks keep with it, and when it is written.

mod history;
mod saving;
mod sub_threads;
mod values;
