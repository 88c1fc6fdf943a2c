//! The agent of tests of nested calls, and of calls that make other calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hooks_core::{HookError, Hookable, Hooks, hookable};
use hooks_fixtures::Records;

#[derive(Debug, Hookable, Default)]
pub(super) struct Agent {
    pub(super) records: Records<String>,
    pub(super) hooked: AtomicUsize,
    hooks: Hooks,
}

#[hookable]
impl Agent {
    pub(super) async fn reply(&self, more: usize) -> Result<usize, HookError> {
        if more == 0 { Ok(0) } else { Ok(Box::pin(self.reply(more - 1)).await? + 1) }
    }

    /// Waits once, then calls `reply`.
    #[hook]
    pub(super) async fn ask(&self, other: Arc<Agent>) -> usize {
        tokio::task::yield_now().await;
        Box::pin(other.reply(0)).await.unwrap()
    }

    /// Waits for ever.
    #[hook]
    pub(super) async fn wait(&self) -> usize {
        std::future::pending().await
    }

    /// Panics while it holds a call that is under way.
    #[hook]
    pub(super) async fn hold(&self, other: Arc<Agent>) -> usize {
        let mut call = Box::pin(other.wait());
        assert!(futures::poll!(&mut call).is_pending());
        panic!("as told");
    }

    pub(super) fn print(&self, more: usize) -> usize {
        if more == 0 { 0 } else { self.print(more - 1) + 1 }
    }

    #[hook(reentry = "deny")]
    pub(super) async fn once(&self) -> Result<(), HookError> {
        Err(hooks_core::RegistryError::from("".parse::<hooks_core::HookType>().unwrap_err()).into())
    }

    #[hook]
    pub(super) async fn outer(&self) -> Result<(), HookError> {
        self.once().await
    }
}

impl Agent {
    pub(super) fn note(&self, text: impl Into<String>) {
        self.records.push(text.into());
    }

    pub(super) fn hooked(&self) -> usize {
        self.hooked.swap(0, Ordering::Relaxed)
    }
}

pub(super) fn counted() -> Arc<Agent> {
    let agent = Arc::new(Agent::default());
    agent.register_instance_hook(Agent::PRE_REPLY, "count", |agent: &Agent, _: &AgentReplyArgs| {
        agent.hooked.fetch_add(1, Ordering::Relaxed);
    });
    agent
}
