//! An attempt to have an answer of a model: its request and its answer.

use std::sync::Arc;

use agent_hooks::{AgentContext, HostError, InterceptionPoint};
use futures::{StreamExt, stream};
use hooks_agent_core::error::AgentError;
use hooks_agent_core::hook::{ModelAttempt, NextAttempt};
use hooks_agent_core::model::{ChatChunk, ChatRequest, FinishReason, ModelAnswer};
use serde_json::{Value, json};

use crate::context::message::{all_back, all_of};
use crate::context::response::{Answer, finish_name};
use crate::host::blocked::Blocked;
use crate::host::emission::At;
use crate::host::interceptors::{Host, Output};
use crate::host::points::call::set_thinking;
use crate::host::points::observed::Observed;
use crate::host::points::segments::Segments;
use crate::host::session::Session;

/// The reason why an answer ended, of a stream that broke off.
const INCOMPLETE: &str = "stream_incomplete";

/// The model that is asked, in contexts.
#[derive(Clone)]
pub(super) struct Asked {
    model: Value,
    request_id: String,
}

impl Host {
    /// Refuses an attempt outside of a session.
    pub(crate) fn refuse_attempt(&self, attempt: &ModelAttempt<'_>) -> Blocked {
        let (session, cx) = (Session::of(attempt.context()), attempt.context());
        let asked = Asked::of(attempt, &session);
        let messages = all_of(&attempt.request().messages);
        let reason = HostError::AdapterUnsupported;
        let at = At { host: self, session: &session, cx };
        at.deny(InterceptionPoint::PreModelCall, reason, messages, |context, messages| {
            asked.fill(context);
            context.insert("messages".to_owned(), messages.clone());
        })
    }

    /// Runs an attempt.
    pub(crate) async fn run_attempt(
        self: Arc<Self>,
        session: Arc<Session>,
        attempt: ModelAttempt<'_>,
        next: NextAttempt<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        let cx = attempt.context().clone();
        let asked = Asked::of(&attempt, &session);
        let request = {
            let at = At { host: &self, session: &session, cx: &cx };
            let request = at.request(&asked, attempt.into_request()).await;
            request.map_err(|blocked| next.fail(blocked))?
        };
        let answer = next.run(request).await?;
        match self.output {
            _ if !self.is_enforcing() => {
                Ok(Observed { host: self, session, cx, asked }.watch(answer))
            }
            Output::Buffered => {
                let at = At { host: &self, session: &session, cx: &cx };
                at.whole(&asked, answer, next).await
            }
            Output::Incremental { segment } => {
                Ok(Segments::new(self, session, cx, asked, segment).release_all(answer))
            }
        }
    }
}

impl At<'_> {
    /// Asks about a request.
    async fn request(
        self,
        asked: &Asked,
        mut request: ChatRequest,
    ) -> Result<ChatRequest, Blocked> {
        let tools: Vec<_> = request
            .tools
            .iter()
            .map(|tool| {
                json!({ "name": tool.name, "description": tool.description, "schema": tool.schema })
            })
            .collect();
        let messages = all_of(&request.messages);
        let changed = self.ask(InterceptionPoint::PreModelCall, messages, |context, messages| {
            asked.fill(context);
            context.insert("messages".to_owned(), messages.clone());
            context.insert("tools".to_owned(), Value::Array(tools));
        });
        if let Some(context) = changed.await? {
            request.messages = all_back(&context["messages"], &request.messages)
                .map_err(|path| self.fail(InterceptionPoint::PreModelCall, path))?;
        }
        Ok(request)
    }

    /// Reads an answer to its end and asks about it.
    async fn whole(
        self,
        asked: &Asked,
        mut answer: ModelAnswer,
        next: NextAttempt<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        let (mut read, mut chunks) = (Answer::default(), Vec::new());
        let finish = loop {
            match answer.next().await {
                None => return Err(next.fail(self.broken_off(asked, &read))),
                // The provider's error: there is no answer to ask about.
                Some(Err(error)) => return Err(error.into()),
                Some(Ok(chunk)) => {
                    read.add(&chunk);
                    if read.bytes > self.host.most_bytes {
                        self.cx.add_usage(read.usage);
                        let detail = format!("response: more than {} bytes", self.host.most_bytes);
                        return Err(next.fail(self.fail(InterceptionPoint::PostModelCall, detail)));
                    }
                    let end = end_of(&chunk);
                    chunks.push(chunk);
                    if let Some(finish) = end {
                        break finish;
                    }
                }
            }
        };
        let changed = self.response(asked, &read, finish_name(finish)).await;
        let changed = match changed {
            Ok(None) => None,
            Ok(Some(context)) => read
                .back(&context["response"], finish)
                .map_err(|path| self.fail(InterceptionPoint::PostModelCall, path))
                .map_err(|blocked| self.discard(&read, blocked, next))?,
            Err(blocked) => return Err(self.discard(&read, blocked, next)),
        };
        let chunks = changed.unwrap_or(chunks).into_iter().map(Ok);
        Ok(answer.map_stream(|_| Box::pin(stream::iter(chunks))))
    }

    /// The answer is not used; it was paid for.
    fn discard(self, read: &Answer, blocked: Blocked, next: NextAttempt<'_>) -> AgentError {
        self.cx.add_usage(read.usage);
        next.fail(blocked)
    }

    /// Asks about an answer up to here.
    pub(super) async fn response(
        self,
        asked: &Asked,
        read: &Answer,
        finish: &str,
    ) -> Result<Option<AgentContext>, Blocked> {
        let response = read.response(finish);
        let changed = self.ask(InterceptionPoint::PostModelCall, response, |context, response| {
            asked.fill(context);
            context.insert("response".to_owned(), response.clone());
            context.insert(
                "usage".to_owned(),
                json!({
                    "prompt_tokens": read.usage.input_tokens,
                    "completion_tokens": read.usage.output_tokens,
                }),
            );
            set_thinking(context, &read.thinking);
        });
        changed.await
    }

    /// Denies what no verdict covers of a stream that broke off.
    pub(super) fn broken_off(self, asked: &Asked, read: &Answer) -> Blocked {
        let (reason, response) = (HostError::StreamingUnsupported, read.response(INCOMPLETE));
        self.deny(InterceptionPoint::PostModelCall, reason, response, |context, response| {
            asked.fill(context);
            context.insert("response".to_owned(), response.clone());
        })
    }
}

impl Asked {
    fn of(attempt: &ModelAttempt<'_>, session: &Session) -> Self {
        let name = attempt.model_name();
        let model = json!({ "id": name, "vendor": attempt.provider() });
        Self { model, request_id: session.next_attempt() }
    }

    fn fill(&self, context: &mut AgentContext) {
        context.insert("model".to_owned(), self.model.clone());
        context.insert("request_id".to_owned(), json!(self.request_id));
    }
}

pub(super) fn end_of(chunk: &ChatChunk) -> Option<FinishReason> {
    match chunk {
        ChatChunk::End { finish, .. } => Some(*finish),
        _ => None,
    }
}
