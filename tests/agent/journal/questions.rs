//! Questions to people in a call with a journal.

use hooks_agent_builtin::people::{Gate, HumanInTheLoop};
use hooks_agent_core::call::RunId;
use hooks_agent_core::journal::{
    CallEnd, Journal, JournalFuture, JournalStep, MemoryJournal, StepKey,
};
use hooks_agent_core::message::{DecisionKind, GenerateReason};
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_core::store::{Decision, ThreadKey, ThreadRecord, Verdict, Waiting};
use hooks_agent_core::tool::Permission;
use serde_json::{Value, json};

use hooks_fixtures::journaled::{World, chain, results, run};

/// An agent that asks about the tool `right`: in its first and in its third round.
fn asking(world: &World) -> ReActAgent {
    world.builder().hook(HumanInTheLoop::new().ask("right")).build().unwrap()
}

/// An agent with one round of these tools, which waits for people before `right`.
fn one_round(world: &World, tools: &'static [&'static [&'static str]]) -> ReActAgentBuilder {
    ReActAgent::builder("above")
        .model(world.model("above", tools))
        .tool(world.tool("left"))
        .tool(world.tool("right"))
}

/// A journal that waits until a question is decided.
#[derive(Debug)]
struct Waits(MemoryJournal);

impl Journal for Waits {
    fn step<'a>(&'a self, key: &'a StepKey) -> JournalFuture<'a, JournalStep> {
        self.0.step(key)
    }

    fn ask<'a>(&'a self, questions: &'a [Waiting]) -> JournalFuture<'a, Vec<Verdict>> {
        Box::pin(async {
            match self.0.ask(questions).await {
                Ok(verdicts) => Ok(verdicts),
                Err(_) => std::future::pending().await,
            }
        })
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

fn decide(journal: &MemoryJournal, number: usize, decision: Decision) {
    let id = journal.questions()[number].id.clone();
    journal.decide(Verdict::new(id, decision));
}

#[tokio::test]
async fn a_call_that_asks_does_not_return_and_goes_on_in_the_next_run() {
    let (world, journal, id) = (World::default(), MemoryJournal::new(), RunId::random());
    let agent = asking(&world);
    let options = CallOptions::new().thread("t").run_id(id).journal(Waits(journal.again()));
    let mut call = Box::pin(agent.call_with(options, "Go"));
    assert!(futures::poll!(&mut call).is_pending());
    drop(call);
    assert!(journal.ended().is_none());
    let question = journal.questions()[0].clone();
    assert_eq!((&*question.tool, &*question.thread, question.run), ("right", "t", id));

    decide(&journal, 0, Decision::Approve);
    // The second question of the same call.
    assert!(run(&asking(&world), &journal, id).await.is_err());
    assert!(journal.ended().is_none());
    assert_eq!(journal.questions().len(), 2);
    let asked_twice = journal.questions();
    // Nobody has decided: the next run asks the same.
    assert!(run(&asking(&world), &journal, id).await.is_err());
    assert_eq!(journal.questions(), asked_twice);

    decide(&journal, 1, Decision::Approve);
    let reply = run(&asking(&world), &journal, id).await.unwrap();
    assert_eq!(
        (reply.text(), reply.reason),
        ("above is done.".to_owned(), Some(GenerateReason::ModelStop))
    );
    assert_eq!(reply.pending().len(), 0);
    // Nothing that was recorded ran again.
    assert_eq!(world.effects.lock().unwrap().len(), 5);
    assert_eq!(world.models().len(), 6);
    assert_eq!(results(&journal).len(), 5);
}

#[tokio::test]
async fn each_decision_is_applied_as_it_is_given() {
    let decisions = [
        (Decision::Approve, "right done", 1),
        (Decision::Edit(json!({ "task": "other" })), "Executed instead", 1),
        (Decision::Reject("too much".to_owned()), "too much", 0),
        (Decision::Respond("by hand".into()), "by hand", 0),
    ];
    for (decision, read, effects) in decisions {
        let (world, journal, id) = (World::default(), MemoryJournal::new(), RunId::random());
        let agent = || {
            let agent = one_round(&world, &[&["right"]]);
            agent.hook(HumanInTheLoop::new().ask("right")).build().unwrap()
        };
        assert!(run(&agent(), &journal, id).await.is_err());
        decide(&journal, 0, decision.clone());
        run(&agent(), &journal, id).await.unwrap();
        let first = results(&journal);
        assert!(first.len() == 1 && first[0].contains(read), "{decision:?}: {first:?}");
        assert_eq!(world.effects().len(), effects, "{decision:?}");
        // A run of the whole call from the journal reads the same, and does nothing.
        run(&agent(), &journal, id).await.unwrap();
        assert_eq!(results(&journal), first);
        assert_eq!((world.effects.lock().unwrap().len(), world.models().len()), (effects, 2));
    }
}

#[tokio::test]
async fn several_questions_are_asked_at_once_and_decided_together() {
    let (world, journal, id) = (World::default(), MemoryJournal::new(), RunId::random());
    let agent = || {
        let agent = one_round(&world, &[&["left", "right", "right"]]).parallel_tools(true);
        agent.hook(HumanInTheLoop::new().ask("right").ask("left")).build().unwrap()
    };
    assert!(run(&agent(), &journal, id).await.is_err());
    let questions = journal.questions();
    assert_eq!(questions.len(), 3);
    decide(&journal, 0, Decision::Approve);
    decide(&journal, 2, Decision::Reject("no".to_owned()));
    // One of them is missing.
    assert!(run(&agent(), &journal, id).await.is_err());
    assert_eq!((journal.questions(), world.effects().len()), (questions, 0));
    decide(&journal, 1, Decision::Respond("by hand".into()));
    run(&agent(), &journal, id).await.unwrap();
    assert_eq!(world.effects(), ["left"]);
    let mut results = results(&journal);
    results.sort();
    let rejected = "User rejected the tool call for `right` with reason: no";
    assert_eq!(results, [rejected, "by hand", "left done"]);
}

#[tokio::test]
async fn a_question_of_a_sub_agent_waits_in_the_call_and_reaches_its_tool() {
    let (world, journal, id) = (World::default(), MemoryJournal::new(), RunId::random());
    let agent = || {
        let below =
            ReActAgent::builder("below").model(world.model("below", &[&["inner"], &["inner"]]));
        let below = below.tool(world.tool("inner")).hook(HumanInTheLoop::new().ask("inner"));
        let above = one_round(&world, &[&["left", "below"]]);
        above.tool(below.build().unwrap().to_tool("Does a part of it.")).build().unwrap()
    };
    for number in 0..2 {
        assert!(run(&agent(), &journal, id).await.is_err());
        let question = journal.questions()[number].clone();
        assert_eq!(
            (&*question.agent, &*question.agents, &*question.tool),
            ("above", &["below".to_owned()][..], "inner")
        );
        decide(&journal, number, Decision::Approve);
    }
    let reply = run(&agent(), &journal, id).await.unwrap();
    assert_eq!(reply.text(), "above is done.");
    assert_eq!(journal.questions().len(), 2);
    assert_eq!(world.effects.lock().unwrap().len(), 3);
    assert_eq!(world.models().len(), 5);
    let again = run(&agent(), &journal, id).await.unwrap();
    assert_eq!((again, world.models().len()), (reply, 5));
}

#[tokio::test]
async fn a_hook_of_pre_acting_and_a_tool_ask_in_the_same_way() {
    let hook = || on(|event: &mut PreActing<'_>| event.ask("may it?"));
    let asks = || {
        let tool = FunctionTool::new("asks", "Asks.", async |_: Value| "asked");
        tool.permission(|_| Permission::Ask)
    };
    let (world, id) = (World::default(), RunId::random());
    let by_hook = || one_round(&world, &[&["right"]]).hook(hook()).build().unwrap();
    let by_tool = || one_round(&world, &[&["asks"]]).tool(asks()).build().unwrap();
    for agent in [&by_hook as &dyn Fn() -> ReActAgent, &by_tool] {
        let journal = MemoryJournal::new();
        assert!(run(&agent(), &journal, id).await.is_err());
        decide(&journal, 0, Decision::Approve);
        run(&agent(), &journal, id).await.unwrap();
        assert_eq!((journal.questions().len(), results(&journal).len()), (1, 1));
    }
    assert_eq!(world.effects(), ["right"]);
}

#[tokio::test]
async fn a_decision_that_is_not_allowed_fails_the_call() {
    let gate = || Gate::new().allow([DecisionKind::Approve]).unwrap();
    let (world, id) = (World::default(), RunId::random());
    let agent = || {
        let agent = one_round(&world, &[&["right"]]);
        agent.hook(HumanInTheLoop::new().ask_with("right", gate())).build().unwrap()
    };
    let journal = MemoryJournal::new();
    assert!(run(&agent(), &journal, id).await.is_err());
    decide(&journal, 0, Decision::Reject("no".to_owned()));
    let error = run(&agent(), &journal, id).await.unwrap_err();
    assert!(chain(&error).contains("cannot be decided by `reject`"), "{}", chain(&error));
    assert!(!error.is_transient());
    assert!(journal.ended().unwrap().error.is_some());
    assert_eq!(world.effects().len(), 0);
}

#[tokio::test]
async fn a_question_that_expired_is_read_as_no_decision_in_time_whatever_it_allows() {
    let gate = || Gate::new().allow([DecisionKind::Approve]).unwrap();
    let (world, journal, id) = (World::default(), MemoryJournal::new(), RunId::random());
    let agent = || {
        let agent = one_round(&world, &[&["right"]]);
        agent.hook(HumanInTheLoop::new().ask_with("right", gate())).build().unwrap()
    };
    assert!(run(&agent(), &journal, id).await.is_err());
    journal.decide(Verdict::expired(journal.questions()[0].id.clone()));
    run(&agent(), &journal, id).await.unwrap();
    let read = results(&journal);
    assert!(read[0].contains("no decision in time"), "{read:?}");
    assert_eq!(world.effects().len(), 0);
}

#[tokio::test]
async fn a_stop_by_a_hook_returns_to_the_caller() {
    let (world, journal) = (World::default(), MemoryJournal::new());
    let stop = on(|event: &mut PreActing<'_>| event.stop());
    let agent = one_round(&world, &[&["right"]]).hook(stop).build().unwrap();
    let reply = run(&agent, &journal, RunId::random()).await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::ActingStopRequested));
    assert_eq!(reply.pending().len(), 1);
    assert_eq!((journal.questions().len(), world.effects().len()), (0, 0));
    assert!(journal.ended().unwrap().reply.is_some());
}

#[tokio::test]
async fn rounds_count_over_the_whole_call() {
    let (world, journal, id) = (World::default(), MemoryJournal::new(), RunId::random());
    let agent = || {
        let agent = one_round(&world, &[&["right"], &["right"], &["right"], &["right"]]);
        agent.max_iters(2).hook(HumanInTheLoop::new().ask("right")).build().unwrap()
    };
    for number in 0..2 {
        assert!(run(&agent(), &journal, id).await.is_err());
        decide(&journal, number, Decision::Approve);
    }
    let reply = run(&agent(), &journal, id).await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::MaxIterations));
    assert_eq!((journal.questions().len(), world.effects.lock().unwrap().len()), (2, 2));
}

/// A journal that has no decision, or two, about each question.
#[derive(Debug)]
struct Decides(MemoryJournal, usize);

impl Journal for Decides {
    fn step<'a>(&'a self, key: &'a StepKey) -> JournalFuture<'a, JournalStep> {
        self.0.step(key)
    }

    fn ask<'a>(&'a self, questions: &'a [Waiting]) -> JournalFuture<'a, Vec<Verdict>> {
        let verdict = |it: &Waiting| Verdict::new(it.id.clone(), Decision::Approve);
        let verdicts = questions.iter().map(verdict).flat_map(|it| vec![it; self.1]).collect();
        Box::pin(async { Ok(verdicts) })
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
async fn a_journal_has_one_decision_about_each_question() {
    for (decisions, is_decided) in [(0, false), (1, true), (2, false)] {
        let (world, journal) = (World::default(), MemoryJournal::new());
        let agent = one_round(&world, &[&["right"]]).hook(HumanInTheLoop::new().ask("right"));
        let options = CallOptions::new().thread("t").journal(Decides(journal, decisions));
        let called = agent.build().unwrap().call_with(options, "Go").await;
        assert_eq!(called.is_ok(), is_decided, "{decisions}");
        assert_eq!(world.effects().len(), usize::from(is_decided));
        if let Err(error) = called {
            assert!(chain(&error).contains("the journal has no decision about"), "{error:?}");
        }
    }
}

#[tokio::test]
async fn an_agent_inside_of_a_tool_of_another_kind_asks_nobody() {
    let (world, journal) = (World::default(), MemoryJournal::new());
    let below = ReActAgent::builder("below").model(world.model("below", &[&["right"]]));
    let below = below.tool(world.tool("right")).hook(HumanInTheLoop::new().ask("right"));
    let below = std::sync::Arc::new(below.build().unwrap());
    let tool = FunctionTool::with_context("left", "Calls.", move |_: Value, cx: ToolContext| {
        let call = below.clone().call_owned(CallOptions::new().child_of(cx.call()), "Go");
        async move { call.await.map(|reply| reply.text()).map_err(|error| chain(&error)) }
    });
    let model = world.model("above", &[&["left"]]);
    let agent = ReActAgent::builder("above").model(model).tool(tool).build().unwrap();
    run(&agent, &journal, RunId::random()).await.unwrap();
    assert!(journal.questions().is_empty());
    let results = results(&journal);
    assert!(results[0].contains("asks people as a tool made by `to_tool` alone"), "{results:?}");
}
