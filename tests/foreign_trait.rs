//! A hookable trait whose implementors are in other crates.

use hooks_core::{HookError, Hookable, hookable};

/// What can be told something, and answers.
#[hookable]
pub trait Speaker: Hookable {
    /// Answers.
    async fn reply(&self, msg: String) -> Result<String, HookError>;
    /// Listens; says how much there was to hear.
    async fn observe(&self, msg: &str) -> Result<usize, HookError>;
    /// Shows a text, and gives back what it showed.
    fn print(&self, text: &str) -> String;
    /// Hooked by being marked, and cannot fail.
    #[hook]
    async fn count(&self, words: &[String], _more: Option<usize>) -> usize;
    /// Not hooked.
    fn name(&self) -> &str;
    /// Not hooked either, and has a body.
    fn greeting(&self) -> String {
        format!("I am {}", self.name())
    }
}
