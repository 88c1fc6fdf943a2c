//! An agent behind AG-UI.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use axum::http::request::Parts;
use hooks_agent_core::agent::{Agent, AgentExt};
use hooks_agent_core::call::{CallOptions, RunId, User};
use hooks_agent_core::error::AgentError;
use hooks_agent_core::react::ReActAgent;
use hooks_agent_core::store::{Steered, StoreError};
use serde_json::Value;

use crate::admit::{Plan, plan};
use crate::caller::{Caller, Denied};
use crate::error::AgUiError;
use crate::hooks::{First, Last};
use crate::protocol::{Capabilities, InputTool, RunAgentInput};
use crate::refused::Refused;
use crate::request::client::ClientInput;
use crate::request::ids::Ids;
use crate::request::kept::Kept;
use crate::request::shared::{Request, message_id};
use crate::run::RunEvents;
use crate::timestamp::now;
use crate::transcript::{About, Replay, Transcript, replay};
use crate::turns::Turns;

/// Tells who asks.
type Authenticate = Arc<dyn Fn(&Parts) -> Result<Caller, Denied> + Send + Sync>;

/// How a server knows who asks.
#[derive(Clone)]
enum Login {
    Nobody,
    /// Nobody, and what needs a user is decided elsewhere.
    DecidedElsewhere,
    By(Authenticate),
}

/// An agent behind AG-UI, the protocol between agents and front ends.
///
/// [`into_router`](Self::into_router) makes it a router of axum, and [`run`](Self::run) serves any other
/// transport. [The guide] has what clients get and what they may send.
///
/// | setting | default |
/// |---|---|
/// | [`authenticate`](Self::authenticate) | everybody shares the threads |
/// | [`origins`](Self::origins) | pages of other origins may not call it |
/// | [`client_tools`](Self::client_tools) | the model may call tools of the client |
/// | [`client_system`](Self::client_system) | system messages of the client are dropped |
/// | [`client_context`](Self::client_context) | the model does not see the context of the client |
///
/// ```
/// use futures::StreamExt;
/// use hooks_agent::builtin::connect::ag_ui::{AgUi, Caller};
/// use hooks_agent::prelude::*;
///
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// let model = ScriptedModel::new("words", |_| "one two");
/// let agent = ReActAgent::builder("assistant").model(model).build()?;
/// let server = AgUi::new(agent);
/// let input = serde_json::from_str(
///     r#"{"threadId":"t","runId":"r","protocolVersion":"1.0",
///         "messages":[{"id":"m","role":"user","content":"Count"}]}"#,
/// )?;
/// let events = server.run(Caller::new("ada"), input).await?;
/// let types = events.map(|event| serde_json::to_value(event).unwrap()["type"].clone());
/// assert_eq!(
///     types.collect::<Vec<_>>().await,
///     ["RUN_STARTED", "STEP_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT",
///      "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "STEP_FINISHED", "RUN_FINISHED"],
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
///
/// [The guide]: https://docs.rs/hooks-agent/latest/hooks_agent/guide/ag_ui/index.html
#[derive(Clone)]
#[must_use = "a server does nothing until its router is served"]
pub struct AgUi {
    pub(super) agent: Arc<ReActAgent>,
    login: Login,
    pub(super) origins: Vec<String>,
    takes_tools: bool,
    takes_system: bool,
    shows_context: bool,
    pub(super) turns: Arc<Turns>,
}

impl AgUi {
    /// Creates a server of this agent.
    pub fn new(agent: impl Into<Arc<ReActAgent>>) -> Self {
        Self {
            agent: agent.into(),
            login: Login::Nobody,
            origins: Vec::new(),
            takes_tools: true,
            takes_system: false,
            shows_context: false,
            turns: Arc::default(),
        }
    }

    /// Sets who asks, by the head of the request: a header, or an extension that a layer has added. Without
    /// it, whoever knows the id of a thread reads the conversation and answers its questions.
    ///
    /// ```
    /// use hooks_agent::builtin::connect::ag_ui::{AgUi, Caller, Denied};
    /// # use hooks_agent::prelude::*;
    ///
    /// #[derive(Clone)]
    /// struct Session {
    ///     user: String,
    /// }
    ///
    /// # let model = ScriptedModel::new("fixed", |_| "Done.");
    /// # let agent = ReActAgent::builder("assistant").model(model).build()?;
    /// let server = AgUi::new(agent).authenticate(|request| {
    ///     let session = request.extensions.get::<Session>().ok_or(Denied::Unauthenticated)?;
    ///     Ok(Caller::new(&session.user).user(session.user.as_str()))
    /// });
    /// # let _ = server;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn authenticate(
        mut self,
        caller: impl Fn(&Parts) -> Result<Caller, Denied> + Send + Sync + 'static,
    ) -> Self {
        self.login = Login::By(Arc::new(caller));
        self
    }

    /// Sets whether questions that [some users](hooks_agent_core::message::Approvers) alone may answer are decided
    /// elsewhere, so that the server starts without authentication. It refuses answers to them. Default:
    /// no.
    pub fn decided_elsewhere(mut self, is_elsewhere: bool) -> Self {
        self.login = match (self.login, is_elsewhere) {
            (by @ Login::By(_), _) => by,
            (_, true) => Login::DecidedElsewhere,
            (_, false) => Login::Nobody,
        };
        self
    }

    /// Returns who asks, by the head of a request.
    pub(super) fn caller(&self, head: &Parts) -> Result<Caller, Denied> {
        match &self.login {
            Login::By(caller) => caller(head),
            Login::Nobody | Login::DecidedElsewhere => Ok(Caller::default()),
        }
    }

    /// Checks that people can answer what the agent asks.
    pub(super) fn check(&self) -> Result<(), AgUiError> {
        let hook = match self.login {
            Login::Nobody => self.agent.needs_login(),
            Login::By(_) | Login::DecidedElsewhere => None,
        };
        let refused = |hook| AgUiError::NobodyDecides { agent: self.agent.name().to_owned(), hook };
        hook.map_or(Ok(()), |hook| Err(refused(hook)))
    }

    /// Lets pages of these origins call it, such as `https://example.org`. `*` is not an origin: no page matches it.
    pub fn origins(mut self, origins: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.origins = origins.into_iter().map(Into::into).collect();
        self
    }

    /// Sets whether the model may call tools of the client. They never run on the server.
    pub fn client_tools(mut self, is_allowed: bool) -> Self {
        self.takes_tools = is_allowed;
        self
    }

    /// Sets whether system and developer messages of the client are added to the system message. Whoever may
    /// call the server then directs the agent.
    pub fn client_system(mut self, is_allowed: bool) -> Self {
        self.takes_system = is_allowed;
        self
    }

    /// Sets whether the context of the client is added to the system message.
    pub fn client_context(mut self, is_shown: bool) -> Self {
        self.shows_context = is_shown;
        self
    }

    /// Returns what the agent can do.
    #[must_use]
    pub fn capabilities(&self) -> Capabilities {
        Capabilities::new(self.agent.name(), self.takes_tools)
    }

    /// Begins a run, after those before on its thread, of which at most 16 wait. Nothing has changed when it
    /// is refused.
    ///
    /// # Errors
    /// [`Refused`], if the input cannot be followed. What fails later is the last event.
    pub async fn run(&self, caller: Caller, input: RunAgentInput) -> Result<RunEvents, Refused> {
        let thread = caller.checked_thread(&input.thread_id)?;
        let turn = self.turns.take(&thread).await.ok_or(Refused::Busy)?;
        let memory = self.agent.read_thread(&thread).await.map_err(|error| {
            tracing::warn!(
                target: "hooks_agent::ag_ui",
                error = &error as &dyn std::error::Error, "a thread cannot be read"
            );
            Refused::Unreadable
        })?;
        let owner = memory.as_ref().and_then(|memory| memory.user());
        if owner.is_some() && owner.as_deref() != caller.user.as_ref().map(User::id) {
            return Err(Refused::Forbidden);
        }
        let kept = Kept::of(memory.as_deref()).map_err(|error| {
            tracing::warn!(
                target: "hooks_agent::ag_ui",
                error = &error as &dyn std::error::Error, "a thread cannot be read"
            );
            Refused::Unreadable
        })?;
        let history = memory.as_ref().map(|memory| memory.messages()).unwrap_or_default();
        let before = replay(&history, &kept.replies, &kept.answers);
        let (name, user) = (self.agent.name(), caller.user.as_ref());
        let plan = plan(&input, name, memory.as_deref(), &kept, &before, user, now())?;
        let run = RunId::random();
        let request = Arc::new(self.request(run, &input, &plan, kept, &before));
        let Plan { options, messages, resumed, idle, .. } = plan;
        if idle.is_some()
            && let Some(memory) = memory
        {
            // Nobody else has it yet.
            let _ = request.memory.set(memory);
        }
        let transcript = Transcript::new(about(&input), request.clone(), &before, resumed);
        if let Some(waiting) = idle {
            return Ok(RunEvents::idle(transcript, &waiting, name, run, turn));
        }
        let mut options = options.thread(thread).run_id(run).value(client(input));
        if let Some(user) = caller.user {
            options = options.user(user);
        }
        let agent =
            self.agent.with_agent_hook(First(request.clone())).with_agent_hook(Last(request));
        Ok(RunEvents::new(Arc::new(agent).stream_owned(options, messages), transcript, turn))
    }

    /// Says something to the call that runs on a thread, or to the next one.
    ///
    /// # Errors
    /// [`Refused::NotSteered`] if the agent is not built for it, [`Refused::NoThread`] if the caller has no such
    /// thread, [`Refused::Malformed`] for a text of nothing.
    pub async fn steer(
        &self,
        caller: &Caller,
        thread_id: &str,
        text: impl Into<String>,
    ) -> Result<Steered, Refused> {
        let (thread, text) = (caller.checked_thread(thread_id)?, text.into());
        if text.trim().is_empty() {
            return Err(Refused::Malformed("`text` is empty".to_owned()));
        }
        let options = caller.user.iter().cloned().fold(CallOptions::new(), CallOptions::user);
        self.agent.steer(options.thread(thread), text).await.map_err(|error| match error {
            AgentError::Store(StoreError::NoInbox) => Refused::NotSteered,
            AgentError::Store(StoreError::UnknownThread(_) | StoreError::OtherUser { .. }) => {
                Refused::NoThread
            }
            error => {
                tracing::warn!(
                    target: "hooks_agent::ag_ui",
                    error = &error as &dyn std::error::Error, "a message for a call was not stored"
                );
                Refused::Unreadable
            }
        })
    }

    fn request(
        &self,
        run: RunId,
        input: &RunAgentInput,
        plan: &Plan,
        kept: Kept,
        before: &Replay,
    ) -> Request {
        let known = before.call_ids.union(&plan.resumed.known).cloned().collect();
        let mut request = Request::new(run, Ids::new(known, plan.wires.clone()), kept);
        let new = plan.messages.iter().filter_map(message_id);
        request.new = new.map(str::to_owned).collect();
        if self.takes_tools {
            let mut names = HashSet::new();
            let is_new =
                |tool: &&InputTool| !tool.name.is_empty() && names.insert(tool.name.clone());
            request.tools = input.tools.iter().filter(is_new).cloned().collect();
        }
        if self.takes_system {
            request.system.clone_from(&plan.system);
        } else if !plan.system.is_empty() {
            tracing::warn!(
                target: "hooks_agent::ag_ui",
                "system messages of the client are dropped"
            );
        }
        if self.shows_context {
            let entries = input.context.iter();
            request.system.extend(entries.map(|it| format!("{}: {}", it.description, it.value)));
        }
        request
    }
}

fn about(input: &RunAgentInput) -> About {
    let version = input.protocol_version.as_deref();
    let is_old = version.is_none_or(|version| version.split('.').next() == Some("0"));
    if is_old {
        static WARNED: std::sync::Once = std::sync::Once::new();
        WARNED.call_once(|| tracing::warn!(target: "hooks_agent::ag_ui", "a client speaks a version of AG-UI before 1.0"));
    }
    About {
        thread_id: input.thread_id.clone(),
        run_id: input.run_id.clone(),
        parent_run_id: input.parent_run_id.clone(),
        state: input.state.clone().filter(|state| *state != Value::Null),
        is_old,
    }
}

fn client(input: RunAgentInput) -> ClientInput {
    let RunAgentInput { thread_id, run_id, context, state, forwarded_props, .. } = input;
    ClientInput { thread_id, run_id, context, state, forwarded_props }
}

impl fmt::Debug for AgUi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgUi").field("agent", &self.agent).finish_non_exhaustive()
    }
}
