//! The time to the first byte of an answer that streams: straight from an upstream on this machine, and through the proxy.
//!
//! Prints medians and 99th percentiles in microseconds, of one run in which the ways take turns.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::routing::post;
use axum::serve::ListenerExt;
use futures::stream;
use hooks_agent_builtin::guard::{PiiDetection, SensitiveWords, WordList};
use hooks_agent_core::call::CallContext;
use hooks_agent_core::react::{HookSet, HookSource};
use hooks_agent_guest::{Guard, GuestThreads, LiveThreads};
use hooks_agent_proxy::{ModelProxy, Provider, ProxyThreads};
use serde_json::{Value, json};
use tokio::net::TcpListener;

const ROUNDS: usize = 2_000;

struct Always(HookSet);

impl HookSource for Always {
    fn hooks(&self, _: &CallContext) -> HookSet {
        self.0.clone()
    }
}

/// One way to an answer.
struct Way {
    name: &'static str,
    url: String,
    times: Vec<Duration>,
}

#[tokio::main]
async fn main() {
    let upstream = upstream().await;
    let words = || SensitiveWords::new(WordList::new(["bluebird"]).unwrap());
    let guarded = || HookSet::join([&HookSet::of(words()), &HookSet::of(PiiDetection::all())]);
    let folder = tempfile::tempdir().unwrap();
    let threads = GuestThreads::open(folder.path().join("threads.db")).await.unwrap();
    let live = Arc::new(LiveThreads::open(folder.path().join("live.db")).await.unwrap());
    let writes = live.clone();
    tokio::spawn(async move { writes.write_changes().await });
    let memory = ProxyThreads::in_memory;
    let mut ways = [
        ("direct", format!("{upstream}/v1")),
        ("proxy, no hooks", proxy(&upstream, HookSet::default(), memory()).await),
        ("proxy, words and PII", proxy(&upstream, guarded(), memory()).await),
        (
            "the same, with a file behind",
            proxy(&upstream, guarded(), ProxyThreads::live(live)).await,
        ),
        ("the same, in a file", proxy(&upstream, guarded(), ProxyThreads::in_file(threads)).await),
    ]
    .map(|(name, url)| Way { name, url, times: Vec::with_capacity(ROUNDS) });
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let requests = [("a prompt of 1 KB", request(1)), ("a history of 100 KB", request(100))];
    for (name, request) in requests {
        for round in 0..ROUNDS + 100 {
            for way in &mut ways {
                let body = request(round);
                let time = first_byte(&client, &way.url, body).await;
                if round >= 100 {
                    way.times.push(time);
                }
            }
        }
        println!("{name}");
        let direct = median(&mut ways[0].times);
        for way in &mut ways {
            let middle = median(&mut way.times);
            let late = way.times[way.times.len() * 99 / 100];
            let (added, ratio) =
                (middle.saturating_sub(direct), middle.as_secs_f64() / direct.as_secs_f64());
            println!(
                "  {:<22} {:>6} us  p99 {:>6} us  +{:>5} us  x{ratio:.2}",
                way.name,
                middle.as_micros(),
                late.as_micros(),
                added.as_micros(),
            );
            way.times.clear();
        }
    }
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// Returns requests with a history of so many kilobytes, whose last prompt is new in each round.
fn request(kilobytes: usize) -> impl Fn(usize) -> String {
    let text = "All work and no play makes Jack a dull boy. ".repeat(23);
    let mut messages: Vec<Value> = Vec::new();
    for number in 1..kilobytes {
        let role = if number % 2 == 1 { "user" } else { "assistant" };
        messages.push(json!({ "role": role, "content": format!("{number} {text}") }));
    }
    move |round| {
        let mut messages = messages.clone();
        messages.push(json!({ "role": "user", "content": format!("round {round}: {text}") }));
        json!({ "model": "m", "stream": true, "messages": messages }).to_string()
    }
}

async fn first_byte(client: &reqwest::Client, url: &str, body: String) -> Duration {
    let request = client.post(format!("{url}/chat/completions"));
    let request = request.header("content-type", "application/json").header("session_id", "s");
    let begin = Instant::now();
    let mut response = request.body(body).send().await.unwrap();
    assert_eq!(response.status(), 200);
    response.chunk().await.unwrap().unwrap();
    let time = begin.elapsed();
    while response.chunk().await.unwrap().is_some() {}
    time
}

async fn upstream() -> String {
    let chunk = |delta: Value, finish: Value| {
        let chunk = json!({ "id": "c", "model": "m", "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] });
        format!("data: {chunk}\n\n")
    };
    let begin = chunk(json!({ "role": "assistant", "content": "" }), Value::Null);
    let said = chunk(json!({ "content": "Good morning, how may I help you today?" }), Value::Null);
    let end = chunk(json!({}), "stop".into());
    let chunks = [begin, said, end, "data: [DONE]\n\n".to_owned()];
    let answer = move || {
        let chunks = chunks.clone().map(Ok::<_, Infallible>);
        async move { ([("content-type", "text/event-stream")], Body::from_stream(stream::iter(chunks))) }
    };
    let router = Router::new().route("/v1/chat/completions", post(answer));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let listener = listener.tap_io(|io| io.set_nodelay(true).unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

async fn proxy(upstream: &str, hooks: HookSet, threads: ProxyThreads) -> String {
    let proxy = ModelProxy::new(Guard::new(Always(hooks)), threads).unwrap();
    let proxy = proxy.upstream(Provider::OpenAi, &format!("{upstream}/v1")).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/openai/v1", listener.local_addr().unwrap());
    tokio::spawn(proxy.serve(listener));
    url
}
