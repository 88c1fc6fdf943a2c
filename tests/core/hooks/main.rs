//! Tests of `hooks-core`.

mod attacked_order;
mod class_level;
mod exclusive_receiver;
mod failed_calls;
mod forms;
mod guard;
mod inside_of_calls;
mod json;
mod limits;
mod long_lists;
mod names_and_ends;
mod nested_agent;
mod nested_calls;
mod never_skipped;
mod other_executors;
mod phases;
mod plans;
mod random_operations;
mod registration;
mod registry;
mod relative_order;
mod sealed;
mod settled_hooks;
mod sync_methods;
mod vectors;
