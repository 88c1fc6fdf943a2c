//! The stream of all runs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hooks_agent_core::prelude::*;
use hooks_agent_studio::Studio;
use reqwest::{Method, StatusCode};
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::support::{Message, open, says};

fn clerk(studio: &Studio) -> ReActAgent {
    ReActAgent::builder("clerk").model(says("one two three")).hook(studio.hook()).build().unwrap()
}

/// The numbers of the entries.
fn ids(messages: &[Message]) -> Vec<u64> {
    messages.iter().filter_map(|message| message.id).collect()
}

// ST-11
#[tokio::test]
async fn a_reader_that_comes_back_misses_nothing_and_sees_nothing_twice() {
    let studio = Studio::new();
    let (agent, browser) = (clerk(&studio), open(&studio).await);
    let mut whole = browser.events(None).await;
    agent.call("Go").await.unwrap();
    agent.call("Again").await.unwrap();
    let mut all = ids(&whole.until_settled().await);
    all.extend(ids(&whole.until_settled().await));

    // It goes after each entry, and comes back.
    let end = *all.last().unwrap();
    for (index, last) in all.iter().enumerate().take(all.len() - 1) {
        let mut again = browser.events(Some(*last)).await;
        let seen = again.until(|it| it.id == Some(end)).await;
        assert_eq!(ids(&seen), all[index + 1..]);
    }
}

#[tokio::test]
async fn a_number_that_is_none_or_of_another_process_means_a_reload() {
    let studio = Studio::new();
    let (agent, browser) = (clerk(&studio), open(&studio).await);
    agent.call("Go").await.unwrap();
    for last in ["0", "17", "no", "99999999999999999999", "9007199254740991", "-1"] {
        let request = browser.request(Method::GET, "/api/events").header("last-event-id", last);
        let answer = request.send().await.unwrap();
        let first = crate::support::Stream::new(answer).next().await.unwrap();
        assert_eq!(first.event, "resync", "{last}");
        assert_eq!(first.data["seq"], first.id.unwrap());
    }
}

#[tokio::test]
async fn a_listing_and_the_stream_after_it_are_everything() {
    let studio = Studio::new();
    let (agent, browser) = (clerk(&studio), open(&studio).await);
    agent.call("Go").await.unwrap();
    let listed = browser.json("/api/runs").await["seq"].as_u64().unwrap();
    agent.call("Again").await.unwrap();

    let answer = browser.get(&format!("/api/events?after={listed}")).await;
    let mut stream = crate::support::Stream::new(answer);
    let seen = stream.until_settled().await;

    assert_eq!(seen[0].event, "run");
    assert_eq!(seen[0].data["title"], "Again");
    assert_eq!(ids(&seen)[0], listed + 1);
}

// ST-09
/// Runs write beside each other, each below its own lock: numbers are given and entries are there.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_reader_beside_calls_that_overlap_gets_each_number_once_and_in_order() {
    const CALLS: usize = 400;
    let studio = Studio::new();
    let agent = ReActAgent::builder("clerk").model(says("One word after the other."));
    let agent = Arc::new(agent.hook(studio.hook()).build().unwrap());
    let browser = open(&studio).await;
    let mut stream = browser.events(None).await;
    let call = |index: usize| {
        let options = CallOptions::new().thread(index.to_string());
        tokio::spawn(agent.clone().call_owned(options, "Go"))
    };
    let calls: Vec<_> = (0..CALLS).map(call).collect();
    let (mut numbers, mut ended) = (Vec::new(), 0);
    while ended < CALLS {
        let message = stream.next().await.unwrap();
        assert_ne!(message.event, "resync", "all of it is in the ring");
        ended += usize::from(message.data["type"] == "settled");
        numbers.extend(message.id);
    }
    for call in calls {
        call.await.unwrap().unwrap();
    }
    assert!(numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{numbers:?}");
    let of_run = numbers.len() / CALLS;
    assert_eq!((of_run * CALLS, of_run > 10), (numbers.len(), true));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_that_stalls_costs_nothing_and_is_told_to_reload() {
    let words: String = "word ".repeat(10_000);
    let model = move |studio: &Studio| {
        let words = words.clone();
        let model = ScriptedModel::new("long", move |_| words.clone());
        ReActAgent::builder("clerk").model(model).hook(studio.hook()).build().unwrap()
    };
    let time = async |agent: &ReActAgent| {
        let start = Instant::now();
        agent.call("Go").await.unwrap();
        start.elapsed()
    };
    let alone = time(&model(&Studio::new())).await;

    let studio = Studio::new();
    let browser = open(&studio).await;
    // A browser that sends its request and reads nothing.
    let mut stalled = TcpStream::connect(browser.server.address()).await.unwrap();
    let (host, cookie) = (browser.server.address(), &browser.cookie);
    let request = format!("GET /api/events HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n\r\n");
    stalled.write_all(request.as_bytes()).await.unwrap();
    let mut slow = browser.events(None).await;
    let agent = model(&studio);
    let watched = time(&agent).await;
    assert!(watched < alone * 4 + Duration::from_secs(1), "{watched:?}, alone {alone:?}");

    // The run has 5,000 entries: what the slow reader had not read is gone.
    let seen = slow.until(|it| it.event == "resync" || it.data["type"] == "settled").await;
    let run = browser.newest().await;
    assert_eq!(run["entries"].as_array().unwrap().len(), 5_000);
    assert!(run["runs"][0]["dropped"].as_u64().unwrap() > 5_000);
    let last = browser.events(Some(ids(&seen)[0])).await.next().await.unwrap();
    assert_eq!(last.event, "resync");
    drop(stalled);
}

#[tokio::test]
async fn at_most_32_streams_are_open() {
    let studio = Studio::new();
    let browser = open(&studio).await;
    let mut open = Vec::new();
    for _ in 0..32 {
        open.push(browser.events(None).await);
    }
    let refused = browser.get("/api/events").await;
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    let body: Value = refused.json().await.unwrap();
    assert_eq!(body["error"], "streams");

    // One that is closed makes room, once the server sees that it is.
    open.clear();
    let agent = clerk(&studio);
    let mut status = StatusCode::SERVICE_UNAVAILABLE;
    for _ in 0..100 {
        agent.call("Go").await.unwrap();
        status = browser.get("/api/events").await.status();
        if status == StatusCode::OK {
            break;
        }
    }
    assert_eq!(status, StatusCode::OK);
}

// ST-12
#[tokio::test]
async fn a_shutdown_ends_open_streams_within_a_second() {
    let studio = Studio::new();
    let browser = open(&studio).await;
    let mut stream = browser.events(None).await;
    clerk(&studio).call("Go").await.unwrap();
    stream.until_settled().await;
    // A connection without a request, and one with half of one.
    let _idle = TcpStream::connect(browser.server.address()).await.unwrap();
    let mut half = TcpStream::connect(browser.server.address()).await.unwrap();
    half.write_all(b"POST /api/approvals/x HTTP/1.1\r\nHost: ").await.unwrap();

    let start = Instant::now();
    browser.server.shutdown().await;

    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    assert!(stream.next().await.is_none());
    assert!(TcpStream::connect(browser.server.address()).await.is_err());
    // Again, and of a server that is not served.
    browser.server.shutdown().await;
    let server = studio.bind("127.0.0.1:0").await.unwrap();
    server.shutdown().await;
    server.serve().await.unwrap();
}

#[tokio::test]
async fn calls_go_on_after_a_shutdown() {
    let studio = Studio::new();
    let (agent, browser) = (Arc::new(clerk(&studio)), open(&studio).await);
    browser.server.shutdown().await;
    assert_eq!(agent.call("Go").await.unwrap().text(), "one two three");
    let again = open(&studio).await;
    assert_eq!(again.runs().await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_silent_stream_says_that_it_is_there() {
    let browser = open(&Studio::new()).await;
    let request = browser.request(reqwest::Method::GET, "/api/events");
    let mut answer = request.send().await.unwrap();
    let mut text = String::new();
    while text.matches(": quiet\n\n").count() < 3 {
        let chunk = answer.chunk().await.unwrap().expect("the stream goes on");
        text.push_str(std::str::from_utf8(&chunk).unwrap());
    }
}
