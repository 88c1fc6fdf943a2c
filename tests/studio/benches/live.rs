//! The cost of watching a turn: in the studio, also with a browser that reads nothing, and in spans
//! and metrics of OpenTelemetry whose exporters throw them away.
//!
//! `cargo bench -p hooks-agent-studio-tests --bench live` prints one line per case. A turn is that of the bench
//! `turn`: a question, a tool call, an answer.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::message::Msg;
use hooks_agent_core::react::{ReActAgent, ReActAgentBuilder};
use hooks_agent_core::tool::FunctionTool;
use hooks_agent_otel::OpenTelemetry;
use hooks_agent_studio::Studio;
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
    println!("{:<48} {:>10} {:>12} {:>7}", "one turn", "time", "allocations", "plain");
    let plain = turn(&runtime, "plain", None, &builder().build().expect("it has a model"));
    print_studio(&runtime, plain);
    print_open_telemetry(&runtime, plain);
}

fn print_studio(runtime: &Runtime, plain: Duration) {
    let studio = Studio::new();
    let agent = builder().hook(studio.hook()).build().expect("it has a model");
    turn(runtime, "Studio, nobody looks", Some(plain), &agent);
    let names = Studio::new().show_content(false);
    let agent_of_names = builder().hook(names.hook()).build().expect("it has a model");
    turn(runtime, "Studio without content, nobody looks", Some(plain), &agent_of_names);
    let server = runtime.block_on(studio.bind("127.0.0.1:0")).expect("there is a port");
    let serving = runtime.spawn(server.serve());
    let browser = stalled(&server.url());
    turn(runtime, "Studio, a browser that reads nothing", Some(plain), &agent);
    drop(browser);
    runtime.block_on(server.shutdown());
    drop(serving);
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

/// Opens the stream of events, and reads no more than its beginning.
fn stalled(url: &str) -> TcpStream {
    let (address, token) = url.trim_start_matches("http://").split_once("/?token=").expect("a URL");
    let mut tab = TcpStream::connect(address).expect("the server listens");
    write!(tab, "GET /?token={token} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")
        .expect("it is sent");
    let mut answer = String::new();
    tab.read_to_string(&mut answer).expect("it is text");
    let cookie = answer.lines().find_map(|line| line.strip_prefix("set-cookie: "));
    let cookie = cookie.and_then(|cookie| cookie.split(';').next()).expect("the server sets one");
    let mut stream = TcpStream::connect(address).expect("the server listens");
    let head = format!("Host: {address}\r\nCookie: {cookie}\r\nAccept: text/event-stream");
    write!(stream, "GET /api/events HTTP/1.1\r\n{head}\r\n\r\n").expect("it is sent");
    let mut beginning = [0; 15];
    stream.read_exact(&mut beginning).expect("the server answers");
    assert_eq!(&beginning, b"HTTP/1.1 200 OK");
    stream
}
