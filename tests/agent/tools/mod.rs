//! Tools: how they are written, what they get and return.

mod function_tools;
mod hidden_arguments;
mod modes;
mod tool_outputs;
mod tools_by_attribute;
