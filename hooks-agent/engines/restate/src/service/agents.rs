//! The virtual object that serves agents.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use hooks_agent_core::agent::Agent;
use hooks_agent_core::call::{CallOptions, RunId};
use hooks_agent_core::hooks_core::BoxError;
use hooks_agent_core::message::{Messages, Msg};
use hooks_agent_core::react::ReActAgent;
use hooks_agent_core::store::{ThreadKey, Waiting};
use restate_sdk::context::RequestTarget;
use restate_sdk::endpoint::ServiceOptions;
use restate_sdk::prelude::*;
use restate_sdk::service::{IntoServiceDefinition, ServiceDefinition};

use crate::driver::INTERRUPT;
use crate::history::History;
use crate::run::Run;
use crate::service::feed::{FEED, Opened};
use crate::service::publisher::Ingress;
use crate::service::{CallRequest, DESK, StreamPart, StreamRequest};
use crate::state::{HISTORY, RUNNING};
use crate::verdict::SignedVerdict;

/// A virtual object that serves agents, by the name `Agents`. Its key is the name of an agent and the id
/// of a thread, `clerk/ada`: the calls of a thread run one after the other, in the order in which they
/// came, on whatever worker.
///
/// | handler | takes | returns |
/// |---|---|---|
/// | `call` | a [`CallRequest`] | the reply |
/// | `waiting` | | the questions that wait for people |
/// | `decide` | a list of [`Verdict`](hooks_agent_core::store::Verdict)s, each with who decides in `by`: an id, or `id` and `roles` | once they are stored, all or none |
/// | `stream` | a [`StreamRequest`] | the next events of the last call, a [`StreamPart`]; waits up to 20 s |
/// | `interrupt` | | whether a call runs that is interrupted |
/// | `history` | | the messages of the thread |
///
/// All but `call` answer while a call runs. A decision that is refused has status 409, and none of its
/// list is stored; so has a call that was cancelled. A call of an agent that this program does not have
/// has status 404, also if another program began it; if it asks people, it ends when they have decided.
///
/// An interrupted call returns what it came to, and the history has the results of the tools that ended;
/// it says of each other tool that its outcome is unknown.
#[derive(Debug)]
pub struct Agents {
    agents: BTreeMap<String, Arc<ReActAgent>>,
    run: Run,
    ingress: Option<Ingress>,
    options: ServiceOptions,
}

impl Agents {
    /// Creates the object for these agents, whose names differ.
    pub fn new(agents: impl IntoIterator<Item = ReActAgent>) -> Self {
        let named = |agent: ReActAgent| (agent.name().to_owned(), Arc::new(agent));
        let agents = agents.into_iter().map(named).collect();
        Self { agents, run: Run::new(), options: retries(), ingress: None }
    }

    /// Sets the options of the object, for [`Worker::new`](crate::Worker::new).
    ///
    /// By default, a call whose process ended or whose error may pass is tried again after 100 ms, then
    /// after twice as long, up to 10 s, without end: [`Limits`](crate::Limits) end it. The engine alone
    /// would pause it after 70 tries, and with it the thread, until somebody resumes it.
    #[must_use]
    pub fn options(self, options: ServiceOptions) -> Self {
        Self { options, ..self }
    }

    /// Returns the object with its options.
    pub(crate) fn into_definition(mut self) -> ServiceDefinition {
        let options = std::mem::take(&mut self.options);
        self.into_service_definition().options(options)
    }

    /// Sets how calls run.
    #[must_use]
    pub fn run(self, run: Run) -> Self {
        Self { run, ..self }
    }

    /// Publishes the events of calls through the ingress of the engine at this URL, for callers that
    /// `stream`. Events are published while the call runs, as well as it goes: one that cannot be
    /// published is missing, and the call goes on. Whoever can reach the ingress can read them by `stream`,
    /// and publish none: a call has a token that its [`Feed`](crate::Feed) knows, which is served beside.
    ///
    /// # Errors
    /// It is not an URL such as `http://127.0.0.1:8080`.
    pub fn ingress(self, url: &str) -> Result<Self, BoxError> {
        Ok(Self { ingress: Some(Ingress::new(url)?), ..self })
    }

    /// Returns the agent and the thread of a key.
    fn agent<'k>(&self, key: &'k str) -> Result<(&Arc<ReActAgent>, &'k str), TerminalError> {
        let Some((name, thread)) = key.split_once('/').filter(|(_, thread)| !thread.is_empty())
        else {
            let reason = format!("the key `{key}` is not `AGENT/THREAD`");
            return Err(TerminalError::new_with_code(400, reason));
        };
        let Some(agent) = self.agents.get(name) else {
            let known: Vec<_> = self.agents.keys().map(String::as_str).collect();
            let reason = format!("no agent named `{name}`, there are: {}", known.join(", "));
            return Err(TerminalError::new_with_code(404, reason));
        };
        Ok((agent, thread))
    }
}

/// How the engine tries again: so often that a call does not pause.
pub(super) fn retries() -> ServiceOptions {
    ServiceOptions::new()
        .retry_policy_initial_interval(Duration::from_millis(100))
        .retry_policy_exponentiation_factor(2.0)
        .retry_policy_max_interval(Duration::from_secs(10))
        .retry_policy_max_attempts(1_000_000)
}

#[restate_sdk::object(name = "Agents", client_visibility = "pub(crate)")]
impl Agents {
    #[handler]
    async fn call(
        &self,
        ctx: ObjectContext<'_>,
        request: Json<CallRequest>,
    ) -> Result<Json<Msg>, HandlerError> {
        let key = ctx.key().to_owned();
        let (agent, thread) = match self.agent(&key) {
            Ok(found) => found,
            Err(refusal) => {
                let name = key.split('/').next().unwrap_or_default();
                return Err(self.run.refuse(&ctx, name, refusal).await);
            }
        };
        let request = request.into_inner();
        let mut options = CallOptions::new();
        if let Some(user) = &request.user {
            options = options.user(user.clone());
        }
        let run = self.run.clone().options(options).thread(thread);
        let messages: Messages = request.into_messages().into_iter().collect();
        let Some(ingress) = &self.ingress else {
            return Ok(Json(run.call(&ctx, &**agent, messages).await?));
        };
        // The token is in the journal, and a guess of nobody.
        let token = ctx.run(async || Ok(RunId::random().to_string())).name("feed").await?;
        let opened = Opened { call: ctx.invocation_id().into(), token: token.into() };
        let feed = RequestTarget::object(FEED, &key, "open");
        ctx.request::<_, ()>(feed, Json(opened.clone())).call().await?;
        let publisher = ingress.publisher(&key, opened);
        let events = publisher.clone();
        let run = run.on_event(move |event| events.event(event)).on_end(move || publisher.over());
        Ok(Json(run.call(&ctx, &**agent, messages).await?))
    }

    #[handler]
    async fn stream(
        &self,
        ctx: SharedObjectContext<'_>,
        request: Json<StreamRequest>,
    ) -> Result<Json<StreamPart>, HandlerError> {
        if self.ingress.is_none() {
            let reason = "events are not published: give `Agents::ingress` the URL of the ingress";
            return Err(TerminalError::new_with_code(409, reason).into());
        }
        let feed = RequestTarget::object(FEED, ctx.key(), "read");
        Ok(ctx.request::<_, Json<StreamPart>>(feed, request).call().await?)
    }

    #[handler]
    async fn waiting(
        &self,
        ctx: SharedObjectContext<'_>,
    ) -> Result<Json<Vec<Waiting>>, HandlerError> {
        let desk = RequestTarget::object(DESK, ctx.key(), "waiting");
        Ok(ctx.request::<_, Json<Vec<Waiting>>>(desk, ()).call().await?)
    }

    #[handler]
    async fn decide(
        &self,
        ctx: SharedObjectContext<'_>,
        verdicts: Json<Vec<SignedVerdict>>,
    ) -> Result<(), HandlerError> {
        let desk = RequestTarget::object(DESK, ctx.key(), "decide");
        Ok(ctx.request::<_, ()>(desk, verdicts).call().await?)
    }

    #[handler]
    async fn interrupt(&self, ctx: SharedObjectContext<'_>) -> Result<Json<bool>, HandlerError> {
        let Some(invocation) = ctx.get::<String>(RUNNING).await? else { return Ok(Json(false)) };
        ctx.invocation_handle(invocation).signal(INTERRUPT).resolve(());
        Ok(Json(true))
    }

    #[handler]
    async fn history(
        &self,
        ctx: SharedObjectContext<'_>,
    ) -> Result<Json<Vec<Arc<Msg>>>, HandlerError> {
        let key = ctx.key().to_owned();
        let (agent, thread) = self.agent(&key)?;
        let key = ThreadKey::new(agent.name(), thread).map_err(TerminalError::from_error)?;
        let state = ctx.get::<Vec<u8>>(HISTORY).await?;
        let history = History::read(state.as_deref()).map_err(TerminalError::from_error)?;
        let record = history.thread(&key);
        Ok(Json(record.messages.into_iter().map(|row| row.msg).collect()))
    }
}
