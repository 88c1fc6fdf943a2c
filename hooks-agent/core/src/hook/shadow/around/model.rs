//! A model call beside which a hook in shadow runs.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use futures::StreamExt;
use futures::stream::unfold;
use hooks_core::{BoxError, BoxFuture};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::agent::Agent;
use crate::call::CallContext;
use crate::error::AgentError;
use crate::hook::around::{Inner, InnerModelCall, ModelCall, NextModel};
use crate::hook::boxed::DynAgentHook;
use crate::hook::shadow::around::rest::{Beside, Real, Rest, agent_error};
use crate::hook::shadow::executor::Shadow;
use crate::hook::shadow::work::{Job, Seen};
use crate::hook::watch::{Content, HookFlow, Installed};
use crate::message::GenerateReason;
use crate::model::{ChatChunk, ChatModel, ChatRequest, ModelAnswer, ModelError};

/// The answer of a model, whose chunks come as the agent reads them.
pub(crate) struct RealAnswer {
    model: Arc<str>,
    provider: Cow<'static, str>,
    reason: Option<GenerateReason>,
    chunks: UnboundedReceiver<Result<ChatChunk, ModelError>>,
}

pub(in crate::hook::shadow) struct BesideModel {
    model: Arc<dyn ChatModel>,
    request: ChatRequest,
    real: Real<RealAnswer>,
}

impl Shadow {
    /// Has the hook run beside a model call.
    pub(crate) fn beside_model(
        &self,
        hook: &Installed,
        agent: &dyn Agent,
        cx: &CallContext,
        model: &Arc<dyn ChatModel>,
        request: &ChatRequest,
    ) -> Beside<RealAnswer> {
        let (beside, real) = Beside::new();
        let (model, request) = (model.clone(), request.clone());
        let job = Job::Model(Box::new(BesideModel { model, request, real }));
        self.send(agent, cx, hook.info(), job);
        beside
    }
}

impl Beside<RealAnswer> {
    /// Tells the hook how the model call ended, and copies the chunks of the answer as the agent reads them: what
    /// guards remove is not in them, wherever these stand.
    pub(crate) fn answered(
        self,
        ended: Result<ModelAnswer, AgentError>,
    ) -> Result<ModelAnswer, AgentError> {
        match ended {
            Ok(answer) => {
                let (sender, chunks) = unbounded_channel();
                let (model, provider) = (answer.shared_model(), answer.shared_provider());
                let real = RealAnswer { model, provider, reason: answer.reason(), chunks };
                self.ended(Ok(real));
                // The hook may not listen any more.
                Ok(answer.watched(move |chunk| drop(sender.send(chunk.clone()))))
            }
            Err(error) => {
                self.ended(Err(error.report()));
                Err(error)
            }
        }
    }
}

/// The rest of a model call, with what the hook reads of its answer.
struct RestOfModel {
    rest: Rest<ChatRequest, RealAnswer>,
    copied: Arc<Mutex<Copied>>,
}

/// What a hook has read of an answer.
#[derive(Default)]
struct Copied {
    text: String,
    /// Whether it has read all of it.
    is_whole: bool,
}

impl Inner<ChatRequest, ModelAnswer, AgentError> for RestOfModel {
    fn run(&self, request: ChatRequest) -> BoxFuture<'_, Result<ModelAnswer, AgentError>> {
        Box::pin(async move {
            let real = self.rest.pass(&request).await.map_err(agent_error)?;
            let RealAnswer { model, provider, reason, chunks } = real;
            let state = (chunks, self.copied.clone());
            let stream = unfold(state, |(mut chunks, copied)| async move {
                let chunk = chunks.recv().await;
                {
                    let mut copied = copied.lock().unwrap_or_else(PoisonError::into_inner);
                    copied.is_whole |=
                        matches!(chunk, None | Some(Ok(ChatChunk::End { .. }) | Err(_)));
                    if let Some(chunk) = &chunk {
                        add_text(&mut copied.text, chunk);
                    }
                }
                Some((chunk?, (chunks, copied)))
            });
            Ok(ModelAnswer::recorded(model, provider, reason, Box::pin(stream)))
        })
    }

    fn fail(&self, cause: BoxError) -> AgentError {
        AgentError::other(cause)
    }

    fn context(&self) -> &CallContext {
        &self.rest.cx
    }
}

impl InnerModelCall for RestOfModel {
    fn ask(
        &self,
        model: Arc<dyn ChatModel>,
        request: ChatRequest,
    ) -> BoxFuture<'_, Result<ModelAnswer, AgentError>> {
        Box::pin(async move { Ok(ModelAnswer::ask(&*model, request).await?) })
    }
}

impl BesideModel {
    pub(in crate::hook::shadow) async fn run(
        self,
        hook: &dyn DynAgentHook,
        agent: &dyn Agent,
        cx: &CallContext,
        seen: &mut Seen,
    ) {
        let Self { model, request, real } = self;
        let copied = Arc::new(Mutex::new(Copied::default()));
        let rest = RestOfModel { rest: Rest::new(cx.clone(), real), copied: copied.clone() };
        let before = Content::of_request(&request);
        let call = ModelCall::new(agent, cx, &*model, request);
        let ended = hook.around_model_call(call, NextModel::new(&rest)).await;
        let inside = rest.rest.into_seen();
        let alone = if ended.is_ok() { HookFlow::Answer } else { HookFlow::Failed };
        seen.flow = inside.flow(ended.is_err(), alone);
        seen.waited = inside.waited;
        if let Some(passed) = &inside.passed {
            seen.contents[0] = (before, Content::of_request(passed));
        }
        let Ok(mut answer) = ended else { return };
        // Read to its end: what rewrites it runs as it is read.
        let start = Instant::now();
        let mut read = String::new();
        while let Some(chunk) = answer.next().await {
            add_text(&mut read, &chunk);
        }
        seen.waited += start.elapsed();
        let has_run = inside.passed.is_some();
        let copied = copied.lock().unwrap_or_else(PoisonError::into_inner);
        seen.has_changed = has_run && (copied.text != read || !copied.is_whole);
    }
}

/// Adds what a chunk says, as it is compared: chunks may be cut in other places.
fn add_text(text: &mut String, chunk: &Result<ChatChunk, ModelError>) {
    match chunk {
        Ok(ChatChunk::Text(more) | ChatChunk::Thinking(more)) => text.push_str(more),
        Ok(ChatChunk::ToolUse(call)) => {
            text.extend(["\0", &call.id, "\0", &call.name, "\0", &call.input.to_string(), "\0"]);
        }
        Err(error) => text.push_str(&error.to_string()),
        Ok(_) => {}
    }
}
