//! Threads that are released, in a file.

use std::time::Duration;

use hooks_agent_core::store::ThreadKey;
use hooks_core::BoxFuture;

use crate::database::Statement;
use crate::store::release::Releases;

/// How often a call that waits for a lease asks for it.
const PAUSE: Duration = Duration::from_millis(250);

/// Asks again after a pause: SQLite cannot say when a thread is released.
#[derive(Debug)]
pub struct AskAgain;

impl Releases for AskAgain {
    fn bind<'a>(&self, statement: Statement<'a>, _: &str, _: Option<&ThreadKey>) -> Statement<'a> {
        statement
    }

    fn released<'a>(&'a self, _: &'a str, _: &'a ThreadKey) -> BoxFuture<'a, ()> {
        Box::pin(tokio::time::sleep(PAUSE))
    }
}
