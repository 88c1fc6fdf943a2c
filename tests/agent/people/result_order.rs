//! The order of the results of a batch that waited.

use std::sync::Arc;

use hooks_agent_builtin::people::HumanInTheLoop;
use hooks_agent_core::error::InputError;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::Decision;
use hooks_fixtures::Records;
use hooks_fixtures::scripted_agents::{echo, echo_tool, results, script, uses};

const IDS: [&str; 5] = ["1", "2", "3", "4", "5"];

fn five(at_once: bool) -> ReActAgent {
    let (model, _) = script([uses(IDS.map(|id| echo(id, id))), "done".into()]);
    let agent =
        ReActAgent::builder("clerk").model(model).tool(echo_tool(&Arc::new(Records::new())));
    let agent = agent.hook(HumanInTheLoop::new().ask("echo")).parallel_tools(at_once);
    agent.build().unwrap()
}

fn order(agent: &ReActAgent) -> Vec<String> {
    results(agent).into_iter().map(|(id, _)| id).collect()
}

#[tokio::test]
async fn results_after_decisions_stand_in_the_order_of_the_calls() {
    for at_once in [false, true] {
        for rejected in IDS {
            let agent = five(at_once);
            agent.call("Go").await.unwrap();
            let options =
                agent.memory().waiting().into_iter().fold(CallOptions::new(), |all, it| {
                    let is_rejected = it.call_id == rejected;
                    let decision = if is_rejected {
                        Decision::Reject("no".to_owned())
                    } else {
                        Decision::Approve
                    };
                    all.decide(it.id, decision)
                });
            assert_eq!(agent.resume(options).await.unwrap().text(), "done");
            assert_eq!(order(&agent), IDS);
        }
    }
}

#[tokio::test]
async fn results_that_a_caller_gives_stand_in_the_order_of_the_calls() {
    let stop = on(|event: &mut PostReasoning<'_>| event.stop());
    let (model, _) = script([uses(IDS.map(|id| echo(id, id))), "done".into()]);
    let agent =
        ReActAgent::builder("clerk").model(model).tool(echo_tool(&Arc::new(Records::new())));
    let agent = agent.hook(stop.named("stop")).build().unwrap();
    let reply = agent.call("Go").await.unwrap();
    agent.remove_agent_hook("stop").unwrap();
    let given = [3, 1].map(|number| reply.pending()[number].answered("given"));
    agent.call(given).await.unwrap();
    assert_eq!(order(&agent), IDS);
}

#[test]
fn a_history_with_a_message_between_a_call_and_its_result_is_refused() {
    let (one, other) = (echo("1", "a"), echo("2", "b"));
    let asks = |calls: &[&ToolUse]| {
        let calls = calls.iter().map(|call| ContentBlock::ToolUse((*call).clone()));
        Msg::from_blocks(Role::Assistant, "clerk", calls.collect())
    };
    let result = |call: &ToolUse| Msg::tool_result(ToolResult::success(call, "done"));
    let user = || Msg::user("hello");
    let late = |id: &str| Err(InputError::LateResult { id: id.to_owned() });
    let check = |messages: Vec<Msg>| InputError::check_history(&messages.into());

    assert_eq!(check(vec![asks(&[&one]), user(), result(&one)]), late("1"));
    assert_eq!(check(vec![asks(&[&one, &other]), result(&one), user(), result(&other)]), late("2"));
    // Ids come again in later rounds.
    let rounds = vec![asks(&[&one]), result(&one), user(), asks(&[&one]), result(&one), user()];
    assert_eq!(check(rounds), Ok(()));
    assert_eq!(check(vec![asks(&[&one, &other]), result(&other), result(&one)]), Ok(()));
    assert_eq!(check(vec![asks(&[&one])]), Ok(()), "the last tool calls may wait");
}
