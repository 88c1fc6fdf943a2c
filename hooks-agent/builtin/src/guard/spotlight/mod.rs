//! Marks on the results of tools that bring foreign text.

mod hook;
mod mark;

pub use hook::Spotlight;
pub use mark::Style;
