//! Threads that are released, as those who wait for one hear of it.

use std::fmt;

use hooks_agent_core::store::ThreadKey;
use hooks_core::BoxFuture;

use crate::database::Statement;

/// How those who wait for a thread hear that it is released.
pub trait Releases: fmt::Debug + Send + Sync + 'static {
    /// Adds to a statement that may release a thread what it needs to say so; without a thread, that it
    /// does not.
    fn bind<'a>(
        &self,
        statement: Statement<'a>,
        namespace: &str,
        thread: Option<&ThreadKey>,
    ) -> Statement<'a>;

    /// Waits until a thread is released, and not longer than a second.
    fn released<'a>(&'a self, namespace: &'a str, thread: &'a ThreadKey) -> BoxFuture<'a, ()>;
}
