//! Calls that a journal runs again.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use agent_hooks::Verdict;
use hooks_agent_core::prelude::*;
use hooks_agent_interceptors::AskPeople;
use tokio::task::yield_now;

use crate::attacked::{DeniesWord, check};
use crate::support::{at, deciding, deny, saying, with};

/// A journal runs a call again: what was denied does not run then.
#[tokio::test]
async fn a_sub_agent_that_was_denied_does_not_run_when_a_journal_runs_the_call_again() {
    use hooks_agent_core::call::RunId;
    use hooks_agent_core::journal::MemoryJournal;
    use hooks_fixtures::journaled::{World, run};

    let world = World::default();
    let (interceptors, records) = deciding(at("pre_tool_call", |context| {
        if context["tool_call"]["name"] == "below" { deny("no_agents") } else { Verdict::allow() }
    }));
    let below = ReActAgent::builder("below").model(world.model("below", &[&["inner"]]));
    let below = below.tool(world.tool("inner")).build().unwrap();
    let agent = ReActAgent::builder("above")
        .model(world.model("above", &[&["below"], &["right"]]))
        .tool(world.tool("right"))
        .tool(below.to_tool("Does a part of it."))
        .hook(interceptors)
        .build()
        .unwrap();
    let (journal, id) = (MemoryJournal::new(), RunId::random());
    run(&agent, &journal, id).await.unwrap();
    assert_eq!(world.effects(), ["right"]);
    let first = records.points();
    // The process ends before the last answer is kept.
    journal.cut(journal.keys().len() - 1);
    let reply = run(&agent, &journal, id).await;
    assert_eq!(
        world.effects(),
        ["right"],
        "{:?} {reply:?} {first:?} {:?}",
        journal.keys(),
        records.points()
    );
}

/// A tool that runs at once with others, when a journal runs the call again.
#[tokio::test]
async fn a_tool_that_has_not_run_is_asked_about_when_a_journal_runs_the_call_again() {
    use hooks_agent_core::call::RunId;
    use hooks_agent_core::journal::MemoryJournal;
    use hooks_fixtures::journaled::{World, run};

    for cut in 0..12 {
        let world = World::default();
        let closed = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let is_closed = closed.clone();
        let (interceptors, records) = deciding(at("pre_tool_call", move |_| {
            if is_closed.load(Ordering::Relaxed) { deny("closed") } else { Verdict::allow() }
        }));
        let agent = world.builder().hook(interceptors).build().unwrap();
        let (journal, id) = (MemoryJournal::new(), RunId::random());
        run(&agent, &journal, id).await.unwrap();
        let keys = journal.keys();
        journal.cut(cut);
        world.effects.lock().unwrap().clear();
        closed.store(true, Ordering::Relaxed);
        let before = records.points().len();
        let reply = run(&agent, &journal, id).await;
        assert_eq!(
            world.effects(),
            [] as [String; 0],
            "{cut} {keys:?} {reply:?} {:?}",
            &records.0.lock().unwrap()[before..]
                .iter()
                .map(|it| format!("{} {:?}", it.interception_point, it.verdict.decision))
                .collect::<Vec<_>>()
        );
    }
}

/// A result of a sub-agent that was withheld, when a journal runs the call again.
#[tokio::test]
async fn a_result_of_a_sub_agent_that_was_withheld_stays_so_when_a_journal_runs_the_call_again() {
    use hooks_agent_core::call::RunId;
    use hooks_agent_core::journal::MemoryJournal;
    use hooks_fixtures::journaled::{World, results, run};

    let world = World::default();
    let (interceptors, records) = deciding(at("post_tool_call", |context| {
        if context["tool_call"]["name"] == "below" { deny("tainted") } else { Verdict::allow() }
    }));
    let below = ReActAgent::builder("below").model(world.model("below", &[&["inner"]]));
    let below = below.tool(world.tool("inner")).build().unwrap();
    let agent = ReActAgent::builder("above")
        .model(world.model("above", &[&["below"], &["right"]]))
        .tool(world.tool("right"))
        .tool(below.to_tool("Does a part of it."))
        .hook(interceptors)
        .build()
        .unwrap();
    let (journal, id) = (MemoryJournal::new(), RunId::random());
    run(&agent, &journal, id).await.unwrap();
    let first = results(&journal);
    journal.cut(journal.keys().len() - 1);
    run(&agent, &journal, id).await.unwrap();
    assert_eq!(results(&journal), first, "{:?}", records.points());
}

/// A journal runs a call again that has recorded nothing yet.
#[tokio::test]
async fn a_call_that_a_journal_runs_again_is_a_session_of_its_own() {
    use hooks_agent_core::call::RunId;
    use hooks_agent_core::journal::MemoryJournal;
    use hooks_fixtures::journaled::{World, run};
    let world = World::default();
    let (interceptors, records) = with(DeniesWord { at: "none", word: "", waits: 1 });
    let agent = world.builder().hook(interceptors).build().unwrap();
    let (journal, id) = (MemoryJournal::new(), RunId::random());
    {
        let mut call = Box::pin(run(&agent, &journal, id));
        for _ in 0..3 {
            std::future::poll_fn(|cx| {
                drop(std::future::Future::poll(call.as_mut(), cx));
                std::task::Poll::Ready(())
            })
            .await;
        }
    }
    for _ in 0..30 {
        yield_now().await;
    }
    run(&agent, &journal, id).await.unwrap();
    let all = records.all();
    let mut startups: Vec<_> = all
        .iter()
        .filter(|it| it.interception_point.as_str() == "agent_startup")
        .map(|it| it.session_id.clone())
        .collect();
    let count = startups.len();
    startups.sort();
    startups.dedup();
    assert_eq!(startups.len(), count, "{:?} {:?}", records.points(), journal.keys());
}

/// The same id for two calls.
#[tokio::test]
async fn two_calls_with_one_id_are_two_sessions() {
    use hooks_agent_core::call::RunId;
    let (interceptors, records) = deciding(|_| Verdict::allow());
    let agent = saying("Hello.", interceptors);
    let id = RunId::random();
    for _ in 0..2 {
        agent.call_with(CallOptions::new().run_id(id), "Go").await.unwrap();
    }
    assert_eq!(check(&records), Ok(()));
}

/// People are asked through a journal.
#[tokio::test]
async fn a_question_in_a_journal_is_asked_about_and_has_its_pair() {
    use hooks_agent_core::call::RunId;
    use hooks_agent_core::journal::MemoryJournal;
    use hooks_fixtures::journaled::{World, approve, run};
    let world = World::default();
    let (interceptors, records) = deciding(at("pre_tool_call", |context| {
        if context["tool_call"]["name"] == "right" {
            Verdict::escalate(Some("sensitive".to_owned()), None)
        } else {
            Verdict::allow()
        }
    }));
    let agent = world.builder().hook(interceptors.ask_people(AskPeople::new())).build().unwrap();
    let (journal, id, mut from) = (MemoryJournal::new(), RunId::random(), 0);
    let mut said = Vec::new();
    for _ in 0..6 {
        let reply = run(&agent, &journal, id).await;
        said.push(format!(
            "{:?}",
            reply.as_ref().map(Msg::text).map_err(std::string::ToString::to_string)
        ));
        if reply.is_ok() {
            break;
        }
        approve(&journal, &mut from);
    }
    println!("{said:?} {:?} {:?}", world.effects(), world.effects.lock().unwrap());
    let all = records.all();
    for it in &all {
        println!(
            "{} {} {} {:?} {:?}",
            it.session_id, it.sequence, it.interception_point, it.verdict.reason, it.resolved_by
        );
    }
    let permitted = all
        .iter()
        .filter(|it| it.interception_point.as_str() == "pre_tool_call" && it.proceeds())
        .count();
    let post = all.iter().filter(|it| it.interception_point.as_str() == "post_tool_call").count();
    assert_eq!(permitted, post, "{said:?}");
    let mut places: Vec<_> = all.iter().map(|it| (it.session_id.clone(), it.sequence)).collect();
    let count = places.len();
    places.dedup();
    assert_eq!(places.len(), count, "each place has one record");
}

/// A sub-agent that waits for people, when a journal runs the call again before they have decided.
#[tokio::test]
async fn a_sub_agent_that_waits_for_people_does_not_run_when_a_journal_runs_the_call_again() {
    use hooks_agent_core::call::RunId;
    use hooks_agent_core::journal::MemoryJournal;
    use hooks_fixtures::journaled::{World, run};
    let world = World::default();
    let (interceptors, records) = deciding(at("pre_tool_call", |context| {
        if context["tool_call"]["name"] == "below" {
            Verdict::escalate(Some("sensitive".to_owned()), None)
        } else {
            Verdict::allow()
        }
    }));
    let below = ReActAgent::builder("below").model(world.model("below", &[&["inner"]]));
    let below = below.tool(world.tool("inner")).build().unwrap();
    let agent = ReActAgent::builder("above")
        .model(world.model("above", &[&["below", "left"]]))
        .tool(world.tool("left"))
        .tool(below.to_tool("Does a part of it."))
        .parallel_tools(true)
        .hook(interceptors.ask_people(AskPeople::new()))
        .build()
        .unwrap();
    let (journal, id) = (MemoryJournal::new(), RunId::random());
    let mut replies = Vec::new();
    for _ in 0..3 {
        let reply = run(&agent, &journal, id).await;
        replies.push(reply.map(|it| it.text()).map_err(|it| it.to_string()));
    }
    assert_eq!(world.effects(), ["left"], "{replies:?} {:?}", records.points());
}
