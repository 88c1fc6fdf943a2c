//! Writes in the background.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::executor::block_on;
use futures::future::join_all;
use futures::poll;
use hooks_agent_core::call::Interrupt;
use hooks_agent_core::hook::HookModel;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use hooks_agent_knowledge::{Keep, LongTermMemory, MemoriesError};
use hooks_fixtures::Reports;
use tracing::Level;

use crate::long_term_memory::faulty::{Fault, Faulty};
use crate::long_term_memory::{agent, listed, on, rule};

fn memory(memories: &Faulty) -> LongTermMemory {
    LongTermMemory::new(memories.clone(), rule()).in_background(true)
}

#[tokio::test]
async fn a_call_does_not_wait_and_flush_does() {
    let memories = Faulty::new().closed();
    let memory = memory(&memories);
    let (agent, _) = agent(&memory, 3);
    for number in 0..3 {
        agent.call_with(on("ada", "one"), format!("keep: {number}")).await.unwrap();
    }
    let mut flush = Box::pin(memory.flush());
    assert!(poll!(&mut flush).is_pending());
    assert_eq!(listed(&memories, "ada"), [""; 0]);
    memories.gate.add_permits(3);
    assert_eq!(flush.await, 0);
    assert_eq!(listed(&memories, "ada"), ["0", "1", "2"]);
}

#[tokio::test]
async fn the_task_writes_without_a_flush() {
    let memories = Faulty::new();
    let memory = memory(&memories);
    let (agent, _) = agent(&memory, 2);
    for (number, thread) in ["one", "two"].into_iter().enumerate() {
        agent.call_with(on("ada", thread), format!("keep: {number}")).await.unwrap();
        while memories.tried() <= number {
            tokio::task::yield_now().await;
        }
    }
    assert_eq!(listed(&memories, "ada"), ["0", "1"]);
}

#[tokio::test]
async fn a_full_queue_makes_calls_wait_and_loses_nothing() {
    let memories = Faulty::new().closed();
    let memory = memory(&memories).queue(2);
    let (agent, _) = agent(&memory, 10);
    let mut calls: Vec<_> = (0..10)
        .map(|number| {
            let on = on("ada", &number.to_string());
            Box::pin(agent.call_with(on, format!("keep: {number}")))
        })
        .collect();
    let mut ended = 0;
    for _ in 0..50 {
        for call in &mut calls[ended..] {
            if poll!(call.as_mut()).is_ready() {
                ended += 1;
                break;
            }
        }
        tokio::task::yield_now().await;
    }
    assert_eq!(ended, 2);
    memories.gate.add_permits(10);
    for reply in join_all(calls.split_off(ended)).await {
        reply.unwrap();
    }
    memory.shutdown().await;
    assert_eq!(listed(&memories, "ada").len(), 10);
}

#[tokio::test(start_paused = true)]
async fn a_write_is_tried_again_and_never_done_twice() {
    use Fault::{AnswerLost, Unavailable};
    let memories = Faulty::new().adds([Some(Unavailable), Some(AnswerLost), None]);
    let memory = memory(&memories);
    let (agent, _) = agent(&memory, 1);
    agent.call_with(on("ada", "one"), "keep: a cat").await.unwrap();
    assert_eq!(memory.flush().await, 0);
    assert_eq!((memories.tried(), listed(&memories, "ada")), (3, vec!["a cat".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn what_fails_for_good_is_reported_kept_and_tried_again_on_request() {
    let down = [Some(Fault::Unavailable); 3];
    let memories = Faulty::new().adds(down).adds([Some(Fault::Failed), Some(Fault::Panic)]);
    let memory = memory(&memories);
    let (agent, _) = agent(&memory, 3);
    for number in 0..3 {
        agent.call_with(on("ada", "one"), format!("keep: {number}")).await.unwrap();
    }
    assert_eq!(memory.shutdown().await, 3);
    assert_eq!(memories.tried(), 5);
    let failed = memory.failed();
    let texts: Vec<_> = failed.iter().map(|write| &*write.entries[0].text).collect();
    assert_eq!(texts, ["0", "1", "2"]);
    assert!(matches!(*failed[0].error, MemoriesError::Unavailable(_)));
    assert!(matches!(*failed[2].error, MemoriesError::Failed(_)));
    assert_eq!(memory.retry_failed().await, 0);
    assert_eq!(listed(&memories, "ada").len(), 3);
}

#[tokio::test]
async fn after_a_shutdown_calls_write_by_themselves() {
    let memories = Faulty::new();
    let memory = memory(&memories);
    let (agent, _) = agent(&memory, 1);
    memory.shutdown().await;
    agent.call_with(on("ada", "one"), "keep: late").await.unwrap();
    assert_eq!(listed(&memories, "ada"), ["late"]);
}

#[test]
fn what_a_runtime_leaves_behind_is_written_by_the_next_or_by_flush() {
    let memories = Faulty::new().closed();
    let memory = memory(&memories);
    let (agent, _) = agent(&memory, 2);
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime().block_on(async {
        agent.call_with(on("ada", "one"), "keep: first").await.unwrap();
        tokio::task::yield_now().await;
    });
    assert_eq!(memories.tried(), 0);
    memories.gate.add_permits(2);
    runtime().block_on(async {
        agent.call_with(on("ada", "two"), "keep: second").await.unwrap();
    });
    assert_eq!(block_on(memory.flush()), 0);
    assert_eq!(listed(&memories, "ada"), ["first", "second"]);
}

#[test]
fn outside_of_a_runtime_a_call_writes_by_itself() {
    let memories = Faulty::new();
    let memory = memory(&memories);
    let (agent, _) = agent(&memory, 1);
    block_on(agent.call_with(on("ada", "one"), "keep: a")).unwrap();
    assert_eq!(listed(&memories, "ada"), ["a"]);
}

#[test]
fn what_is_dropped_unwritten_is_reported() {
    let (subscriber, reports) = Reports::up_to(Level::ERROR);
    tracing::subscriber::with_default(subscriber, || {
        let memories = Faulty::new().closed();
        let (agent, _) = agent(&memory(&memories), 2);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            for number in 0..2 {
                agent.call_with(on("ada", "one"), format!("keep: {number}")).await.unwrap();
            }
        });
        drop(agent);
        drop(runtime);
    });
    let reports = reports.take();
    assert_eq!(reports.len(), 1, "{reports:?}");
    assert!(reports[0].contains("calls=2") && reports[0].contains("shutdown"), "{reports:?}");
}

#[test]
fn an_attempt_that_is_cut_off_asks_the_model_no_second_time() {
    let memories = Faulty::new().closed();
    let chooser = Script::new().says("[\"a cat\"]");
    let keep = Keep::by_model(HookModel::new(chooser.clone()));
    let memory = LongTermMemory::new(memories.clone(), keep).in_background(true);
    let (agent, _) = agent(&memory, 1);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        agent.call_with(on("ada", "one"), "hello").await.unwrap();
        while chooser.requests().is_empty() {
            tokio::task::yield_now().await;
        }
        tokio::task::yield_now().await;
    });
    drop(runtime);
    memories.gate.add_permits(1);
    block_on(memory.flush());
    assert_eq!((chooser.requests().len(), listed(&memories, "ada")), (1, vec!["a cat".to_owned()]));
}

#[tokio::test]
async fn an_interrupt_after_the_call_does_not_stop_the_choice() {
    let memories = Faulty::new();
    let (asked, interrupt) = (Arc::new(AtomicUsize::new(0)), Interrupt::new());
    let count = asked.clone();
    let model = ScriptedModel::new("small", move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        "[\"a cat\"]"
    });
    let keep = Keep::by_model(HookModel::new(model));
    let memory = LongTermMemory::new(memories.clone(), keep).in_background(true);
    let (agent, _) = agent(&memory, 1);
    agent.call_with(on("ada", "one").interrupt(interrupt.clone()), "hello").await.unwrap();
    assert_eq!(asked.load(Ordering::Relaxed), 0, "the task has not begun");
    interrupt.interrupt();
    memory.flush().await;
    assert_eq!(listed(&memories, "ada"), ["a cat"]);
}

#[tokio::test]
async fn a_call_that_waits_for_a_place_while_the_queue_ends_writes_by_itself() {
    let memories = Faulty::new().closed();
    let memory = memory(&memories).queue(1);
    let (agent, _) = agent(&memory, 2);
    agent.call_with(on("ada", "one"), "keep: first").await.unwrap();
    let mut second = Box::pin(agent.call_with(on("ada", "two"), "keep: second"));
    assert!(poll!(&mut second).is_pending());
    let mut shutdown = Box::pin(memory.shutdown());
    assert!(poll!(&mut shutdown).is_pending());
    memories.gate.add_permits(2);
    shutdown.await;
    second.await.unwrap();
    assert_eq!(listed(&memories, "ada"), ["first", "second"]);
}

#[tokio::test]
async fn a_retry_that_is_dropped_loses_nothing() {
    let memories = Faulty::new().adds([Some(Fault::Failed); 2]);
    let memory = LongTermMemory::new(memories.clone(), rule());
    let (agent, _) = agent(&memory, 2);
    for number in 0..2 {
        agent.call_with(on("ada", "one"), format!("keep: {number}")).await.unwrap();
    }
    memories.gate.forget_permits(usize::MAX);
    assert!(poll!(Box::pin(memory.retry_failed())).is_pending());
    assert_eq!(memory.failed().len(), 2);
    memories.gate.add_permits(2);
    assert_eq!(memory.retry_failed().await, 0);
    assert_eq!(listed(&memories, "ada"), ["0", "1"]);
}
