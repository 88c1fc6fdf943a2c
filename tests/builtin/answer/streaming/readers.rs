//! Slow readers, readers that are gone, and callbacks that panic.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::FutureExt;
use futures::executor::block_on;
use hooks_agent_builtin::answer::{Slow, StreamType, Streaming};
use hooks_agent_core::call::Interrupt;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use hooks_fixtures::Reports;
use proptest::prelude::*;

use crate::streaming::{all, bot, numbers, short};

#[test]
fn a_call_waits_for_a_reader_that_is_slow() {
    let (streaming, mut events) = Streaming::to_channel(2);
    let agent = bot(&Script::new().says("1 2 3 4 5 6"), streaming);
    let mut call = Box::pin(agent.call("Go"));
    assert!((&mut call).now_or_never().is_none());
    assert_eq!(short(&events.try_recv().unwrap()), "1 ");
    assert_eq!(short(&events.try_recv().unwrap()), "2 ");
    assert!(events.try_recv().is_none());
    assert!((&mut call).now_or_never().is_none());
    let rest: Vec<_> = std::iter::from_fn(|| events.try_recv()).collect();
    assert_eq!(rest.iter().map(short).collect::<Vec<_>>(), ["3 ", "4 "]);
    assert_eq!((&mut call).now_or_never().unwrap().unwrap().text(), "1 2 3 4 5 6");
    drop(call);
    drop(agent);
    let rest: Vec<_> = block_on(all(events)).iter().map(short).collect();
    assert_eq!(rest, ["5 ", "6", "= 1 2 3 4 5 6"]);
}

#[test]
fn a_reader_may_lose_chunks_but_no_results_and_is_told() {
    let (streaming, events) = Streaming::to_channel(2);
    let agent = bot(&Script::new().says("1 2 3 4 5").says("6"), streaming.slow(Slow::Drop));
    block_on(agent.call("Go")).unwrap();
    block_on(agent.call("Go")).unwrap();
    drop(agent);
    let seen: Vec<_> = block_on(all(events)).iter().map(short).collect();
    assert_eq!(seen, ["1 ", "2 ", "-3", "= 1 2 3 4 5", "-1", "= 6"]);
}

#[test]
fn what_was_lost_is_told_also_if_nothing_but_the_end_follows() {
    let (streaming, events) = Streaming::to_channel(1);
    let streaming = streaming.only([StreamType::Text]).slow(Slow::Drop);
    let agent = bot(&Script::new().says("1 2 3"), streaming);
    block_on(agent.call("Go")).unwrap();
    drop(agent);
    let seen: Vec<_> = block_on(all(events)).iter().map(short).collect();
    assert_eq!(seen, ["1 ", "-2", "= 1 2 3"]);
}

#[test]
fn a_reader_that_is_gone_neither_stops_nor_slows_a_call() {
    for slow in [Slow::Wait, Slow::Drop] {
        let (streaming, events) = Streaming::to_channel(1);
        let agent = bot(&Script::new().says("1 2 3").says("4 5"), streaming.slow(slow));
        drop(events);
        assert_eq!(agent.call("Go").now_or_never().unwrap().unwrap().text(), "1 2 3");
        assert_eq!(agent.call("Go").now_or_never().unwrap().unwrap().text(), "4 5");
    }
}

#[test]
fn a_reader_that_leaves_frees_a_call_that_waits() {
    let (streaming, events) = Streaming::to_channel(1);
    let agent = bot(&Script::new().says("1 2 3"), streaming);
    let mut call = Box::pin(agent.call("Go"));
    assert!((&mut call).now_or_never().is_none());
    drop(events);
    assert_eq!(call.now_or_never().unwrap().unwrap().text(), "1 2 3");
}

#[test]
fn a_call_that_waits_for_its_reader_can_be_interrupted() {
    let interrupt = Interrupt::new();
    let (streaming, events) = Streaming::to_channel(1);
    let agent = bot(&Script::new().says("1 2 3"), streaming);
    let mut call = Box::pin(agent.call_with(CallOptions::new().interrupt(interrupt.clone()), "Go"));
    assert!((&mut call).now_or_never().is_none());
    interrupt.interrupt();
    assert!(call.now_or_never().unwrap().is_ok());
    drop(agent);
    let seen: Vec<_> = block_on(all(events)).iter().map(short).collect();
    assert_eq!(seen, ["1 ", "failed: interrupted"]);
}

#[test]
fn a_callback_that_panics_is_contained_and_reported() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    let streaming = Streaming::to_callback(move |event| {
        counted.fetch_add(1, Ordering::Relaxed);
        assert!(event.kind.is_chunk(), "only chunks, please");
    });
    let agent = bot(&Script::new().says("1 2"), streaming);
    let (reports, records) = Reports::up_to(tracing::Level::WARN);
    let reply = tracing::subscriber::with_default(reports, || block_on(agent.call("Go")));
    assert_eq!(reply.unwrap().text(), "1 2");
    assert_eq!(count.load(Ordering::Relaxed), 3);
    let reports = records.take();
    let told = reports.iter().filter(|it| it.contains("the callback of a stream panicked"));
    assert_eq!(told.count(), 1, "{reports:?}");
}

#[test]
fn a_stream_ends_with_the_last_agent() {
    let (streaming, mut events) = Streaming::to_channel(1);
    let agent = bot(&Script::new(), streaming.clone());
    assert!(events.recv().now_or_never().is_none());
    drop(agent);
    assert!(events.recv().now_or_never().is_none());
    drop(streaming);
    assert_eq!(events.recv().now_or_never(), Some(None));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever the reader does, what it gets is in order, and read + told as lost = all.
    #[test]
    fn nothing_is_lost_untold(
        words in 1_usize..30,
        capacity in 1_usize..6,
        reads in prop::collection::vec(0_usize..4, 0..40),
    ) {
        let text = numbers(words);
        let (streaming, events) = Streaming::to_channel(capacity);
        let events = Arc::new(std::sync::Mutex::new(events));
        let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
        let (reader, read) = (events.clone(), seen.clone());
        let reads = std::sync::Mutex::new(reads.into_iter());
        // Between the chunks, the reader reads as many as it likes.
        let reading = on(move |_: &mut ReasoningChunk<'_>| {
            for _ in 0..reads.lock().unwrap().next().unwrap_or(0) {
                read.lock().unwrap().extend(reader.lock().unwrap().try_recv());
            }
        });
        let model = ScriptedModel::new("count", move |_| text.clone());
        let builder = ReActAgent::builder("bot").model(model).hook(streaming.slow(Slow::Drop));
        let agent = builder.hook(reading.with_priority(900)).build().unwrap();
        block_on(agent.call("Go")).unwrap();
        seen.lock().unwrap().extend(std::iter::from_fn(|| events.lock().unwrap().try_recv()));
        let mut next = 0;
        for event in seen.lock().unwrap().iter() {
            match &event.kind {
                AgentEventKind::ReasoningChunk(ContentBlock::Text { text }) => {
                    prop_assert_eq!(text.trim().parse::<u64>().unwrap(), next);
                    next += 1;
                }
                AgentEventKind::Lagged { dropped } => next += dropped,
                _ => prop_assert_eq!(next, words as u64),
            }
        }
    }
}
