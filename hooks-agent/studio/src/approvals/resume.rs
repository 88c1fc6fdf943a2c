//! Resumes calls whose questions were decided.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::error::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hooks_agent_core::agent::{Agent, AgentExt};
use hooks_agent_core::call::CallOptions;
use hooks_agent_core::error::{AgentError, InputError};
use hooks_agent_core::message::Messages;
use hooks_agent_core::react::ReActAgent;
use hooks_agent_core::store::Filter;

/// The threads that are resumed now, and whether more was decided since. Two resumes of one thread must
/// not queue: the second would find nothing to resume and ask the model again.
#[derive(Clone, Default)]
pub(super) struct Resuming(Arc<Mutex<Threads>>);

/// Threads by agent and id, with whether they are to be resumed again.
type Threads = HashMap<(Arc<str>, Arc<str>), bool>;

impl Resuming {
    /// Resumes a thread in the background, unless that is going on: then again after it.
    pub(super) fn resume(&self, agent: &Arc<ReActAgent>, thread: Arc<str>) {
        let key = (Arc::from(agent.name()), thread);
        match self.lock().entry(key.clone()) {
            Entry::Occupied(mut again) => {
                again.insert(true);
                return;
            }
            Entry::Vacant(going) => going.insert(false),
        };
        let (this, agent) = (self.clone(), agent.clone());
        tokio::spawn(async move {
            let mut going = Going { resuming: this, key, has_ended: false };
            loop {
                resume_once(&agent, &going.key.1).await;
                if going.is_over() {
                    return;
                }
            }
        });
    }

    fn lock(&self) -> MutexGuard<'_, Threads> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread that is resumed.
struct Going {
    resuming: Resuming,
    key: (Arc<str>, Arc<str>),
    has_ended: bool,
}

impl Going {
    /// Ends it, unless more was decided. Returns whether it is over.
    fn is_over(&mut self) -> bool {
        let mut threads = self.resuming.lock();
        match threads.get_mut(&self.key) {
            Some(again) if *again => *again = false,
            _ => {
                threads.remove(&self.key);
                self.has_ended = true;
            }
        }
        self.has_ended
    }
}

impl Drop for Going {
    fn drop(&mut self) {
        // A call that panics ends it too.
        if !self.has_ended {
            self.resuming.lock().remove(&self.key);
        }
    }
}

/// Resumes a thread if it has a decision that no call has read.
async fn resume_once(agent: &Arc<ReActAgent>, thread: &Arc<str>) {
    let decided = Filter::agent(agent.name()).thread(thread.clone()).decided();
    match agent.store().waiting(decided).await {
        Ok(decided) if decided.is_empty() => return,
        Ok(_) => {}
        Err(error) => return report(agent.name(), &error),
    }
    let options = CallOptions::new().thread(thread.clone()).only_unfinished();
    // The run is on the page, however it ends.
    match agent.clone().call_owned(options, Messages::new()).await {
        // Another process was faster.
        Ok(_) | Err(AgentError::Input(InputError::NothingToResume { .. })) => {}
        Err(error) => report(agent.name(), &error),
    }
}

fn report(agent: &str, error: &(dyn Error + 'static)) {
    tracing::warn!(
        target: "hooks_agent::studio",
        agent, error, "a decision of the studio was not carried out"
    );
}
