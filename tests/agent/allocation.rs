//! What a turn allocates. It has a process of its own: the allocations are those of its thread.

use allocation_counter::AllocationInfo;
use futures::executor::block_on;
use hooks_agent_core::prelude::*;
use hooks_fixtures::scripted_agents::Immediate;
use serde_json::Value;

/// An agent whose thread has this many messages, with these hooks.
fn agent(messages: usize, hooks: usize) -> ReActAgent {
    let look = FunctionTool::new("look", "Looks.", async |_: Value| "nothing to see");
    let mut builder = ReActAgent::builder("bot").model(Immediate).tool(look);
    for _ in 0..hooks {
        builder = builder.hook(on(|event: &mut PostCall<'_>| {
            assert_eq!(event.final_message().content.len(), 1);
        }));
    }
    let agent = builder.build().unwrap();
    for number in 0..messages {
        let said = Msg::user("hi");
        let answered = Msg::assistant("bot", "done");
        agent.memory().add(if number % 2 == 0 { said } else { answered });
    }
    agent
}

/// What a question, a tool call and an answer allocate, once the agent is warm.
fn turn(agent: &ReActAgent) -> AllocationInfo {
    let call = || drop(block_on(agent.call(Msg::user("hi"))).unwrap());
    call();
    allocation_counter::measure(call)
}

#[test]
fn a_turn_allocates_at_most_48_times_and_16_kb() {
    // The features of other crates change the sizes of some types.
    let AllocationInfo { count_total, bytes_total, .. } = turn(&agent(0, 0));
    assert!(count_total <= 48 && bytes_total <= 16_000, "{count_total} times, {bytes_total} bytes");
}

#[test]
fn ten_sync_hooks_at_the_end_of_a_call_allocate_at_most_what_one_does() {
    let (one, ten) = (turn(&agent(0, 1)), turn(&agent(0, 10)));
    assert_eq!((ten.count_total, ten.bytes_total), (one.count_total, one.bytes_total));
}

#[test]
fn a_turn_allocates_the_same_whatever_was_said_before() {
    let (short, long) = (turn(&agent(100, 0)), turn(&agent(10_000, 0)));
    assert_eq!((long.count_total, long.bytes_total), (short.count_total, short.bytes_total));
}

/// Wants every event and waits for nothing.
struct Looks;

impl AgentHook for Looks {
    fn sync_events(&self) -> EventMask {
        EventMask::ALL
    }

    fn on_event_now(&self, _: &mut HookEvent<'_>) -> HookResult<Flow> {
        Ok(Flow::Continue)
    }
}

#[test]
fn a_turn_with_a_hook_in_shadow_copies_no_message_list() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let turn = |messages| {
        let shadow = Looks.in_shadow();
        let agent = agent(messages, 0);
        agent.register_agent_hook(shadow.clone());
        let call = || drop(runtime.block_on(agent.call(Msg::user("hi"))).unwrap());
        call();
        runtime.block_on(shadow.caught_up());
        let counted = allocation_counter::measure(call);
        runtime.block_on(shadow.caught_up());
        assert_eq!(shadow.counts().dropped, 0);
        counted.bytes_total
    };
    // A list of 10,000 messages has 80 kB.
    let (short, long) = (turn(0), turn(10_000));
    assert!(long < short + 40_000, "{long} bytes, {short} on a new thread");
}
