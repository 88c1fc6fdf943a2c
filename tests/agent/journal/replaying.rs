//! Calls that replay their earlier runs.

use std::sync::{Arc, Mutex};

use hooks_agent_builtin::recover::{CircuitBreaker, CircuitState};
use hooks_agent_core::call::RunId;
use hooks_agent_core::journal::MemoryJournal;
use hooks_agent_core::model::ModelError;
use hooks_agent_core::prelude::*;
use hooks_core::hook;
use serde_json::Value;

use hooks_fixtures::journaled::{World, run};

/// Notes the events of a call, and whether they happened before.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<(EventKind, bool)>>>);

impl AgentHook for Notes {
    fn events(&self) -> EventMask {
        EventMask::of(&[
            EventKind::PreReasoning,
            EventKind::ReasoningChunk,
            EventKind::PostReasoning,
            EventKind::PreActing,
            EventKind::PostActing,
        ])
    }

    async fn on_event(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        let now = (event.kind(), event.context().is_replaying());
        let mut notes = self.0.lock().unwrap();
        // The chunks of a text are one in the journal.
        if notes.last() != Some(&now) {
            notes.push(now);
        }
        Ok(Flow::Continue)
    }
}

#[tokio::test]
async fn events_up_to_the_last_record_are_replayed_and_no_others() {
    const ROUNDS: &[&[&str]] = &[&["left"], &["right"]];
    // The events, and after which of them a step is kept.
    let reasoning = [EventKind::PreReasoning, EventKind::ReasoningChunk, EventKind::PostReasoning];
    let acting = [EventKind::PreActing, EventKind::PostActing];
    let round = || reasoning.into_iter().chain(acting);
    let events: Vec<_> = round().chain(round()).chain(reasoning).collect();
    let kept_after = [2, 4, 7, 9, 12];

    let (journal, id) = (MemoryJournal::new(), RunId::random());
    let once_more = async || {
        let (world, notes) = (World::default(), Notes::default());
        let agent = ReActAgent::builder("above").model(world.model("above", ROUNDS));
        let agent = agent.tool(world.tool("left")).tool(world.tool("right")).hook(notes.clone());
        run(&agent.build().unwrap(), &journal, id).await.unwrap();
        std::mem::take(&mut *notes.0.lock().unwrap())
    };
    for kept in [0, 5, 4, 3, 2, 1] {
        journal.cut(kept);
        let replayed = kept.checked_sub(1).map_or(0, |last| kept_after[last]);
        let number = |(number, event): (usize, &EventKind)| (*event, number < replayed);
        let expected: Vec<_> = events.iter().enumerate().map(number).collect();
        assert_eq!(once_more().await, expected, "{kept} steps were kept");
    }
}

#[tokio::test]
async fn each_attempt_of_a_tool_is_a_step_of_its_own() {
    let (world, journal, id) = (World::default(), MemoryJournal::new(), RunId::random());
    let agent = || {
        let agent = ReActAgent::builder("above").model(world.model("above", &[&["left"]]));
        let agent = agent.tool(world.tool("left")).build().unwrap();
        agent.register_instance_hook(
            ReActAgent::AROUND_ACTING,
            "twice",
            hook!(ReActAgent::AROUND_ACTING, async |_, args, next| {
                next.run(args.clone()).await?;
                next.run(args).await
            }),
        );
        agent
    };
    let first = run(&agent(), &journal, id).await.unwrap();
    let keys = ["model/1/1", "tool/1/call_0/1", "tool/1/call_0/2", "model/2/1"];
    assert_eq!(journal.keys(), keys);
    assert_eq!(world.effects.lock().unwrap().len(), 2);
    // The second attempt alone runs again.
    journal.cut(2);
    assert_eq!(run(&agent(), &journal, id).await.unwrap(), first);
    assert_eq!((journal.keys().len(), world.effects.lock().unwrap().len()), (4, 3));
}

#[tokio::test]
async fn a_record_says_whether_the_tool_ran_or_a_hook_answered() {
    struct Closed(bool);

    #[agent_hook]
    impl Closed {
        async fn answer(
            &self,
            call: ToolCall<'_>,
            next: NextTool<'_>,
        ) -> Result<ToolResult, ToolError> {
            if self.0 {
                return Ok(ToolResult::success(call.tool_use(), "closed"));
            }
            next.run(call.into_tool_use()).await
        }
    }

    for is_closed in [true, false] {
        let (world, journal) = (World::default(), MemoryJournal::new());
        let agent = ReActAgent::builder("above").model(world.model("above", &[&["left"]]));
        let agent = agent.tool(world.tool("left")).hook(Closed(is_closed)).build().unwrap();
        run(&agent, &journal, RunId::random()).await.unwrap();
        let record = serde_json::to_value(journal.record("tool/1/call_0/1").unwrap()).unwrap();
        let answered = record.get("answered").cloned();
        assert_eq!(answered, is_closed.then_some(Value::Bool(true)), "{record}");
        assert_eq!(world.effects().is_empty(), is_closed);
    }
}

#[tokio::test]
async fn of_two_tools_at_once_each_knows_whether_its_own_result_was_recorded() {
    struct Note(Arc<Mutex<Vec<(String, bool)>>>);

    #[agent_hook]
    impl Note {
        async fn note(
            &self,
            call: ToolCall<'_>,
            next: NextTool<'_>,
        ) -> Result<ToolResult, ToolError> {
            let replays = call.context().is_replaying();
            self.0.lock().unwrap().push((call.tool_use().name.clone(), replays));
            next.run(call.into_tool_use()).await
        }
    }

    let (journal, id) = (MemoryJournal::new(), RunId::random());
    for (kept, [left, right]) in [(0, [false, false]), (2, [true, false]), (3, [true, true])] {
        journal.cut(kept);
        let (world, notes) = (World::default(), Arc::<Mutex<Vec<_>>>::default());
        let agent = ReActAgent::builder("above").model(world.model("above", &[&["left", "right"]]));
        let agent = agent.tool(world.tool("left")).tool(world.tool("right")).parallel_tools(true);
        run(&agent.hook(Note(notes.clone())).build().unwrap(), &journal, id).await.unwrap();
        let mut notes = std::mem::take(&mut *notes.lock().unwrap());
        notes.sort();
        let expected = [("left".to_owned(), left), ("right".to_owned(), right)];
        assert_eq!(notes, expected, "{kept} steps were kept");
    }
}

#[tokio::test]
async fn an_open_circuit_lets_recorded_answers_pass_and_learns_nothing_from_them() {
    let (world, journal, id) = (World::default(), MemoryJournal::new(), RunId::random());
    let breaker = CircuitBreaker::for_model("above").failures(1);
    let agent = || {
        let agent = ReActAgent::builder("above").model(world.model("above", &[&["left"]]));
        agent.tool(world.tool("left")).hook(breaker.clone()).build().unwrap()
    };
    let first = run(&agent(), &journal, id).await.unwrap();
    let busy = ScriptedModel::new("above", |_| ModelError::status("above", 503));
    let failing = ReActAgent::builder("busy").model(busy).hook(breaker.clone()).build().unwrap();
    failing.call("Go").await.unwrap_err();
    assert_eq!(breaker.state(), CircuitState::Open);
    // All but the end.
    journal.cut(3);
    assert_eq!(run(&agent(), &journal, id).await.unwrap(), first);
    assert_eq!(breaker.state(), CircuitState::Open);
    // The second answer is not recorded.
    journal.cut(2);
    let error = run(&agent(), &journal, id).await.unwrap_err();
    assert!(hooks_fixtures::journaled::chain(&error).contains("circuit"), "{error:?}");
}
