//! Steps that fail, and journals that fail.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::join_all;
use hooks_agent_builtin::recover::{RetryPolicy, ToolRetry};
use hooks_agent_core::call::RunId;
use hooks_agent_core::hook::AroundMask;
use hooks_agent_core::journal::{
    CallEnd, Journal, JournalError, JournalStep, MemoryJournal, StepKey, StepKind,
};
use hooks_agent_core::model::ModelError;
use hooks_agent_core::prelude::*;
use serde_json::{Value, json};

use crate::failing::Recover;
use hooks_fixtures::journaled::{World, chain, results, run};

#[tokio::test]
async fn the_model_reads_the_same_of_a_tool_that_failed_in_each_run() {
    let (world, journal, id) = (World::default(), MemoryJournal::new(), RunId::random());
    let count = Arc::new(AtomicUsize::new(0));
    let agent = || {
        let counted = |name: &'static str| {
            let count = count.clone();
            FunctionTool::new(name, "Fails.", move |_: Value| {
                let number = count.fetch_add(1, Ordering::Relaxed);
                async move {
                    match name {
                        "fails" => Err(format!("no such file {number}")),
                        "panics" => panic!("bug {number}"),
                        _ => std::future::pending::<Result<String, String>>().await,
                    }
                }
            })
        };
        ReActAgent::builder("above")
            .model(world.model("above", &[&["fails", "panics", "hangs"]]))
            .tool(counted("fails"))
            .tool(counted("panics"))
            .tool(counted("hangs"))
            .tool_timeout(Duration::from_millis(5))
            .hook(ToolRetry::with(RetryPolicy::new().initial_delay(Duration::ZERO)).unwrap())
            .build()
            .unwrap()
    };
    let first = run(&agent(), &journal, id).await.unwrap();
    let (read, ran, ended) = (results(&journal), count.load(Ordering::Relaxed), journal.ended());
    assert!(
        read[0].contains("no such file")
            && read[1].contains("panicked")
            && read[2].contains("took longer"),
        "{read:?}"
    );
    for kept in (0..=journal.keys().len()).rev() {
        journal.cut(kept);
        if kept >= 4 {
            assert_eq!(run(&agent(), &journal, id).await.unwrap(), first);
            assert_eq!((results(&journal), count.load(Ordering::Relaxed)), (read.clone(), ran));
            let steps = |end: Option<CallEnd>| {
                serde_json::to_value(end.unwrap()).unwrap()["threads"].clone()
            };
            assert_eq!(steps(journal.ended()), steps(ended.clone()));
        }
    }
}

#[tokio::test]
async fn a_model_that_failed_fails_the_call_in_the_same_way_in_each_run() {
    for (status, is_transient) in [(503, true), (401, false)] {
        let (journal, id, asked) =
            (MemoryJournal::new(), RunId::random(), Arc::new(AtomicUsize::new(0)));
        let agent = || {
            let asked = asked.clone();
            let model = ScriptedModel::new("busy", move |_| {
                asked.fetch_add(1, Ordering::Relaxed);
                ModelError::status("busy", status)
            });
            ReActAgent::builder("above").model(model).build().unwrap()
        };
        let first = run(&agent(), &journal, id).await.unwrap_err();
        let second = run(&agent(), &journal, id).await.unwrap_err();
        assert_eq!(first.report(), second.report());
        assert_eq!((second.is_transient(), asked.load(Ordering::Relaxed)), (is_transient, 1));
        let end = journal.ended().unwrap();
        assert_eq!(end.is_transient(), is_transient);
        assert_eq!(journal.record("model/1/1").unwrap().is_transient(), is_transient);
        // An engine keeps the end as JSON.
        let json = serde_json::to_string(&end).unwrap();
        let read: CallEnd = serde_json::from_str(&json).unwrap();
        assert_eq!(read.into_reply().unwrap_err().to_string(), first.to_string());
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_recorded_as_the_error_it_is() {
    let (journal, id, asked) =
        (MemoryJournal::new(), RunId::random(), Arc::new(AtomicUsize::new(0)));
    let agent = || {
        let asked = asked.clone();
        let model = ScriptedModel::new("cut", move |_| {
            asked.fetch_add(1, Ordering::Relaxed);
            ModelError::Cut { model: "cut".to_owned() }
        });
        ReActAgent::builder("above").model(model).build().unwrap()
    };
    let first = run(&agent(), &journal, id).await.unwrap_err();
    assert_eq!(run(&agent(), &journal, id).await.unwrap_err().report(), first.report());
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}

/// A journal with one record of a program's own.
async fn with_record(key: &str, record: Value) -> MemoryJournal {
    let (world, whole, id) = (World::default(), MemoryJournal::new(), RunId::random());
    run(&world.agent(), &whole, id).await.unwrap();
    let journal = MemoryJournal::new();
    let keys = [
        ("model/1/1", StepKind::Model { round: 1, attempt: 1 }),
        ("tool/1/call_0/1", StepKind::Tool { round: 1, id: "call_0".into(), attempt: 1 }),
    ];
    for (known, kind) in keys {
        let JournalStep::Run(ticket) = journal.step(&StepKey::new("", kind)).await.unwrap() else {
            unreachable!()
        };
        let other = if known == key {
            serde_json::from_value(record.clone()).unwrap()
        } else {
            whole.record(known).unwrap()
        };
        ticket.complete(other).await.unwrap();
    }
    journal
}

#[tokio::test]
async fn a_record_that_this_program_cannot_read_fails_the_call() {
    let cases = [
        (
            "model/1/1",
            json!({ "v": 2, "model": {} }),
            "is of version 2, this program reads versions up to 1",
        ),
        ("tool/1/call_0/1", json!({ "v": 7 }), "the record of `tool/1/call_0/1` is of version 7"),
        ("tool/1/call_0/1", json!({}), "it has no version"),
        ("tool/1/call_0/1", json!({ "v": 1 }), "it has no field `tool`"),
        (
            "tool/1/call_0/1",
            json!({ "v": 1, "tool": { "secret": "4711" } }),
            "`tool` is not what this program knows",
        ),
        (
            "model/1/1",
            json!({ "v": 1, "error": "4711" }),
            "the record of `model/1/1` cannot be read: `error` is not what this program knows",
        ),
        ("model/1/1", json!("4711"), "it has no version"),
    ];
    for (key, record, expected) in cases {
        let (world, journal) = (World::default(), with_record(key, record).await);
        let agent = world.builder().hook(Recover).build().unwrap();
        let error = run(&agent, &journal, RunId::random()).await.unwrap_err();
        assert!(chain(&error).contains(expected), "{}", chain(&error));
        assert!(!chain(&error).contains("4711"), "{}", chain(&error));
        // A newer program reads it.
        assert_eq!(error.is_transient(), expected.contains("is of version"), "{expected}");
        assert!(world.models().is_empty() && journal.ended().is_none());
        assert!(!world.effects().contains(&"left".to_owned()));
    }
}

#[tokio::test]
async fn a_step_whose_hook_fails_is_left_open_and_runs_again() {
    struct Refuse;
    impl AgentHook for Refuse {
        fn events(&self) -> EventMask {
            EventMask::NONE
        }

        fn around(&self) -> AroundMask {
            AroundMask::TOOL_CALL
        }

        async fn around_tool_call(
            &self,
            call: ToolCall<'_>,
            next: NextTool<'_>,
        ) -> Result<ToolResult, ToolError> {
            drop(next.run(call.into_tool_use()).await);
            Err(next.fail("not now"))
        }
    }

    let (world, journal, id) = (World::default(), MemoryJournal::new(), RunId::random());
    let agent = world.builder().hook(Refuse).build().unwrap();
    let error = run(&agent, &journal, id).await.unwrap_err();
    assert!(chain(&error).contains("not now"));
    assert_eq!(journal.keys(), ["model/1/1"]);
    let reply = run(&world.agent(), &journal, id).await.unwrap();
    assert_eq!(reply.text(), "above is done.");
    // The same idempotency keys.
    assert_eq!(world.effects().len(), 5);
    assert!(world.effects.lock().unwrap().len() > 5);
}

#[tokio::test]
async fn calls_at_once_on_one_agent_have_each_its_journal() {
    let world = World::default();
    let agent = Arc::new(world.agent());
    let journals: Vec<_> = (0..8).map(|_| MemoryJournal::new()).collect();
    let calls = journals.iter().enumerate().map(|(number, journal)| {
        let options = CallOptions::new().thread(format!("t{number}")).journal(journal.again());
        tokio::spawn(agent.clone().call_owned(options, format!("Go {number}")))
    });
    for reply in join_all(calls).await {
        assert_eq!(reply.unwrap().unwrap().text(), "above is done.");
    }
    assert_eq!(world.effects.lock().unwrap().len(), 8 * 5);
    for (number, journal) in journals.iter().enumerate() {
        assert_eq!(journal.keys().len(), 11);
        let end = journal.ended().unwrap();
        assert!(end.threads.iter().all(|(key, _)| key.thread() == format!("t{number}")));
        assert_eq!(end.threads.len(), 2);
    }
    assert!(agent.threads().ids().is_empty());
}

#[tokio::test]
async fn a_hook_that_asks_the_model_several_times_asks_it_no_more_in_the_next_run() {
    struct Twice;
    impl AgentHook for Twice {
        fn events(&self) -> EventMask {
            EventMask::NONE
        }

        fn around(&self) -> AroundMask {
            AroundMask::MODEL_CALL
        }

        async fn around_model_call(
            &self,
            call: ModelCall<'_>,
            next: NextModel<'_>,
        ) -> Result<ModelAnswer, AgentError> {
            let request = call.into_request();
            drop(next.run(request.clone()).await?);
            next.run(request).await
        }
    }
    let (world, journal, id) = (World::default(), MemoryJournal::new(), RunId::random());
    let agent = || world.builder().hook(Twice).build().unwrap();
    let first = run(&agent(), &journal, id).await.unwrap();
    assert_eq!(world.models().len(), 4 * 2 + 2);
    assert_eq!(run(&agent(), &journal, id).await.unwrap(), first);
    assert_eq!(world.models().len(), 4 * 2 + 2);
}

#[test]
fn errors_say_what_is_wrong() {
    let errors: [(JournalError, &str, bool); 3] = [
        (JournalError::Closed, "the journal of the call is closed", true),
        (
            JournalError::Differs { what: "no tool `pay`".to_owned() },
            "the call was begun by another program: no tool `pay`",
            false,
        ),
        (
            JournalError::Full { reason: "no more than 3 steps".to_owned() },
            "the journal of the call is full: no more than 3 steps",
            false,
        ),
    ];
    for (error, text, is_transient) in errors {
        assert_eq!((error.to_string().as_str(), error.is_transient()), (text, is_transient));
    }
}
