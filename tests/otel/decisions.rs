//! Decisions of other hooks, in spans and metrics.

use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Calls;
use opentelemetry::trace::Event;

use crate::recorded::{Recorded, text};
use crate::spans::tool_then_text;

fn of(event: &Event) -> Vec<(String, String)> {
    assert_eq!(event.name, "hooks.decision");
    let attributes = event.attributes.iter();
    attributes.map(|it| (it.key.to_string(), it.value.as_str().into_owned())).collect()
}

fn decision(hook: &str, event: &str, flow: &str) -> Vec<(String, String)> {
    let of = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    vec![of("hooks.hook", hook), of("hooks.event", event), of("hooks.flow", flow)]
}

// OT-08
#[tokio::test]
async fn a_refused_tool_call_has_no_span_and_one_decision() {
    let recorded = Recorded::new();
    let guard = on(|event: &mut PreActing<'_>| event.refuse("why-secret")).named("guard");
    let agent = ReActAgent::builder("a").model(tool_then_text()).tool(Calls::new("t"));
    let agent = agent.hook(recorded.hook()).hook(guard).build().unwrap();
    agent.call("Go").await.unwrap();

    assert_eq!(recorded.tree(), "invoke_agent a\n  chat m\n  chat m\n");
    let call = recorded.span("invoke_agent a");
    let events: Vec<_> = call.events.iter().map(of).collect();
    assert_eq!(events, [decision("guard", "PRE_ACTING", "refuse")]);
    let metrics = recorded.metrics();
    let [point] = &*metrics["hooks.decisions"] else { panic!("one series is expected") };
    let labels: Vec<_> = point.labels.clone().into_iter().collect();
    let mut expected = decision("guard", "PRE_ACTING", "refuse");
    expected.sort();
    assert_eq!((labels, point.count), (expected, 1));
}

#[tokio::test]
async fn a_change_is_a_rewrite_without_its_values() {
    let recorded = Recorded::new();
    let sign = on(|event: &mut PostCall<'_>| event.final_message_mut().push_text("new-secret"));
    let look = on(|_: &mut PostCall<'_>| {});
    let agent = ReActAgent::builder("a").model(tool_then_text()).tool(Calls::new("t"));
    let agent = agent.hook(sign.named("sign")).hook(look.named("look")).hook(recorded.hook());
    agent.build().unwrap().call("Go").await.unwrap();
    let call = recorded.span("invoke_agent a");
    let events: Vec<_> = call.events.iter().map(of).collect();
    assert_eq!(events, [decision("sign", "POST_CALL", "rewrite")]);
}

#[tokio::test]
async fn a_hook_that_answers_the_call_first_has_its_span() {
    let recorded = Recorded::new();
    let answer = on(|event: &mut PreCall<'_>| event.answer(Msg::assistant("a", "closed")));
    let agent = ReActAgent::builder("a").model(tool_then_text()).hook(recorded.hook());
    let agent = agent.hook(answer.named("door")).build().unwrap();
    agent.call("Go").await.unwrap();
    let call = recorded.span("invoke_agent a");
    assert_eq!(recorded.spans().len(), 1);
    let events: Vec<_> = call.events.iter().map(of).collect();
    assert_eq!(events, [decision("door", "PRE_CALL", "answer")]);
    assert!(call.start_time <= call.events[0].timestamp);
    assert_eq!(text(&call, "hooks.reason").unwrap(), "hook_answered");
    assert_eq!(text(&call, "gen_ai.request.model"), None);
}

#[tokio::test]
async fn a_method_hook_that_answers_the_call_leaves_a_span_of_its_end() {
    let recorded = Recorded::new();
    let agent = ReActAgent::builder("a").model(tool_then_text()).hook(recorded.hook());
    let agent = agent.build().unwrap();
    agent.register_instance_hook(
        ReActAgent::PRE_REPLY,
        "door",
        hook!(ReActAgent::PRE_REPLY, |_, _| std::ops::ControlFlow::Break(Msg::assistant(
            "a", "no"
        ))),
    );
    agent.call("Go").await.unwrap();
    let call = recorded.span("invoke_agent a");
    assert_eq!(text(&call, "hooks.outcome").unwrap(), "finished");
}

#[tokio::test]
async fn a_hook_that_fails_the_call_is_a_decision_and_its_error() {
    let recorded = Recorded::new();
    let fails = on(|_: &mut PreCall<'_>| -> HookResult { Err("broken".into()) }).named("guard");
    let agent = ReActAgent::builder("a").model(tool_then_text()).hook(fails).hook(recorded.hook());
    agent.build().unwrap().call("Go").await.unwrap_err();
    let call = recorded.span("invoke_agent a");
    let events: Vec<_> = call.events.iter().map(of).collect();
    assert_eq!(events, [decision("guard", "PRE_CALL", "failed")]);
    assert_eq!(text(&call, "error.type").unwrap(), "hook");
    assert_eq!(text(&call, "hooks.outcome").unwrap(), "failed");
}
