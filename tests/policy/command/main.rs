//! Tests of the module `command`.

mod agents;
mod contract;
mod events;
mod faults;
mod group;
mod imports;
mod matchers;
mod names;
mod notes;
mod opening;
mod processes;
mod settings;
mod tools;
mod trust;
