//! Tests of the module `command`.

mod agents;
mod contract;
mod events;
mod faults;
mod group;
mod http;
mod imports;
mod matchers;
mod mcp_tools;
mod names;
mod notes;
mod opening;
mod processes;
mod prompts;
mod public;
mod settings;
mod tools;
mod trust;
