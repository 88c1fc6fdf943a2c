//! A compression beside which a hook in shadow runs.

use std::sync::{Mutex, PoisonError};

use hooks_core::{BoxError, BoxFuture};

use crate::agent::Agent;
use crate::call::CallContext;
use crate::error::AgentError;
use crate::hook::around::{Compression, Inner, NextCompression};
use crate::hook::boxed::DynAgentHook;
use crate::hook::shadow::around::rest::{Beside, Real, Rest, agent_error};
use crate::hook::shadow::executor::Shadow;
use crate::hook::shadow::work::{Job, Seen};
use crate::hook::watch::{HookFlow, Installed};
use crate::message::Messages;

pub(in crate::hook::shadow) struct BesideCompression {
    messages: Messages,
    instructions: Option<String>,
    real: Real<Messages>,
}

impl Shadow {
    /// Has the hook run beside a compression.
    pub(crate) fn beside_compression(
        &self,
        hook: &Installed,
        agent: &dyn Agent,
        cx: &CallContext,
        messages: &Messages,
        instructions: Option<&str>,
    ) -> Beside<Messages> {
        let (beside, real) = Beside::new();
        let (messages, instructions) = (messages.clone(), instructions.map(str::to_owned));
        let job = Job::Compression(Box::new(BesideCompression { messages, instructions, real }));
        self.send(agent, cx, hook.info(), job);
        beside
    }
}

/// The rest of a compression, with what it comes to.
struct RestOfCompression {
    rest: Rest<Messages, Messages>,
    got: Mutex<Option<Messages>>,
}

impl Inner<Messages, Messages, AgentError> for RestOfCompression {
    fn run(&self, messages: Messages) -> BoxFuture<'_, Result<Messages, AgentError>> {
        Box::pin(async move {
            let compressed = self.rest.pass(&messages).await.map_err(agent_error)?;
            *self.got.lock().unwrap_or_else(PoisonError::into_inner) = Some(compressed.clone());
            Ok(compressed)
        })
    }

    fn fail(&self, cause: BoxError) -> AgentError {
        AgentError::other(cause)
    }

    fn context(&self) -> &CallContext {
        &self.rest.cx
    }
}

impl BesideCompression {
    pub(in crate::hook::shadow) async fn run(
        self,
        hook: &dyn DynAgentHook,
        agent: &dyn Agent,
        cx: &CallContext,
        seen: &mut Seen,
    ) {
        let Self { messages, instructions, real } = self;
        let rest = RestOfCompression { rest: Rest::new(cx.clone(), real), got: Mutex::default() };
        let before = messages.clone();
        let compression = Compression::new(agent, cx, messages, instructions.as_deref());
        let ended = hook.around_compression(compression, NextCompression::new(&rest)).await;
        let got = rest.got.into_inner().unwrap_or_else(PoisonError::into_inner);
        let inside = rest.rest.into_seen();
        seen.waited = inside.waited;
        let passes_others = inside.passed.as_ref().is_some_and(|passed| *passed != before);
        let returns_others =
            got.zip(ended.as_ref().ok()).is_some_and(|(got, returned)| got != *returned);
        seen.has_changed = passes_others || returns_others;
        let alone = if ended.is_ok() { HookFlow::Answer } else { HookFlow::Failed };
        seen.flow = inside.flow(ended.is_err(), alone);
    }
}
