//! The points of a call at which the host asks: around the call, a model attempt, a tool call.

mod answer;
mod call;
mod observed;
mod segments;
mod tool;
