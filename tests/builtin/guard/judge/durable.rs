//! A call that runs again does not ask about what it replays.

use std::sync::Arc;

use hooks_agent_builtin::guard::Judge;
use hooks_agent_core::call::RunId;
use hooks_agent_core::journal::MemoryJournal;
use hooks_agent_core::prelude::*;
use hooks_fixtures::Records;
use hooks_fixtures::journaled::{World, results, run};

use crate::judge::GOOD;

/// Runs a call once more, with a judge of everything. Returns its reply, and what the judge was asked.
async fn judged(world: &World, journal: &MemoryJournal, id: RunId) -> (String, Vec<String>) {
    let asked = Arc::new(Records::new());
    let noted = asked.clone();
    let small = ScriptedModel::new("small", move |request| {
        noted.push(request.last_text());
        GOOD
    });
    let judge = Judge::new(small, "Be good.").input().tool_calls().answers();
    let agent = world.builder().hook(judge).build().unwrap();
    let reply = run(&agent, journal, id).await.unwrap();
    (reply.text(), asked.take())
}

#[tokio::test]
async fn wherever_a_process_ends_the_next_asks_only_about_what_follows() {
    let (world, journal, id) = (World::default(), MemoryJournal::new(), RunId::random());
    let (reply, all) = judged(&world, &journal, id).await;
    let effects = world.effects();
    let read = results(&journal);
    // The input and the answer of two agents, and six tool calls.
    assert_eq!(all.len(), 10, "{all:#?}");
    let steps = journal.keys().len();
    let mut before = all.len();
    for kept in 0..=steps {
        let journal = journal.again();
        journal.cut(kept);
        let (again, asked) = judged(&world, &journal, id).await;
        assert_eq!((again, results(&journal)), (reply.clone(), read.clone()));
        assert!(asked.len() <= before, "{kept}: {asked:#?}");
        before = asked.len();
    }
    assert_eq!(before, 0);
    assert_eq!(world.effects(), effects);
}
