//! A tool that a test holds.

use std::sync::Arc;

use hooks_agent_core::tool::FunctionTool;
use serde_json::Value;
use tokio::sync::Semaphore;

/// A tool that waits until the test lets it go on.
#[derive(Clone)]
pub(crate) struct Gate {
    entered: Arc<Semaphore>,
    opened: Arc<Semaphore>,
}

impl Gate {
    pub(crate) fn new() -> Self {
        Self { entered: Arc::new(Semaphore::new(0)), opened: Arc::new(Semaphore::new(0)) }
    }

    /// Returns the tool. Its result is `passed`.
    pub(crate) fn tool(&self, name: &str) -> FunctionTool {
        let gate = self.clone();
        FunctionTool::new(name, "Waits.", move |_: Value| {
            let gate = gate.clone();
            async move {
                gate.entered.add_permits(1);
                gate.opened.acquire().await.unwrap().forget();
                "passed"
            }
        })
    }

    /// Notes that something has started, as a call of the tool does.
    pub(crate) fn enter(&self) {
        self.entered.add_permits(1);
    }

    /// Waits until a call of the tool has started.
    pub(crate) async fn entered(&self) {
        self.entered.acquire().await.unwrap().forget();
    }

    /// Waits until one is let go on, as a call of the tool does.
    pub(crate) async fn opened(&self) {
        self.opened.acquire().await.unwrap().forget();
    }

    /// Lets one call of the tool end.
    pub(crate) fn open(&self) {
        self.opened.add_permits(1);
    }
}
