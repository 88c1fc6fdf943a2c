//! Runs a call of an agent inside of a virtual object.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use futures::future::{Either, select};
use futures::{FutureExt, StreamExt};
use hooks_agent_core::agent::{Agent, AgentExt};
use hooks_agent_core::call::CallOptions;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::journal::CallEnd;
use hooks_agent_core::message::{Messages, Msg};
use restate_sdk::prelude::*;

use crate::driver::{Driver, Ended};
use crate::error::{failed, panicked, refused};
use crate::event::RunEvent;
use crate::history::History;
use crate::journal::{EngineJournal, Order};
use crate::limits::Limits;
use crate::state::{HISTORY, RUNNING};

type OnEvent = Arc<dyn Fn(RunEvent) + Send + Sync>;

/// Runs a call of an agent inside of a virtual object, with the default options of [`Run`]: the key of
/// the object is the id of the thread.
///
/// # Errors
/// Those of [`Run::call`].
pub async fn run<A: Agent + ?Sized>(
    ctx: &ObjectContext<'_>,
    agent: &A,
    messages: impl Into<Messages>,
) -> Result<Msg, HandlerError> {
    Run::new().call(ctx, agent, messages).await
}

/// How a call of an agent runs inside of a virtual object.
#[derive(Clone, Default)]
#[must_use]
pub struct Run {
    options: CallOptions,
    thread: Option<Arc<str>>,
    limits: Limits,
    build: Option<String>,
    beat: Option<Duration>,
    on_event: Option<OnEvent>,
    on_end: Option<Arc<dyn Fn() + Send + Sync>>,
}

impl Run {
    /// Creates the default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the options of the call. The run id, the interrupt and the journal are those of the engine.
    pub fn options(self, options: CallOptions) -> Self {
        Self { options, ..self }
    }

    /// Sets the id of the thread; without it, it is the key of the object.
    pub fn thread(self, id: impl Into<Arc<str>>) -> Self {
        Self { thread: Some(id.into()), ..self }
    }

    /// Sets how much the call may keep in the engine.
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Names the build of the program, for the error of a call that another build cannot end.
    pub fn build(self, name: impl Into<String>) -> Self {
        Self { build: Some(name.into()), ..self }
    }

    /// Sets how often a call that is at work writes an entry, so that the engine does not take it for idle.
    /// It has to be less than the inactivity timeout of the handler. Default: 20 s, for the 60 s of the
    /// engine.
    pub fn beat(self, every: Duration) -> Self {
        Self { beat: Some(every), ..self }
    }

    /// Receives the events of the call while it runs: of each step once, and again of the step that was
    /// open when the process of an earlier run ended. It is called on the task of the call, and must
    /// not wait.
    pub fn on_event(self, on_event: impl Fn(RunEvent) + Send + Sync + 'static) -> Self {
        Self { on_event: Some(Arc::new(on_event)), ..self }
    }

    /// Is told when the call is over, and not only this run of it.
    pub(crate) fn on_end(self, on_end: impl Fn() + Send + Sync + 'static) -> Self {
        Self { on_end: Some(Arc::new(on_end)), ..self }
    }

    /// Runs a call of an agent.
    ///
    /// The call ends once, whatever happens to the process: a model call and a tool whose result is in the
    /// journal do not run again. The questions of the call wait for people, with the invocation
    /// suspended. The thread is in the state of the object, unless the agent has a store outside of the
    /// process.
    ///
    /// # Errors
    /// An error that is [transient](AgentError::is_transient) is returned for the engine to retry, and so
    /// is a log of a later version: a program of that version can go on with it. Every other error is
    /// terminal: the message of the call, with status 500; 409 if the invocation was cancelled, or if
    /// another agent began the call, or if the history cannot be read. A panic of the agent is terminal.
    ///
    /// # Cancellation
    /// A cancelled invocation interrupts the agent, keeps what it came to, and ends with a terminal error.
    /// If the process ends before that, the next run comes to the end of what is recorded, and starts
    /// nothing more.
    pub async fn call<A: Agent + ?Sized>(
        &self,
        ctx: &ObjectContext<'_>,
        agent: &A,
        messages: impl Into<Messages>,
    ) -> Result<Msg, HandlerError> {
        let (journal, refusal) = self.journal(ctx).await?;
        ctx.set(RUNNING, ctx.invocation_id().to_owned());
        let driver = self.driver(ctx, agent.name(), &journal);
        let (ended, written) = match driver.read(refusal).await? {
            Some(ended) => {
                let written = ended.end.write_stored(agent).await;
                (ended, written)
            }
            None => {
                let thread = self.thread.clone().unwrap_or_else(|| ctx.key().into());
                let options = self.options.clone().thread(thread).interrupt(journal.interrupter());
                let options = options.run_id(driver.run_id());
                let call = self.run_agent(agent, &journal, options, messages.into(), driver.runs());
                drive(&driver, call).await?
            }
        };
        // An error that may pass is one of this run alone.
        if let Err(error) = &written
            && error.is_transient()
        {
            return Err(failed(error));
        }
        if let Some(on_end) = &self.on_end {
            on_end();
        }
        if let Err(error) = written {
            ctx.clear(RUNNING);
            return Err(failed(&error));
        }
        finish(ctx, &journal, ended)
    }

    /// Refuses the call of an agent that this program does not have, also if another program began it.
    pub(crate) async fn refuse(
        &self,
        ctx: &ObjectContext<'_>,
        agent: &str,
        refusal: TerminalError,
    ) -> HandlerError {
        let journal = match self.journal(ctx).await {
            Ok((journal, _)) => journal,
            Err(error) => return error.into(),
        };
        ctx.set(RUNNING, ctx.invocation_id().to_owned());
        let read = self.driver(ctx, agent, &journal).read(Some(refusal.clone())).await;
        match read.map(|ended| ended.map(|ended| finish(ctx, &journal, ended))) {
            Err(error) | Ok(Some(Err(error))) => error,
            Ok(_) => refusal.into(),
        }
    }

    /// Creates the journal of a call from the state of the object, with the reason to refuse the call if
    /// the state cannot be read.
    async fn journal(
        &self,
        ctx: &ObjectContext<'_>,
    ) -> Result<(EngineJournal, Option<TerminalError>), TerminalError> {
        let state: Option<Bytes> = ctx.get::<Vec<u8>>(HISTORY).await?.map(Into::into);
        let (history, refusal) = match History::read(state.as_deref()) {
            Ok(history) => (history, None),
            Err(error) => (History::default(), Some(refused(&error))),
        };
        Ok((EngineJournal::new(history, self.limits), refusal))
    }

    fn driver<'a, 'ctx>(
        &'a self,
        ctx: &'a ObjectContext<'ctx>,
        agent: &'a str,
        journal: &EngineJournal,
    ) -> Driver<'a, 'ctx> {
        Driver {
            ctx,
            journal: journal.clone(),
            limits: self.limits,
            agent,
            build: self.build.as_deref(),
            beat: self.beat.unwrap_or(Duration::from_secs(20)),
            is_cancelled: AtomicBool::new(false),
            runs: AtomicU32::new(1),
            run: OnceLock::new(),
        }
    }

    /// Runs the agent, and makes sure that the call has an end.
    async fn run_agent<A: Agent + ?Sized>(
        &self,
        agent: &A,
        journal: &EngineJournal,
        options: CallOptions,
        messages: Messages,
        run: u32,
    ) -> Result<(), AgentError> {
        let options = options.journal(journal.clone());
        let call = async {
            let Some(on_event) = &self.on_event else {
                return agent.call_with(options, messages).await.map(drop);
            };
            let mut events = agent.stream_with(options, messages);
            while let Some(event) = events.next().await {
                on_event(RunEvent { run, event: event? });
            }
            Ok(())
        };
        let ended = AssertUnwindSafe(call).catch_unwind().await;
        let ended = ended.unwrap_or_else(|panic| Err(panicked(&*panic)));
        let Err(error) = ended else { return Ok(()) };
        if !journal.is_closed() {
            // The call has no end yet.
            let (kept, is_kept) = tokio::sync::oneshot::channel();
            let end = Box::new(CallEnd::new(Err(error.report())));
            journal.order(Order::End { end, kept });
            let _ = is_kept.await;
        }
        Err(error)
    }
}

/// Drives a call to its end, and lets the agent come to its own. Returns with it whether what the call
/// adds to stores is written.
async fn drive(
    driver: &Driver<'_, '_>,
    call: impl Future<Output = Result<(), AgentError>>,
) -> Result<(Ended, Result<(), AgentError>), HandlerError> {
    let (mut call, mut write) = (pin!(call), pin!(driver.write()));
    // What the log says of an interrupt comes before the first step of the agent.
    match select(write.as_mut(), call.as_mut()).await {
        Either::Right((_, _)) => Ok((write.await?, Ok(()))),
        Either::Left((Ok(ended), _)) => {
            // A call that has its reply fails only if it cannot write it.
            let written = call.await.or_else(|error| match ended.end.error {
                None => Err(error),
                Some(_) => Ok(()),
            });
            Ok((ended, written))
        }
        Either::Left((Err(error), _)) => Err(error),
    }
}

/// Writes the history of a call that is over, and returns its reply.
fn finish(
    ctx: &ObjectContext<'_>,
    journal: &EngineJournal,
    ended: Ended,
) -> Result<Msg, HandlerError> {
    let Ended { end, is_cancelled, .. } = ended;
    if !end.threads.is_empty() {
        let mut history = journal.history().clone();
        history.apply(&end.threads);
        let bytes = history.write().map_err(|error| refused(&error))?;
        ctx.set(HISTORY, bytes.to_vec());
    }
    ctx.clear(RUNNING);
    if is_cancelled {
        return Err(TerminalError::new_with_code(409, "the call was cancelled").into());
    }
    end.into_reply().map_err(|error| failed(&error))
}

impl std::fmt::Debug for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run")
            .field("options", &self.options)
            .field("limits", &self.limits)
            .field("build", &self.build)
            .finish_non_exhaustive()
    }
}
