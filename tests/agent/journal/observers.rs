//! Hooks that receive each event once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures::StreamExt;
use hooks_agent_builtin::people::HumanInTheLoop;
use hooks_agent_core::call::RunId;
use hooks_agent_core::journal::{
    CallEnd, Journal, JournalFuture, JournalStep, MemoryJournal, StepKey, Ticket,
};
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{ThreadKey, ThreadRecord, Verdict, Waiting};
use hooks_agent_core::stream::AgentEventKind;
use tokio::sync::Notify;

use hooks_fixtures::journaled::{World, approve, run};

pub(crate) type Seen = Arc<Mutex<Vec<String>>>;

/// Notes the events of an agent and of those below it.
struct Notes {
    seen: Seen,
    is_once: bool,
}

impl AgentHook for Notes {
    fn name(&self) -> String {
        format!("notes {}", self.is_once)
    }

    fn inherit(&self) -> bool {
        true
    }

    fn once(&self) -> bool {
        self.is_once
    }

    fn on_event_now(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        let of = match event {
            HookEvent::PreActing(event) => event.tool_use().id.clone(),
            HookEvent::PostActing(event) => event.tool_use().id.clone(),
            _ => String::new(),
        };
        let agent = event.context().agent_name().to_owned();
        self.seen.lock().unwrap().push(format!("{agent} {} {of}", event.kind()));
        Ok(Flow::Continue)
    }

    async fn on_event(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        self.on_event_now(event)
    }
}

/// A journal whose process ends when it is to keep one step more.
#[derive(Clone, Debug)]
struct Dies {
    journal: MemoryJournal,
    left: Arc<AtomicUsize>,
    dead: Arc<Notify>,
    seen: Seen,
    /// How many events there were when the last step was kept.
    at_last: Arc<AtomicUsize>,
}

impl Journal for Dies {
    fn step<'a>(&'a self, key: &'a StepKey) -> JournalFuture<'a, JournalStep> {
        Box::pin(async {
            let JournalStep::Run(ticket) = self.journal.step(key).await? else { unreachable!() };
            let this = self.clone();
            Ok(JournalStep::Run(Ticket::new(|record| {
                Box::pin(async move {
                    if this.left.load(Ordering::Relaxed) == 0 {
                        this.dead.notify_one();
                        return std::future::pending().await;
                    }
                    this.left.fetch_sub(1, Ordering::Relaxed);
                    this.at_last.store(this.seen.lock().unwrap().len(), Ordering::Relaxed);
                    ticket.complete(record).await
                })
            })))
        })
    }

    fn ask<'a>(&'a self, questions: &'a [Waiting]) -> JournalFuture<'a, Vec<Verdict>> {
        self.journal.ask(questions)
    }

    fn is_replaying(&self) -> bool {
        false
    }

    fn load<'a>(&'a self, thread: &'a ThreadKey) -> JournalFuture<'a, ThreadRecord> {
        self.journal.load(thread)
    }

    fn end(&self, end: CallEnd) -> JournalFuture<'_, ()> {
        self.journal.end(end)
    }
}

fn sorted(mut events: Vec<String>) -> Vec<String> {
    events.sort();
    events
}

#[tokio::test]
async fn a_once_hook_misses_nothing_and_receives_nothing_again_that_was_before_the_last_record() {
    let agent = |once: &Seen, always: &Seen| {
        let notes = |seen: &Seen, is_once| Notes { seen: seen.clone(), is_once };
        World::default()
            .builder()
            .hook(notes(once, true))
            .hook(notes(always, false))
            .build()
            .unwrap()
    };
    let (whole, other) = (Seen::default(), Seen::default());
    run(&agent(&whole, &other), &MemoryJournal::new(), RunId::random()).await.unwrap();
    let whole = whole.lock().unwrap().clone();
    assert_eq!(whole, *other.lock().unwrap());
    for kept in 0..11 {
        let (once, always, id) = (Seen::default(), Seen::default(), RunId::random());
        let journal = MemoryJournal::new();
        let dies = Dies {
            journal: journal.clone(),
            left: Arc::new(kept.into()),
            dead: Arc::default(),
            seen: once.clone(),
            at_last: Arc::default(),
        };
        let options = CallOptions::new().thread("t").run_id(id).journal(dies.clone());
        let dying = agent(&once, &always);
        tokio::select! {
            _ = dying.call_with(options, "Go") => unreachable!("its process ends"),
            () = dies.dead.notified() => {}
        }
        assert_eq!(journal.keys().len(), kept);
        // What was before the last record; the end of the first run is its own.
        let at_last = dies.at_last.load(Ordering::Relaxed);
        let mut received = once.lock().unwrap()[..at_last].to_vec();
        always.lock().unwrap().clear();
        once.lock().unwrap().clear();
        run(&agent(&once, &always), &journal, id).await.unwrap();
        received.extend(once.lock().unwrap().iter().cloned());
        // A sub-agent that has ended ends again in the next run.
        let but_ends = |events: &[String]| {
            sorted(events.iter().filter(|event| !event.contains("SETTLED")).cloned().collect())
        };
        assert_eq!(but_ends(&received), but_ends(&whole), "after {kept} steps");
        // Texts that follow each other are one in the journal.
        let but_chunks = |events: &[String]| {
            let events = events.iter().filter(|event| !event.contains("CHUNK"));
            sorted(events.cloned().collect())
        };
        assert_eq!(but_chunks(&always.lock().unwrap()), but_chunks(&whole));
    }
}

#[tokio::test]
async fn the_events_of_a_stream_come_once_over_runs_that_wait_for_people() {
    let (world, journal, id) = (World::default(), MemoryJournal::new(), RunId::random());
    let (mut events, mut decided, mut runs) = (Vec::new(), 0, 0);
    loop {
        let agent = world.builder().hook(HumanInTheLoop::new().ask("right")).build().unwrap();
        let options = CallOptions::new().thread("t").run_id(id).journal(journal.again());
        let mut stream = agent.stream_with(options, "Go");
        while let Some(Ok(event)) = stream.next().await {
            events.push(event);
        }
        runs += 1;
        if journal.ended().is_some() {
            break;
        }
        approve(&journal, &mut decided);
    }
    assert_eq!(runs, 3);
    let count = |is_meant: fn(&AgentEventKind) -> bool| {
        events.iter().filter(|event| is_meant(&event.kind)).count()
    };
    assert_eq!(count(|kind| matches!(kind, AgentEventKind::Started)), 2);
    assert_eq!(count(|kind| matches!(kind, AgentEventKind::ReasoningStarted)), 6);
    assert_eq!(count(|kind| matches!(kind, AgentEventKind::Reasoned(_))), 6);
    assert_eq!(count(|kind| matches!(kind, AgentEventKind::PermissionAsked(_))), 2);
    assert_eq!(count(|kind| matches!(kind, AgentEventKind::ToolStarted(_))), 6);
    assert_eq!(count(|kind| matches!(kind, AgentEventKind::ToolFinished(_))), 6);
    assert_eq!(count(|kind| matches!(kind, AgentEventKind::Finished(_))), 2);
}
