//! Drives a call: reads its log, writes what the agent adds to it, and waits for people.
//!
//! The commands of an invocation are the same in each run, because the log says which they are. Only
//! this file and [`run`](crate::run) use the context of the invocation, one command at a time.

use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use futures::FutureExt;
use futures::future::{Either, select};
use hooks_agent::call::Interrupt;
use hooks_agent::error::AgentError;
use hooks_agent::journal::{CallEnd, JournalError};
use hooks_agent::store::{Verdict, Waiting};
use restate_sdk::context::{DurableFuture, RequestTarget};
use restate_sdk::prelude::*;

use crate::journal::{EngineJournal, Order};
use crate::limits::Limits;
use crate::log::{Entry, NAME, VERSION};

/// The signal that interrupts a call.
pub(crate) const INTERRUPT: &str = "interrupt";

/// The signal that decides a question.
pub(crate) fn decision_signal(question: &str) -> String {
    format!("decision/{question}")
}

/// What a call waits for from outside.
#[derive(Debug)]
enum Outside {
    Decided(Verdict),
    Expired,
    Interrupted,
}

/// What a call that is at work is woken by.
enum Wake {
    Work,
    Beat,
    Interrupted,
    Cancelled,
}

type Awaited<'a> = Pin<Box<dyn DurableFuture<Output = Result<Outside, TerminalError>> + Send + 'a>>;

/// The end of a call.
pub(crate) struct Ended {
    pub(crate) end: CallEnd,
    /// Whether an earlier run ended it.
    pub(crate) is_replayed: bool,
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
    pub(crate) interrupt: Interrupt,
    /// How often a call that is at work says so.
    pub(crate) beat: Duration,
    pub(crate) is_cancelled: AtomicBool,
    /// How many runs the call had, with this one.
    pub(crate) runs: AtomicU32,
}

impl Driver<'_, '_> {
    /// Reads the log. Returns the end of the call, if it has one.
    pub(crate) async fn read(&self) -> Result<Option<Ended>, HandlerError> {
        let mut runs = 0;
        loop {
            let is_new = AtomicBool::new(false);
            let begin = Entry::Begin {
                v: VERSION,
                agent: self.agent.to_owned(),
                build: self.build.map(str::to_owned),
            };
            let Some((entry, bytes)) = self.log(begin, Some(&is_new)).await? else { continue };
            if is_new.load(Ordering::Relaxed) {
                self.journal.wrote(bytes);
                if runs < self.limits.runs_without_step {
                    return Ok(None);
                }
                let reason = format!("the call completed no step in {runs} runs, it is given up");
                let error = AgentError::other(reason).report();
                return self.end(CallEnd::new(Err(error))).await.map(Some);
            }
            self.journal.read(&entry, bytes);
            match entry {
                Entry::Begin { v, .. } if v > VERSION => {
                    let what = "the log of the call".to_owned();
                    return Err(refused(&JournalError::Version { what, found: v, known: VERSION }));
                }
                Entry::Begin { agent, build, .. } if agent != self.agent => {
                    let build = build.map(|build| format!(" of build `{build}`"));
                    let what = format!(
                        "it is a call of agent `{agent}`{}, this program runs `{}`",
                        build.unwrap_or_default(),
                        self.agent
                    );
                    return Err(refused(&JournalError::Differs { what }));
                }
                Entry::Begin { .. } => {
                    runs += 1;
                    self.runs.fetch_add(1, Ordering::Relaxed);
                }
                Entry::Steps(_) => runs = 0,
                Entry::Asked(questions) => {
                    runs = 0;
                    self.ask(&questions).await?;
                }
                Entry::Decided(_) | Entry::Beat | Entry::Retry { .. } => {}
                Entry::End(end) => {
                    let is_cancelled = self.is_cancelled.load(Ordering::Relaxed);
                    return Ok(Some(Ended { end: *end, is_replayed: true, is_cancelled }));
                }
            }
        }
    }

    /// Returns how many runs the call had, with this one.
    pub(crate) fn runs(&self) -> u32 {
        self.runs.load(Ordering::Relaxed)
    }

    /// Writes what the agent adds, until the call is over.
    pub(crate) async fn write(&self) -> Result<Ended, HandlerError> {
        let mut outside: DurableFuturesUnordered<Awaited<'_>> = DurableFuturesUnordered::new();
        outside.push(self.interrupted());
        loop {
            if let Some(order) = self.journal.next_order() {
                match order {
                    Order::Step { key, record, kept } => {
                        let (mut steps, mut waiting) = (vec![(key, record)], vec![kept]);
                        while let Some(Order::Step { key, record, kept }) = self.journal.next_step()
                        {
                            steps.push((key, record));
                            waiting.push(kept);
                        }
                        self.keep(Entry::Steps(steps)).await?;
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
                Wake::Beat => self.keep(Entry::Beat).await?,
                Wake::Interrupted => self.interrupt.interrupt(),
                Wake::Cancelled => self.cancel(),
            }
        }
    }

    /// Waits until there is something to do.
    async fn wake(&self, outside: &mut DurableFuturesUnordered<Awaited<'_>>) -> Wake {
        let (work, beat) = (pin!(self.journal.changed()), pin!(tokio::time::sleep(self.beat)));
        let work = select(work, beat).map(|work| match work {
            Either::Left(_) => Wake::Work,
            Either::Right(_) => Wake::Beat,
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
        Ok(Ended { end, is_replayed: false, is_cancelled })
    }

    /// Writes an entry.
    async fn keep(&self, entry: Entry) -> Result<(), HandlerError> {
        loop {
            // A cancellation takes the place of one entry.
            if let Some((_, bytes)) = self.log(entry.clone(), None).await? {
                self.journal.wrote(bytes);
                return Ok(());
            }
        }
    }

    /// Returns the next entry of the log, or writes it: `None` if the engine cancels the invocation.
    async fn log(
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
                    Err(refused(&JournalError::Unreadable { key, reason }))
                }
            },
            Err(_) => {
                self.cancel();
                Ok(None)
            }
        }
    }

    /// Asks people, and waits until each question is decided, or the call is interrupted.
    async fn ask(&self, questions: &[Waiting]) -> Result<(), HandlerError> {
        let invocation = self.ctx.invocation_id().to_owned();
        let asked = crate::service::Asked { invocation, questions: questions.to_vec() };
        let desk =
            |handler: &str| RequestTarget::object(crate::service::DESK, self.ctx.key(), handler);
        let _ = self.ctx.request::<_, ()>(desk("ask"), Json(asked)).send();
        let timers: Vec<_> = questions
            .iter()
            .map(|question| question.expires_after.map(|after| self.ctx.sleep(after)))
            .collect();
        for (question, timer) in questions.iter().zip(timers) {
            let mut awaited: DurableFuturesUnordered<Awaited<'_>> = DurableFuturesUnordered::new();
            let decided = self.ctx.signal::<Json<Verdict>>(&decision_signal(&question.id));
            let decided = decided.map_ok(|Json(verdict)| Outside::Decided(verdict));
            awaited.push(Box::pin(decided));
            if let Some(timer) = timer {
                awaited.push(Box::pin(timer.map_ok(|()| Outside::Expired)));
            }
            if !self.interrupt.is_interrupted() {
                awaited.push(self.interrupted());
            }
            let outside = if self.interrupt.is_interrupted() {
                Some(Outside::Interrupted)
            } else {
                match awaited.next().await {
                    Ok(Some((_, Ok(outside)))) => Some(outside),
                    _ => None,
                }
            };
            let verdict = match outside {
                Some(Outside::Decided(verdict)) => Some(verdict),
                Some(Outside::Expired) => Some(Verdict::expired(question.id.clone())),
                Some(Outside::Interrupted) => None,
                None => {
                    self.cancel();
                    None
                }
            };
            // The log says what came first.
            let entry = loop {
                if let Some((entry, _)) = self.log(Entry::Decided(verdict.clone()), None).await? {
                    break entry;
                }
            };
            match entry {
                Entry::Decided(Some(verdict)) => self.journal.decided(verdict),
                _ => {
                    self.interrupt.interrupt();
                    break;
                }
            }
        }
        let ids: Vec<_> = questions.iter().map(|question| question.id.clone()).collect();
        let _ = self.ctx.request::<_, ()>(desk("close"), Json(ids)).send();
        Ok(())
    }

    fn interrupted(&self) -> Awaited<'_> {
        Box::pin(self.ctx.signal::<()>(INTERRUPT).map_ok(|()| Outside::Interrupted))
    }

    /// Notes that the engine cancels the invocation: the call is interrupted, and its end is kept.
    fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
        self.interrupt.interrupt();
    }
}

/// Returns the error of a call that this program does not run. It is not tried again.
pub(crate) fn refused(error: &JournalError) -> HandlerError {
    TerminalError::new_with_code(409, error.to_string()).into()
}
