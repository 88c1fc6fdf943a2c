//! Threads of a call with a journal, also in stores.

use std::sync::Arc;

use hooks_agent_builtin::limit::ModelCallLimit;
use hooks_agent_core::call::RunId;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::journal::{
    CallEnd, Journal, JournalFuture, JournalStep, MemoryJournal, StepKey,
};
use hooks_agent_core::message::GenerateReason;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{
    Filter, HistoryRow, Store, StoreError, ThreadKey, ThreadRecord, Verdict, Waiting,
};
use hooks_agent_sql::store::SqliteStore;
use tokio::sync::Notify;

use hooks_fixtures::journaled::{World, run};

/// A journal of the next call on the threads of another one.
fn next(before: &MemoryJournal, records: &mut Vec<(ThreadKey, ThreadRecord)>) -> MemoryJournal {
    for (key, step) in &before.ended().unwrap().threads {
        match records.iter_mut().find(|(known, _)| known == key) {
            Some((_, record)) => record.apply(step),
            None => {
                let mut record = ThreadRecord::default();
                record.apply(step);
                records.push((key.clone(), record));
            }
        }
    }
    let journal = MemoryJournal::new();
    for (key, record) in records {
        // An engine keeps records as JSON.
        let json = serde_json::to_string(record).unwrap();
        journal.set_thread(key.clone(), serde_json::from_str(&json).unwrap());
    }
    journal
}

fn key(agent: &str) -> ThreadKey {
    ThreadKey::new(agent, "t").unwrap()
}

/// A journal whose end is kept, before the process ends.
#[derive(Debug)]
struct EndsThere(MemoryJournal, Arc<Notify>);

impl Journal for EndsThere {
    fn step<'a>(&'a self, key: &'a StepKey) -> JournalFuture<'a, JournalStep> {
        self.0.step(key)
    }

    fn ask<'a>(&'a self, questions: &'a [Waiting]) -> JournalFuture<'a, Vec<Verdict>> {
        self.0.ask(questions)
    }

    fn is_replaying(&self) -> bool {
        self.0.is_replaying()
    }

    fn load<'a>(&'a self, thread: &'a ThreadKey) -> JournalFuture<'a, ThreadRecord> {
        self.0.load(thread)
    }

    fn end(&self, end: CallEnd) -> JournalFuture<'_, ()> {
        Box::pin(async {
            self.0.end(end).await?;
            self.1.notify_one();
            std::future::pending().await
        })
    }
}

#[tokio::test]
async fn the_next_call_sees_the_history_of_the_agent_and_of_its_sub_agents() {
    let (world, mut records) = (World::default(), Vec::new());
    let agent = world.agent();
    let mut journal = MemoryJournal::new();
    for number in 1..=3 {
        let reply = run(&agent, &journal, RunId::random()).await.unwrap();
        assert_eq!(reply.text(), "above is done.");
        journal = next(&journal, &mut records);
        assert_eq!(records.len(), 2);
        for (key, record) in &records {
            assert_eq!(record.version, number, "{key}");
            let users = record.messages.iter().filter(|row| row.msg.role == Role::User);
            assert_eq!(u64::try_from(users.count()).unwrap(), number, "{key}");
            let seqs: Vec<_> = record.messages.iter().map(|row| row.seq).collect();
            assert_eq!(seqs, (0..record.next).collect::<Vec<_>>(), "{key}");
        }
        // Nothing of it is in the process.
        assert!(agent.threads().memory("t").is_none_or(|memory| memory.is_empty()));
    }
    // A call without a journal begins from nothing.
    agent.call_with(CallOptions::new().thread("t"), "Go").await.unwrap();
    let users = agent.threads().memory("t").unwrap().messages();
    assert_eq!(users.iter().filter(|msg| msg.role == Role::User).count(), 1);
}

#[tokio::test]
async fn values_of_hooks_are_part_of_the_thread() {
    let (world, mut records) = (World::default(), Vec::new());
    let limit = ModelCallLimit::builder().thread(6).build().unwrap();
    let agent = world.builder().hook(limit).build().unwrap();
    let first = MemoryJournal::new();
    let reply = run(&agent, &first, RunId::random()).await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::ModelStop));
    let second = next(&first, &mut records);
    let reply = run(&agent, &second, RunId::random()).await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::LimitReached));
    assert_eq!(world.models().iter().filter(|model| model.starts_with("above")).count(), 6);
}

async fn store(folder: &tempfile::TempDir) -> SqliteStore {
    SqliteStore::open(folder.path().join("agents.db")).await.unwrap()
}

/// An agent whose threads are in a store, and whose sub-agent's are not.
fn stored(world: &World, store: &SqliteStore) -> ReActAgent {
    world.builder().store(store.clone()).build().unwrap()
}

async fn texts(store: &SqliteStore) -> Vec<HistoryRow> {
    store.history(&key("above")).await.unwrap()
}

#[tokio::test]
async fn a_stored_thread_is_written_once_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let (world, journal, id) = (World::default(), MemoryJournal::new(), RunId::random());
    let store = store(&folder).await;
    let agent = stored(&world, &store);
    run(&agent, &journal, id).await.unwrap();
    let end = journal.ended().unwrap();
    assert_eq!((end.stored.len(), end.threads.len()), (1, 1));
    assert_eq!((end.stored[0].0.clone(), end.threads[0].0.clone()), (key("above"), key("below")));
    let rows = texts(&store).await;
    assert_eq!(rows.len(), end.stored[0].1.messages.len());
    // An engine that does not know whether it was written writes it again.
    for _ in 0..2 {
        end.write_stored(&agent).await.unwrap();
        assert_eq!(texts(&store).await, rows);
    }
    // A call without a journal goes on there.
    agent.call_with(CallOptions::new().thread("t"), "Go").await.unwrap();
    assert_eq!(texts(&store).await.len(), rows.len() * 2);
}

/// Runs a call whose process ends between the end in the journal and the store.
async fn cut_at_the_end(world: &World, store: &SqliteStore) -> CallEnd {
    let (journal, ended) = (MemoryJournal::new(), Arc::new(Notify::new()));
    let agent = stored(world, store);
    let options = CallOptions::new().thread("t").journal(EndsThere(journal.clone(), ended.clone()));
    tokio::select! {
        _ = agent.call_with(options, "Go") => unreachable!("its end waits"),
        () = ended.notified() => {}
    }
    journal.ended().unwrap()
}

#[tokio::test]
async fn a_thread_keeps_its_user_in_a_journal_and_in_a_store() {
    let folder = tempfile::tempdir().unwrap();
    let (world, store, mut records) = (World::default(), store(&folder).await, Vec::new());
    let of = |user: &'static str, journal: &MemoryJournal| {
        CallOptions::new().thread("t").user(user).journal(journal.again())
    };
    let first = MemoryJournal::new();
    world.agent().call_with(of("bob", &first), "Go").await.unwrap();
    let second = next(&first, &mut records);
    assert!(records.iter().all(|(_, record)| record.user.as_deref() == Some("bob")));
    let refused = world.agent().call_with(of("eve", &second), "Go").await.unwrap_err();
    assert!(matches!(refused, AgentError::Store(StoreError::OtherUser { .. })), "{refused:?}");

    let agent = stored(&world, &store);
    agent.call_with(of("bob", &MemoryJournal::new()), "Go").await.unwrap();
    assert_eq!(store.threads(Filter::all().user("bob")).await.unwrap().len(), 1);
    let refused = agent.call_with(of("eve", &MemoryJournal::new()), "Go").await.unwrap_err();
    assert!(matches!(refused, AgentError::Store(StoreError::OtherUser { .. })), "{refused:?}");
    assert_eq!(store.threads(Filter::all().user("bob")).await.unwrap().len(), 1);
}

#[tokio::test]
async fn what_a_process_did_not_write_is_written_by_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    let (world, store) = (World::default(), store(&folder).await);
    let end = cut_at_the_end(&world, &store).await;
    assert_eq!(texts(&store).await.len(), 0);
    let json = serde_json::to_string(&end).unwrap();
    let end: CallEnd = serde_json::from_str(&json).unwrap();
    let agent = stored(&world, &store);
    for _ in 0..2 {
        end.write_stored(&agent).await.unwrap();
        assert_eq!(texts(&store).await.len(), end.stored[0].1.messages.len());
    }
    assert_eq!(end.into_reply().unwrap().text(), "above is done.");
}

#[tokio::test]
async fn a_thread_that_another_writer_has_changed_is_a_conflict_and_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let (world, store) = (World::default(), store(&folder).await);
    let end = cut_at_the_end(&world, &store).await;
    let agent = stored(&world, &store);
    // One step of another writer, which has the number that the call would have had.
    let cx = agent.context(CallOptions::new().thread("t"));
    agent.observe(cx, Msg::user("Meanwhile")).await.unwrap();
    let rows = texts(&store).await;
    for _ in 0..2 {
        let error = end.write_stored(&agent).await.unwrap_err();
        let AgentError::Store(StoreError::Conflict { thread, expected, found }) = error else {
            panic!("{error:?}")
        };
        assert_eq!((thread, expected, found), (key("above"), 0, 1));
        assert_eq!(texts(&store).await, rows);
    }
    // Nothing holds the thread.
    agent.call_with(CallOptions::new().thread("t"), "Go").await.unwrap();
}

#[tokio::test]
async fn a_call_that_waits_for_people_writes_nothing_to_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let (world, store) = (World::default(), store(&folder).await);
    let (journal, id) = (MemoryJournal::new(), RunId::random());
    let agent = || {
        let ask = on(|event: &mut PreActing<'_>| match &*event.tool_use().name {
            "right" => event.ask("may it?"),
            _ => Flow::Continue,
        });
        world.builder().store(store.clone()).hook(ask).build().unwrap()
    };
    while let Err(error) = run(&agent(), &journal, id).await {
        assert!(error.is_transient() && journal.ended().is_none(), "{error:?}");
        assert_eq!(texts(&store).await.len(), 0);
        let question = journal.questions().last().unwrap().id.clone();
        journal.decide(Verdict::new(question, hooks_agent_core::store::Decision::Approve));
    }
    assert_eq!(journal.questions().len(), 2);
    assert_eq!(texts(&store).await.len(), journal.ended().unwrap().stored[0].1.messages.len());
    assert_eq!(world.effects.lock().unwrap().len(), 5);
}
