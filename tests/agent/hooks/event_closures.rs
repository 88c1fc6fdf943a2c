//! Closures of one event as event hooks.

use std::sync::Arc;

use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::event::{
    ActingChunk, ErrorEvent, EventKind, Flow, PostActing, PostCall, PostReasoning, PostSummary,
    PreActing, PreCall, PreReasoning, PreSummary, ReasoningChunk, Settled, SummaryChunk,
};
use hooks_agent_core::hook::{AgentHook, AgentHookExt, on, priority};
use hooks_agent_core::model::ModelError;
use hooks_agent_core::on;
use hooks_agent_core::react::ReActAgent;
use hooks_core::HookResult;
use hooks_fixtures::Records;
use hooks_fixtures::scripted_agents::{echo, echo_tool, go, results, script, uses};

#[test]
fn a_closure_receives_the_event_of_its_parameter_and_no_other() {
    fn kind(hook: &impl AgentHook) -> EventKind {
        let kinds = EventKind::ALL.into_iter();
        let mine: Vec<_> = kinds.filter(|kind| hook.events().contains(*kind)).collect();
        assert_eq!(hook.events(), hook.sync_events());
        mine[0]
    }
    let kinds = [
        kind(&on(|_: &mut PreCall<'_>| ())),
        kind(&on(|_: &mut PreReasoning<'_>| ())),
        kind(&on(|_: &mut ReasoningChunk<'_>| ())),
        kind(&on(|_: &mut PostReasoning<'_>| ())),
        kind(&on(|_: &mut PreActing<'_>| ())),
        kind(&on(|_: &mut ActingChunk<'_>| ())),
        kind(&on(|_: &mut PostActing<'_>| ())),
        kind(&on(|_: &mut PreSummary<'_>| ())),
        kind(&on(|_: &mut SummaryChunk<'_>| ())),
        kind(&on(|_: &mut PostSummary<'_>| ())),
        kind(&on(|_: &mut PostCall<'_>| ())),
        kind(&on(|_: &mut ErrorEvent<'_>| ())),
        kind(&on(|_: &mut Settled<'_>| ())),
    ];
    assert_eq!(kinds, EventKind::ALL);
}

#[tokio::test]
async fn a_closure_that_only_looks_takes_its_event_by_shared_reference() {
    let seen = Arc::new(Records::new());
    let noted = seen.clone();
    let (model, _) = script(["done"]);
    let hook = on(move |event: &Settled<'_>| noted.push(event.outcome().to_string()));
    let agent = ReActAgent::builder("bot").model(model).hook(hook).build().unwrap();
    agent.call(go()).await.unwrap();
    assert_eq!(seen.take(), ["finished"]);
}

#[test]
fn a_closure_is_named_after_its_event_unless_it_has_a_name() {
    let hook = on(|_: &mut PreActing<'_>| ());
    assert_eq!(
        (hook.name(), AgentHook::priority(&hook)),
        ("PRE_ACTING".to_owned(), priority::DEFAULT)
    );
    let hook = hook.named("guard").with_priority(3).inherited(true);
    assert_eq!(
        (hook.name(), AgentHook::priority(&hook), hook.inherit()),
        ("guard".to_owned(), 3, true)
    );
    let hook = on!(async |_: &mut PostCall<'_>| {});
    assert_eq!(hook.name(), "POST_CALL");
}

#[tokio::test]
async fn closures_sync_and_async_direct_a_call() {
    let seen = Arc::new(Records::new());
    let (early, late) = (seen.clone(), seen.clone());
    let (model, _) = script([uses([echo("1", "a"), echo("2", "b")]), "done".into()]);
    let agent = ReActAgent::builder("bot")
        .model(model)
        .tool(echo_tool(&Arc::default()))
        .hook(on(move |event: &mut PreActing<'_>| {
            early.push(event.tool_use().id.clone());
            if event.tool_use().id == "1" { event.refuse("not this one") } else { Flow::Continue }
        }))
        .hook(on!(async move |event: &mut PostActing<'_>| -> HookResult<Flow> {
            tokio::task::yield_now().await;
            late.push(event.tool_result().output.to_string());
            event.tool_result_mut().output.text_mut().push('!');
            Ok(Flow::Continue)
        }))
        .build()
        .unwrap();
    agent.call(go()).await.unwrap();
    assert_eq!(seen.take(), ["1", "not this one", "2", "b"]);
    let expected = [("1", "! not this one!"), ("2", "b!")];
    assert_eq!(results(&agent), expected.map(|(id, output)| (id.to_owned(), output.to_owned())));
}

#[tokio::test]
async fn an_async_closure_borrows_what_it_captured() {
    let limit = String::from("two words");
    let hook = on!(async move |event: &mut PostCall<'_>| {
        let text = limit.as_str();
        tokio::task::yield_now().await;
        event.final_message_mut().push_text(text);
    });
    let (model, _) = script(["only ", "only "]);
    let agent = ReActAgent::builder("bot").model(model).hook(hook).build().unwrap();
    for _ in 0..2 {
        assert_eq!(agent.call(go()).await.unwrap().text(), "only two words");
    }
}

#[tokio::test]
async fn a_closure_at_an_error_recovers() {
    let (model, _) = script([ModelError::status("m", 500)]);
    let hook = on(|event: &mut ErrorEvent<'_>| {
        event.recover(hooks_agent_core::message::Msg::assistant("bot", event.error().to_string()))
    });
    let agent = ReActAgent::builder("bot").model(model).hook(hook).build().unwrap();
    let text = agent.call(go()).await.unwrap().text();
    assert_eq!(text, "model `m` answered with status 500");
}

#[tokio::test]
async fn the_error_of_a_closure_names_the_hook() {
    let (model, _) = script(["never"]);
    let hook = on(|_: &mut PreCall<'_>| -> HookResult { Err("closed".into()) }).named("hours");
    let agent = ReActAgent::builder("bot").model(model).hook(hook).build().unwrap();
    let error = agent.call(go()).await.unwrap_err();
    assert_eq!(error.to_string(), "instance hook `hours` failed at pre_reply: closed");
}

#[test]
fn the_plan_shows_where_a_closure_was_added() {
    let (model, _) = script(["never"]);
    let builder = ReActAgent::builder("bot").model(model);
    let line = line!() + 1;
    let agent = builder.hook(on(|_: &mut PreCall<'_>| ())).build().unwrap();
    let place = agent.hook_plan().hooks()[0].registered_at();
    assert_eq!(place, format!("{}:{line}", file!()));
}
