//! Drives a call: reads its log, writes what the agent adds to it, and waits for people.
//!
//! The commands of an invocation are the same in each run, because the log says which they are. Only
//! this file and [`run`](crate::run) use the context of the invocation, one command at a time.

use std::pin::{Pin, pin};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use futures::FutureExt;
use futures::future::{Either, select};
use hooks_agent_core::call::RunId;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::journal::{CallEnd, JournalError};
use restate_sdk::context::DurableFuture;
use restate_sdk::prelude::*;

use crate::error::{differs, newer, refused};
use crate::journal::{EngineJournal, Order};
use crate::limits::Limits;
use crate::log::{Entry, NAME, VERSION};
use crate::state::RUNNING;
use crate::verdict::SignedVerdict;

/// The signal that interrupts a call.
pub(crate) const INTERRUPT: &str = "interrupt";

/// How long an interrupt waits for an agent to come to the end of what the log has: one of another build
/// may never come to it.
const CATCH_UP: Duration = Duration::from_secs(1);

/// What a call waits for from outside.
#[derive(Debug)]
pub(crate) enum Outside {
    Decided(SignedVerdict),
    Interrupted,
}

/// What a call that is at work is woken by.
enum Wake {
    Work,
    /// It was not woken for long.
    Time,
    Interrupted,
    Cancelled,
}

pub(crate) type Awaited<'a> =
    Pin<Box<dyn DurableFuture<Output = Result<Outside, TerminalError>> + Send + 'a>>;

/// The end of a call.
pub(crate) struct Ended {
    pub(crate) end: CallEnd,
    /// Whether the engine cancelled the invocation.
    pub(crate) is_cancelled: bool,
}

/// The driver of a call.
pub(crate) struct Driver<'a, 'ctx> {
    pub(crate) ctx: &'a ObjectContext<'ctx>,
    pub(crate) journal: EngineJournal,
    pub(crate) limits: Limits,
    pub(crate) agent: &'a str,
    pub(crate) build: Option<&'a str>,
    /// How often a call that is at work says so.
    pub(crate) beat: Duration,
    pub(crate) is_cancelled: AtomicBool,
    /// How many runs the call had, with this one.
    pub(crate) runs: AtomicU32,
    /// The run id of the call, once its log is read.
    pub(crate) run: OnceLock<RunId>,
}

impl Driver<'_, '_> {
    /// Reads the log. Returns the end of the call, if it has one. If the program does not run the call,
    /// reads to the end and refuses it: an answer in the middle of the log would not be accepted.
    pub(crate) async fn read(
        &self,
        mut refusal: Option<TerminalError>,
    ) -> Result<Option<Ended>, HandlerError> {
        let (mut runs, mut last) = (0, None);
        loop {
            let is_new = AtomicBool::new(false);
            let begin = Entry::Begin {
                v: VERSION,
                agent: self.agent.to_owned(),
                build: self.build.map(str::to_owned),
                run: RunId::random(),
            };
            let Some((entry, bytes)) = self.log(begin, Some(&is_new)).await? else { continue };
            if let Entry::Begin { run, .. } = &entry {
                // That of the first run stays.
                let _ = self.run.set(*run);
            }
            if is_new.load(Ordering::Relaxed) {
                self.journal.wrote(bytes);
                return match refusal {
                    Some(refusal) => Err(self.refuse(refusal).await),
                    None if runs < self.limits.runs_without_step => Ok(None),
                    None => self.give_up(runs, last).await.map(Some),
                };
            }
            self.journal.read(&entry, bytes);
            match entry {
                Entry::Begin { v, .. } if v > VERSION => return Err(newer(v).to_string().into()),
                Entry::Begin { agent, build, .. } => {
                    runs += 1;
                    self.runs.fetch_add(1, Ordering::Relaxed);
                    if agent != self.agent {
                        refusal.get_or_insert_with(|| refused(&differs(&agent, build, self.agent)));
                    }
                }
                Entry::Steps(_) => runs = 0,
                Entry::Asked(questions) => {
                    runs = 0;
                    self.ask(&questions).await?;
                }
                Entry::Retry { error } => last = Some(error),
                Entry::Decided(_) | Entry::Beat => {}
                Entry::Refused { code, reason } => {
                    self.ctx.clear(RUNNING);
                    return Err(TerminalError::new_with_code(code, reason).into());
                }
                Entry::End(end) => {
                    let is_cancelled = self.is_cancelled.load(Ordering::Relaxed);
                    return Ok(Some(Ended { end: *end, is_cancelled }));
                }
            }
        }
    }

    /// Returns the run id of the call: the same in each run, and another one for each call of an
    /// invocation.
    pub(crate) fn run_id(&self) -> RunId {
        *self.run.get_or_init(|| RunId::named(self.ctx.invocation_id()))
    }

    /// Returns how many runs the call had, with this one.
    pub(crate) fn runs(&self) -> u32 {
        self.runs.load(Ordering::Relaxed)
    }

    /// Refuses the call, in this run and in each later one.
    async fn refuse(&self, refusal: TerminalError) -> HandlerError {
        let (code, reason) = (refusal.code(), refusal.message().to_owned());
        if let Err(error) = self.keep(Entry::Refused { code, reason }).await {
            return error;
        }
        self.ctx.clear(RUNNING);
        refusal.into()
    }

    /// Ends a call that does not come to a step.
    async fn give_up(&self, runs: usize, last: Option<String>) -> Result<Ended, HandlerError> {
        let last = last.map(|last| format!("; the last error: {last}")).unwrap_or_default();
        let reason = format!("the call completed no step in {runs} runs, it is given up{last}");
        self.end(CallEnd::new(Err(AgentError::other(reason).report()))).await
    }

    /// Writes what the agent adds, until the call is over.
    pub(crate) async fn write(&self) -> Result<Ended, HandlerError> {
        let mut outside: DurableFuturesUnordered<Awaited<'_>> = DurableFuturesUnordered::new();
        outside.push(self.interrupted());
        loop {
            if let Some(order) = self.journal.next_order() {
                match order {
                    Order::Step { key, record, bytes, kept } => {
                        let mut admitted = bytes;
                        let (mut steps, mut waiting) = (vec![(key, record)], vec![kept]);
                        while let Some(Order::Step { key, record, bytes, kept }) =
                            self.journal.next_step(admitted)
                        {
                            admitted += bytes;
                            steps.push((key, record));
                            waiting.push(kept);
                        }
                        self.keep_admitted(Entry::Steps(steps), admitted).await?;
                        for kept in waiting {
                            let _ = kept.send(());
                        }
                    }
                    Order::Ask { questions, decided } => {
                        self.keep(Entry::Asked(questions.clone())).await?;
                        self.ask(&questions).await?;
                        let _ = decided.send(());
                    }
                    Order::End { end, kept } if end.is_transient() => {
                        drop(kept);
                        let error = end.error.as_ref().map(ToString::to_string).unwrap_or_default();
                        self.keep(Entry::Retry { error: error.clone() }).await?;
                        return Err(HandlerError::from(error));
                    }
                    Order::End { end, kept } => {
                        let ended = self.end(*end).await?;
                        let _ = kept.send(());
                        return Ok(ended);
                    }
                }
                continue;
            }
            match self.wake(&mut outside).await {
                Wake::Work => {}
                Wake::Time if self.journal.is_interrupt_due() => self.journal.interrupt_now(),
                Wake::Time => self.keep(Entry::Beat).await?,
                Wake::Interrupted => self.journal.interrupt(),
                Wake::Cancelled => {
                    self.cancel();
                    // A later run meets the cancellation where it reads this entry.
                    self.keep(Entry::Beat).await?;
                }
            }
        }
    }

    /// Waits until there is something to do.
    async fn wake(&self, outside: &mut DurableFuturesUnordered<Awaited<'_>>) -> Wake {
        let time = if self.journal.is_interrupt_due() { CATCH_UP } else { self.beat };
        let (work, time) = (pin!(self.journal.changed()), pin!(tokio::time::sleep(time)));
        let work = select(work, time).map(|work| match work {
            Either::Left(_) => Wake::Work,
            Either::Right(_) => Wake::Time,
        });
        if outside.is_empty() {
            return work.await;
        }
        match select(work, pin!(outside.next())).await {
            Either::Left((wake, _)) => wake,
            Either::Right((Ok(_), _)) => Wake::Interrupted,
            Either::Right((Err(_), _)) => Wake::Cancelled,
        }
    }

    /// Writes the end of the call.
    async fn end(&self, end: CallEnd) -> Result<Ended, HandlerError> {
        self.journal.close();
        self.keep(Entry::End(Box::new(end.clone()))).await?;
        let is_cancelled = self.is_cancelled.load(Ordering::Relaxed);
        Ok(Ended { end, is_cancelled })
    }

    /// Writes an entry.
    async fn keep(&self, entry: Entry) -> Result<(), HandlerError> {
        self.keep_admitted(entry, 0).await
    }

    /// Writes an entry of which so many bytes are counted.
    async fn keep_admitted(&self, entry: Entry, admitted: usize) -> Result<(), HandlerError> {
        loop {
            // A cancellation takes the place of one entry.
            if let Some((_, bytes)) = self.log(entry.clone(), None).await? {
                self.journal.wrote(bytes.saturating_sub(admitted));
                return Ok(());
            }
        }
    }

    /// Returns the next entry of the log, or writes it: `None` if the engine cancels the invocation.
    pub(crate) async fn log(
        &self,
        entry: Entry,
        is_new: Option<&AtomicBool>,
    ) -> Result<Option<(Entry, usize)>, HandlerError> {
        let json = serde_json::to_string(&entry)?;
        let write = move || async move {
            if let Some(is_new) = is_new {
                is_new.store(true, Ordering::Relaxed);
            }
            Ok(json)
        };
        match self.ctx.run(write).name(NAME).await {
            Ok(json) => match serde_json::from_str(&json) {
                Ok(entry) => Ok(Some((entry, json.len()))),
                Err(_) => {
                    let key = "the log of the call".to_owned();
                    let reason = "an entry is not what this program knows".to_owned();
                    Err(JournalError::Unreadable { key, reason }.to_string().into())
                }
            },
            Err(_) => {
                self.cancel();
                Ok(None)
            }
        }
    }

    /// Notes that the engine cancels the invocation: the call is interrupted, and its end is kept.
    pub(crate) fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
        self.journal.interrupt();
    }
}
