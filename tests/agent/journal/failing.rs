//! Journals that fail.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hooks_agent_builtin::people::HumanInTheLoop;
use hooks_agent_core::call::RunId;
use hooks_agent_core::event::ErrorPhase;
use hooks_agent_core::journal::{
    CallEnd, Journal, JournalError, JournalFuture, JournalStep, MemoryJournal, StepKey, Ticket,
};
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_core::store::{Decision, ThreadKey, ThreadRecord, Verdict, Waiting};

use hooks_fixtures::journaled::{World, chain, run};

/// Where a journal fails.
#[derive(Clone, Copy, Debug, PartialEq)]
enum At {
    Step(&'static str),
    Complete(&'static str),
    Ask,
    Load,
    End,
}

/// A journal that fails once, and counts what it is asked for after that.
#[derive(Clone, Debug)]
struct Fails {
    journal: MemoryJournal,
    at: At,
    error: fn() -> JournalError,
    has_failed: Arc<AtomicUsize>,
}

impl Fails {
    fn new(journal: &MemoryJournal, at: At, error: fn() -> JournalError) -> Self {
        Self { journal: journal.again(), at, error, has_failed: Arc::default() }
    }

    fn fail(&self, at: At) -> Result<(), JournalError> {
        if at == self.at || self.has_failed.load(Ordering::Relaxed) > 0 {
            self.has_failed.fetch_add(1, Ordering::Relaxed);
            return Err((self.error)());
        }
        Ok(())
    }
}

fn of(key: &str, at: fn(&'static str) -> At) -> At {
    let known = [
        "model/1/1",
        "tool/1/call_0/1",
        "1/call_1/below/1:model/1/1",
        "1/call_1/below/1:tool/1/call_0/1",
    ];
    at(known.into_iter().find(|known| *known == key).unwrap_or_default())
}

impl Journal for Fails {
    fn step<'a>(&'a self, key: &'a StepKey) -> JournalFuture<'a, JournalStep> {
        Box::pin(async {
            self.fail(of(key.as_str(), At::Step))?;
            let JournalStep::Run(ticket) = self.journal.step(key).await? else {
                return self.journal.step(key).await;
            };
            let (this, at) = (self.clone(), of(key.as_str(), At::Complete));
            Ok(JournalStep::Run(Ticket::new(move |record| {
                Box::pin(async move {
                    this.fail(at)?;
                    ticket.complete(record).await
                })
            })))
        })
    }

    fn ask<'a>(&'a self, questions: &'a [Waiting]) -> JournalFuture<'a, Vec<Verdict>> {
        Box::pin(async {
            self.fail(At::Ask)?;
            self.journal.ask(questions).await
        })
    }

    fn is_replaying(&self) -> bool {
        self.journal.is_replaying()
    }

    fn load<'a>(&'a self, thread: &'a ThreadKey) -> JournalFuture<'a, ThreadRecord> {
        Box::pin(async {
            self.fail(At::Load)?;
            self.journal.load(thread).await
        })
    }

    fn end(&self, end: CallEnd) -> JournalFuture<'_, ()> {
        Box::pin(async {
            self.fail(At::End)?;
            self.journal.end(end).await
        })
    }
}

/// A hook that makes a reply of every error.
pub(crate) struct Recover;

impl AgentHook for Recover {
    fn events(&self) -> EventMask {
        EventKind::Error.into()
    }

    async fn on_event(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        let HookEvent::Error(event) = event else { return Ok(Flow::Continue) };
        Ok(match event.phase() {
            ErrorPhase::Acting(_) => Flow::Continue,
            _ => event.recover(Msg::assistant("above", "It is fine.")),
        })
    }

    fn inherit(&self) -> bool {
        true
    }
}

fn agent(world: &World) -> ReActAgentBuilder {
    let below = ReActAgent::builder("below").model(world.model("below", &[&["inner"]]));
    let below = below.tool(world.tool("inner")).build().unwrap();
    ReActAgent::builder("above")
        .model(world.model("above", &[&["left", "below", "right"]]))
        .tool(world.tool("left"))
        .tool(world.tool("right"))
        .tool(below.to_tool("Does a part of it."))
        .hook(HumanInTheLoop::new().ask("right"))
}

fn broken() -> JournalError {
    JournalError::Failed("the disk is gone".into())
}

fn differs() -> JournalError {
    JournalError::Differs { what: "no more than 3 steps".to_owned() }
}

#[tokio::test]
async fn a_journal_that_fails_fails_the_call_whatever_hooks_and_sub_agents_make_of_it() {
    let places = [
        At::Load,
        At::Step("model/1/1"),
        At::Complete("model/1/1"),
        At::Ask,
        At::Step("tool/1/call_0/1"),
        At::Complete("tool/1/call_0/1"),
        At::Step("1/call_1/below/1:model/1/1"),
        At::Complete("1/call_1/below/1:model/1/1"),
        At::Complete("1/call_1/below/1:tool/1/call_0/1"),
        At::End,
    ];
    let errors = [
        (broken as fn() -> JournalError, "the disk is gone", true),
        (differs, "no more than 3 steps", false),
    ];
    for (at, (error, text, is_transient)) in
        places.into_iter().flat_map(|at| errors.map(|it| (at, it)))
    {
        let (world, journal, id) = (World::default(), MemoryJournal::new(), RunId::random());
        if at != At::Ask {
            assert!(run(&agent(&world).build().unwrap(), &journal, id).await.is_err());
            journal.decide(Verdict::new(journal.questions()[0].id.clone(), Decision::Approve));
            journal.cut(0);
        }
        world.models.lock().unwrap().clear();
        let fails = Fails::new(&journal, at, error);
        let options = CallOptions::new().thread("t").run_id(id).journal(fails.clone());
        let agent_now = agent(&world).hook(Recover).build().unwrap();
        let failed = agent_now.call_with(options, "Go").await.unwrap_err();
        assert!(chain(&failed).contains(text), "{at:?}: {}", chain(&failed));
        assert_eq!(failed.is_transient(), is_transient, "{at:?}");
        // It was asked for nothing more, not for its end either.
        assert_eq!(fails.has_failed.load(Ordering::Relaxed), 1, "{at:?}");
        assert!(journal.ended().is_none(), "{at:?}");
        let effects = world.effects.lock().unwrap().len();
        assert_eq!(effects, world.effects().len(), "{at:?}: a tool ran twice in one run");
        assert!(agent_now.threads().memory("t").is_none_or(|memory| memory.is_empty()), "{at:?}");

        // The engine runs the call again.
        if at != At::Ask {
            let reply = run(&agent(&world).build().unwrap(), &journal, id).await.unwrap();
            assert_eq!((reply.text(), world.effects().len()), ("above is done.".to_owned(), 3));
        }
    }
}
