//! Calls of tools: a checked call of a tool that the program gave, with arguments from an event. Nothing here
//! knows what a tool means by its text.

mod call;
mod servers;
mod template;

pub(super) use call::ToolCall;
pub(super) use servers::Servers;
