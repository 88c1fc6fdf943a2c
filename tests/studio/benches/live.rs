//! The cost of watching a turn: in the studio, also with a browser that reads nothing, and in spans
//! and metrics of OpenTelemetry whose exporters throw them away.
//!
//! `cargo bench -p hooks-agent-studio-tests --bench live` prints one line per case. A turn is that of the bench
//! `turn`: a question, a tool call, an answer. With a case and a number after `--` it makes so many turns and nothing
//! else, for a tool that counts instructions: `plain`, `asked`, `studio` or `names`.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::agent_hook;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::event::HookEvent;
use hooks_agent_core::hook::{ModelAttempt, NextAttempt, NextTool, ToolCall, priority};
use hooks_agent_core::message::{Msg, ToolResult};
use hooks_agent_core::model::ModelAnswer;
use hooks_agent_core::react::{ReActAgent, ReActAgentBuilder};
use hooks_agent_core::tool::{FunctionTool, ToolError};
use hooks_agent_otel::OpenTelemetry;
use hooks_agent_studio::Studio;
use hooks_core::HookRole;
use hooks_fixtures::scripted_agents::Immediate;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::metrics::data::ResourceMetrics;
use opentelemetry_sdk::metrics::exporter::PushMetricExporter;
use opentelemetry_sdk::metrics::{PeriodicReader, SdkMeterProvider, Temporality};
use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData, SpanExporter};
use serde_json::Value;
use tokio::runtime::Runtime;

/// An exporter that throws everything away.
#[derive(Debug)]
struct Nowhere;

impl SpanExporter for Nowhere {
    async fn export(&self, _: Vec<SpanData>) -> OTelSdkResult {
        Ok(())
    }
}

impl PushMetricExporter for Nowhere {
    async fn export(&self, _: &ResourceMetrics) -> OTelSdkResult {
        Ok(())
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
        Ok(())
    }

    fn temporality(&self) -> Temporality {
        Temporality::Cumulative
    }
}

fn builder() -> ReActAgentBuilder {
    let look = FunctionTool::new("look", "Looks.", async |_: Value| "a tree");
    ReActAgent::builder("bot").model(Immediate).tool(look)
}

/// Prints the median of many turns and the allocations of one, beside the plain turn.
fn turn(runtime: &Runtime, case: &str, plain: Option<Duration>, agent: &ReActAgent) -> Duration {
    let once = || {
        agent.memory().clear();
        let reply = runtime.block_on(agent.call(Msg::user("hi"))).expect("nothing fails");
        assert_eq!(reply.text(), "done");
    };
    once();
    let allocations = allocation_counter::measure(once).count_total;
    let mut samples: Vec<Duration> = Vec::new();
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(3) {
        let start = Instant::now();
        for _ in 0..1000 {
            once();
        }
        samples.push(start.elapsed() / 1000);
    }
    samples.sort_unstable();
    let time = samples[samples.len() / 2];
    let ratio = plain.map_or(1.0, |plain| time.as_secs_f64() / plain.as_secs_f64());
    println!("{case:<48} {time:>10.2?} {allocations:>12} {ratio:>6.2}x");
    time
}

fn main() {
    let runtime = Runtime::new().expect("there are threads");
    let arguments: Vec<_> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    if let [case, turns] = arguments.as_slice() {
        counted(&runtime, case, turns.parse().expect("a number of turns"));
        return;
    }
    println!("{:<48} {:>10} {:>12} {:>7}", "one turn", "time", "allocations", "plain");
    let plain = turn(&runtime, "plain", None, &builder().build().expect("it has a model"));
    print_studio(&runtime, plain);
    print_open_telemetry(&runtime, plain);
}

/// Makes turns of one case.
fn counted(runtime: &Runtime, case: &str, turns: usize) {
    let agent = match case {
        "plain" => builder(),
        "asked" => builder().hook(Asked),
        "studio" => builder().hook(Studio::new().hook()),
        "names" => builder().hook(Studio::new().show_content(false).hook()),
        other => panic!("no case is named {other}"),
    };
    let agent = agent.build().expect("it has a model");
    for _ in 0..turns {
        agent.memory().clear();
        runtime.block_on(agent.call(Msg::user("hi"))).expect("nothing fails");
    }
}

/// A hook that does nothing, at the places of the studio's: what it costs to be asked.
struct Asked;

#[agent_hook(name = "asked", priority = priority::METRICS, role = HookRole::Observes, inherit)]
impl Asked {
    fn see(&self, event: &mut HookEvent<'_>) {
        std::hint::black_box(event);
    }

    async fn around_model_attempt(
        &self,
        attempt: ModelAttempt<'_>,
        next: NextAttempt<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        next.run(attempt.into_request()).await
    }

    async fn around_tool_call(
        &self,
        call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        next.run(call.into_tool_use()).await
    }
}

fn print_studio(runtime: &Runtime, plain: Duration) {
    let asked = builder().hook(Asked).build().expect("it has a model");
    turn(runtime, "a hook that does nothing, at the same places", Some(plain), &asked);
    let studio = Studio::new();
    let agent = builder().hook(studio.hook()).build().expect("it has a model");
    turn(runtime, "Studio, nobody looks", Some(plain), &agent);
    let few = Studio::new().capacity(20, 5_000, 64 << 20);
    let of_few = builder().hook(few.hook()).build().expect("it has a model");
    turn(runtime, "Studio that keeps 20 runs, nobody looks", Some(plain), &of_few);
    let names = Studio::new().show_content(false);
    let agent_of_names = builder().hook(names.hook()).build().expect("it has a model");
    turn(runtime, "Studio without content, nobody looks", Some(plain), &agent_of_names);
    let server = runtime.block_on(studio.bind("127.0.0.1:0")).expect("there is a port");
    let serving = runtime.spawn(server.serve());
    let browser = stalled(&server.url());
    turn(runtime, "Studio, a browser that reads nothing", Some(plain), &agent);
    drop(browser);
    let alone = turn(runtime, "Studio again, nobody looks", Some(plain), &agent);
    let before = memory();
    // More than 32 streams are refused: each studio serves 25.
    let other = runtime.block_on(studio.bind("127.0.0.1:0")).expect("there is a port");
    let serving_other = runtime.spawn(other.serve());
    let urls = [server.url(), other.url()];
    let browsers: Vec<_> = (0..50).map(|number| stalled(&urls[number % 2])).collect();
    let watched = turn(runtime, "Studio, 50 browsers that read nothing", Some(plain), &agent);
    let entries = entries(&server.url());
    println!(
        "50 stalled browsers: {:.2} times the turn without them, {:.0} entries a second, memory {before} -> {} KiB",
        watched.as_secs_f64() / alone.as_secs_f64(),
        entries / watched.as_secs_f64(),
        memory(),
    );
    drop(browsers);
    runtime.block_on(other.shutdown());
    runtime.block_on(server.shutdown());
    drop((serving, serving_other));
}

/// Returns how many entries the newest run has.
fn entries(url: &str) -> f64 {
    let (address, cookie) = entered(url);
    let mut page = TcpStream::connect(&address).expect("the server listens");
    let head = format!("Host: {address}\r\nCookie: {cookie}\r\nConnection: close");
    write!(page, "GET /api/runs?limit=1 HTTP/1.1\r\n{head}\r\n\r\n").expect("it is sent");
    let mut answer = String::new();
    page.read_to_string(&mut answer).expect("it is text");
    let (_, body) = answer.split_once("\r\n\r\n").expect("it has a body");
    let runs: Value = serde_json::from_str(body).expect("JSON");
    runs["runs"][0]["events"].as_f64().expect("a number")
}

/// The memory of this process, in KiB.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}

fn print_open_telemetry(runtime: &Runtime, plain: Duration) {
    let tracer = SdkTracerProvider::builder().with_batch_exporter(Nowhere).build();
    let meter =
        SdkMeterProvider::builder().with_reader(PeriodicReader::builder(Nowhere).build()).build();
    let no_variables = |_: &str| None;
    let hook = || OpenTelemetry::builder().environment(no_variables);
    let spans = hook().tracer_provider(&tracer).build();
    let spans = builder().hook(spans).build().expect("it has a model");
    turn(runtime, "OpenTelemetry, spans", Some(plain), &spans);
    let both = hook().tracer_provider(&tracer).meter_provider(&meter).build();
    let both = builder().hook(both).build().expect("it has a model");
    turn(runtime, "OpenTelemetry, spans and metrics", Some(plain), &both);
}

/// Gives the token of the address for a cookie. Returns the address and the cookie.
fn entered(url: &str) -> (String, String) {
    let (address, token) = url.trim_start_matches("http://").split_once("/?token=").expect("a URL");
    let mut tab = TcpStream::connect(address).expect("the server listens");
    write!(tab, "GET /?token={token} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")
        .expect("it is sent");
    let mut answer = String::new();
    tab.read_to_string(&mut answer).expect("it is text");
    let cookie = answer.lines().find_map(|line| line.strip_prefix("set-cookie: "));
    let cookie = cookie.and_then(|cookie| cookie.split(';').next()).expect("the server sets one");
    (address.to_owned(), cookie.to_owned())
}

/// Opens the stream of events, and reads no more than its beginning.
fn stalled(url: &str) -> TcpStream {
    let (address, cookie) = entered(url);
    let mut stream = TcpStream::connect(&address).expect("the server listens");
    let head = format!("Host: {address}\r\nCookie: {cookie}\r\nAccept: text/event-stream");
    write!(stream, "GET /api/events HTTP/1.1\r\n{head}\r\n\r\n").expect("it is sent");
    let mut beginning = [0; 15];
    stream.read_exact(&mut beginning).expect("the server answers");
    assert_eq!(&beginning, b"HTTP/1.1 200 OK");
    stream
}
