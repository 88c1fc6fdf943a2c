//! State that hooks keep in the process, beside a journal that outlives it.

use hooks_agent_builtin::guard::{PiiDetection, Vault, VaultKey};
use hooks_agent_core::call::RunId;
use hooks_agent_core::journal::{
    CallEnd, Journal, JournalFuture, JournalStep, MemoryJournal, StepKey,
};
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{ThreadKey, ThreadRecord, Verdict, Waiting};
use hooks_fixtures::Reports;
use tracing::Level;

/// A journal that another process may read.
#[derive(Debug)]
struct Outlives(MemoryJournal);

impl Journal for Outlives {
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
        self.0.end(end)
    }
}

#[tokio::test]
async fn a_vault_whose_key_ends_with_the_process_is_reported_once_beside_a_journal_that_does_not() {
    let (reports, records) = Reports::up_to(Level::WARN);
    let _reporting = tracing::subscriber::set_default(reports);
    let agent = |vault: Vault| {
        let model = ScriptedModel::new("fixed", |_| "done");
        let hook = PiiDetection::email().vault(vault);
        ReActAgent::builder("clerk").model(model).hook(hook).build().unwrap()
    };
    let options = || CallOptions::new().run_id(RunId::random());
    let (lost, kept) = (agent(Vault::new()), agent(Vault::stored(VaultKey::new("a", [7; 32]))));
    kept.call_with(options().journal(Outlives(MemoryJournal::new())), "Go").await.unwrap();
    lost.call_with(options().journal(MemoryJournal::new()), "Go").await.unwrap();
    lost.call_with(options(), "Go").await.unwrap();
    assert_eq!(records.take(), [""; 0]);
    for _ in 0..2 {
        lost.call_with(options().journal(Outlives(MemoryJournal::new())), "Go").await.unwrap();
    }
    let [warning] = &records.take()[..] else { panic!("one warning") };
    for part in ["WARN", "agent=\"clerk\"", "hook=\"PiiDetection[email]\"", "use `Vault::stored`"] {
        assert!(warning.contains(part), "{warning}");
    }
}
