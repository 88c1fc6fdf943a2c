//! What `hooks-core` promises.

mod class_level;
mod exclusive_receiver;
mod forms;
mod guard;
mod json;
mod limits;
mod long_lists;
mod nested_calls;
mod other_executors;
mod phases;
mod random_operations;
mod registry;
mod settled_hooks;
mod vectors;
