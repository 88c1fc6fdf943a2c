//! The user as an agent.

use std::fmt;
use std::sync::Arc;

use hooks_core::{Hookable, Hooks, hookable};
use tokio::io::{AsyncBufRead, AsyncBufReadExt};
use tokio::sync::Mutex;

use crate::agent::{Agent, AgentState, CallOutcome, Printer};
use crate::call::CallContext;
use crate::error::AgentError;
use crate::hook::{
    AgentHook, DynAgentHook, EventPoints, HookList, Registration, Target, install_call,
};
use crate::message::{Messages, Msg};

/// An agent whose replies are lines that a user types.
///
/// [`reply`](Agent::reply) prints the messages and reads the next line, from standard input or from
/// another `tokio::io::AsyncBufRead`. If a call is dropped in the middle of a line, the part
/// already read is kept for the next call.
///
/// ```
/// use hooks_agent::prelude::*;
/// use hooks_agent::user::UserAgent;
///
/// # futures::executor::block_on(async {
/// let user = UserAgent::builder("ada").input(&b"yes\nno\n"[..]).build();
/// assert_eq!(user.call(Msg::assistant("bot", "Really?")).await?.text(), "yes");
/// assert_eq!(user.call(Messages::new()).await?.text(), "no");
/// let error = user.call(Messages::new()).await.unwrap_err();
/// assert_eq!(error.to_string(), "the input of user `ada` has ended");
/// # Ok::<(), hooks_agent::error::AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Hookable)]
pub struct UserAgent {
    state: AgentState,
    input: Mutex<Input>,
    printer: Option<Printer>,
    hooks: Hooks,
}

struct Input {
    reader: Box<dyn AsyncBufRead + Send + Unpin>,
    line: Vec<u8>,
}

/// Builds a [`UserAgent`].
#[must_use]
pub struct UserAgentBuilder {
    name: Arc<str>,
    reader: Option<Box<dyn AsyncBufRead + Send + Unpin>>,
    printer: Option<Printer>,
    hooks: HookList,
}

impl UserAgent {
    /// Starts a user of this name, who types on standard input.
    pub fn builder(name: impl Into<Arc<str>>) -> UserAgentBuilder {
        UserAgentBuilder {
            name: name.into(),
            reader: None,
            printer: None,
            hooks: HookList::default(),
        }
    }
}

impl UserAgentBuilder {
    /// Sets the reader of the lines, instead of standard input.
    pub fn input(mut self, reader: impl AsyncBufRead + Send + Unpin + 'static) -> Self {
        self.reader = Some(Box::new(reader));
        self
    }

    /// Sets the function that prints messages. Without one, messages are not printed.
    pub fn printer(mut self, printer: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.printer = Some(Arc::new(printer));
        self
    }

    /// Adds a hook. It receives the events that every agent has; this agent has no events of
    /// reasoning and acting.
    #[track_caller]
    pub fn hook(mut self, hook: impl AgentHook) -> Self {
        self.hooks.add(hook.__share());
        self
    }

    /// Builds the agent.
    #[must_use]
    pub fn build(self) -> UserAgent {
        let Self { name, reader, printer, hooks } = self;
        let reader =
            reader.unwrap_or_else(|| Box::new(tokio::io::BufReader::new(tokio::io::stdin())));
        let input = Mutex::new(Input { reader, line: Vec::new() });
        let user = UserAgent { state: AgentState::new(name), input, printer, hooks: Hooks::new() };
        hooks.install(&user);
        user
    }
}

#[hookable]
impl Agent for UserAgent {
    fn state(&self) -> &AgentState {
        &self.state
    }

    async fn reply(&self, _cx: CallContext, messages: Messages) -> Result<Msg, AgentError> {
        for msg in &messages {
            self.print(&msg.text());
        }
        let mut input = self.input.lock().await;
        let Input { reader, line } = &mut *input;
        let name = || self.state.name().to_owned();
        let read = reader.read_until(b'\n', line).await;
        read.map_err(|source| AgentError::Read { user: name(), source })?;
        if line.is_empty() {
            return Err(AgentError::EndOfInput { user: name() });
        }
        let text = String::from_utf8_lossy(line).trim_end_matches(['\r', '\n']).to_owned();
        line.clear();
        Ok(Msg { name: name(), ..Msg::user(text) })
    }

    async fn observe(&self, _cx: CallContext, msg: Msg) -> Result<(), AgentError> {
        self.print(&msg.text());
        Ok(())
    }

    fn print(&self, text: &str) {
        if let Some(printer) = &self.printer {
            printer(text);
        }
    }

    #[hook]
    fn settled(&self, _cx: CallContext, _outcome: CallOutcome) {}
}

// Without it rustc lists the impls of several files, in an order that depends on the checkout.
#[diagnostic::do_not_recommend]
impl EventPoints for UserAgent {
    fn install(
        target: &impl Target<Self>,
        hook: &Arc<dyn DynAgentHook>,
        registration: &Registration,
    ) {
        install_call!(UserAgent, target, hook, registration, knows_phases: false);
    }
}

impl fmt::Debug for UserAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UserAgent")
            .field("state", &self.state)
            .field("hooks", &self.hooks)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for UserAgentBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UserAgentBuilder").field("name", &self.name).finish_non_exhaustive()
    }
}
