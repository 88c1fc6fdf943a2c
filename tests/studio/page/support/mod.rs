//! A browser that shows a studio, and agents that a test leads step by step.

mod agents;
mod browser;
mod driver;
mod studio;

pub(crate) use agents::{Lines, clerk, said, says, tool_then};
pub(crate) use browser::Key;
pub(crate) use studio::{Page, open, open_as};
