//! A call that is cut off after any of its steps.

use hooks_agent_core::call::RunId;
use hooks_agent_core::journal::MemoryJournal;
use hooks_agent_core::prelude::*;

use hooks_fixtures::journaled::World;

const KEYS: [&str; 10] = [
    "model/1/1",
    "tool/1/call_0/1",
    "tool/1/call_1/1",
    "model/2/1",
    "tool/2/call_1/1",
    "2/call_0/below/1:model/1/1",
    "2/call_0/below/1:tool/1/call_0/1",
    "2/call_0/below/1:model/2/1",
    "model/3/1",
    "tool/3/call_0/1",
];

async fn call(world: &World, journal: &MemoryJournal, run: RunId) -> Msg {
    // A new process: nothing is left of the agent of the run before.
    let agent = world.agent();
    let options = CallOptions::new().thread("t").run_id(run).journal(journal.again());
    agent.call_with(options, "Go").await.unwrap()
}

#[tokio::test]
async fn steps_are_named_by_round_and_tool_call() {
    let (world, journal) = (World::default(), MemoryJournal::new());
    let reply = call(&world, &journal, RunId::random()).await;
    assert_eq!(reply.text(), "above is done.");
    let mut keys = journal.keys();
    let mut expected: Vec<_> = KEYS.into_iter().chain(["model/4/1"]).collect();
    keys.sort();
    expected.sort_unstable();
    assert_eq!(keys, expected);
}

#[tokio::test]
async fn a_step_that_is_recorded_does_not_run_again_wherever_the_call_is_cut() {
    let (world, journal, run) = (World::default(), MemoryJournal::new(), RunId::random());
    let reply = call(&world, &journal, run).await;
    let (models, effects) = (world.models(), world.effects());
    let threads = serde_json::to_value(journal.ended().unwrap()).unwrap();
    let steps = journal.keys().len();
    for kept in 0..=steps {
        let again = World { effects: world.effects.clone(), ..World::default() };
        journal.cut(kept);
        let recorded = journal.keys();
        let models_kept = recorded.iter().filter(|key| key.contains("model/")).count();
        assert_eq!(call(&again, &journal, run).await, reply, "cut after {kept} steps");
        assert_eq!(again.models().len(), models.len() - models_kept, "cut after {kept} steps");
        // The effects of a step that runs again have the same idempotency key.
        assert_eq!(again.effects(), effects, "cut after {kept} steps");
        let ended = serde_json::to_value(journal.ended().unwrap()).unwrap();
        assert_eq!(ended["threads"], threads["threads"], "cut after {kept} steps");
    }
}

#[tokio::test]
async fn a_dropped_call_leaves_its_open_step_open() {
    let (world, journal, run) = (World::default(), MemoryJournal::new(), RunId::random());
    let gate = FunctionTool::new("left", "Never ends.", async |_: serde_json::Value| -> &str {
        std::future::pending().await
    });
    let agent = ReActAgent::builder("above").model(world.model("above", &[&["left"]]));
    let agent = agent.tool(gate).build().unwrap();
    let options = CallOptions::new().run_id(run).journal(journal.again());
    let mut call = Box::pin(agent.call_with(options, "Go"));
    assert!(futures::poll!(&mut call).is_pending());
    drop(call);
    assert_eq!(journal.keys(), ["model/1/1"]);
    assert!(journal.ended().is_none());
}
