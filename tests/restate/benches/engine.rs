//! The cost of a durable call: a step on the engine, a call of 40 steps, and steps a second, beside
//! the PostgreSQL store and a call without either.
//!
//! `cargo bench -p hooks-restate-tests --bench engine` prints one line per case. The server of Restate is the one
//! that `.ci/servers` installs; PostgreSQL is the server on loopback, where there is one.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hooks_agent::prelude::*;
use hooks_agent::store::{PostgresStore, Store};
use hooks_restate::{Agents, Worker};
use restate_sdk::prelude::*;
use serde_json::{Value, json};
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection};

#[path = "../engine.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod engine;

use engine::{Engine, free_port};

const SERVER: &str = "postgres://root@127.0.0.1/test";

/// How long a measurement of throughput runs.
const SPAN: Duration = Duration::from_secs(4);

/// The rounds of a call; each is an answer and a tool.
const ROUNDS: usize = 20;

/// Side effects of the engine, without an agent.
struct Bare;

#[restate_sdk::object(name = "Bare", client_visibility = "pub(crate)")]
impl Bare {
    #[handler]
    async fn steps(&self, ctx: ObjectContext<'_>, count: u32) -> Result<u32, HandlerError> {
        for _ in 0..count {
            ctx.run(async || Ok("done".to_owned())).await?;
        }
        Ok(count)
    }
}

/// An agent whose call is 20 answers with one tool call each, and an answer.
fn agent(store: Option<Arc<dyn Store>>) -> ReActAgent {
    let model = ScriptedModel::new("bench", |request| -> ScriptedAnswer {
        let since = request.messages.iter().rev().take_while(|msg| msg.role != Role::User);
        match since.filter(|msg| msg.role == Role::Assistant).count() {
            ROUNDS => "Done.".into(),
            round => ToolUse::new(format!("c{round}"), "look", json!({ "round": round })).into(),
        }
    });
    let look = FunctionTool::new("look", "Looks.", async |_: Value| "a town of 20,000");
    let builder = ReActAgent::builder("bench").model(model).tool(look).max_iters(ROUNDS + 1);
    let builder = match store {
        Some(store) => builder.store(store),
        None => builder,
    };
    builder.build().expect("the agent has a model")
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// A thread that nobody used.
fn fresh() -> String {
    static THREAD: AtomicU64 = AtomicU64::new(0);
    format!("t{}", THREAD.fetch_add(1, Ordering::Relaxed))
}

/// The time of the fastest of several runs.
async fn fastest<F: Future<Output = ()>>(run: impl Fn() -> F) -> Duration {
    let mut fastest = Duration::MAX;
    for _ in 0..9 {
        let started = Instant::now();
        run().await;
        fastest = fastest.min(started.elapsed());
    }
    fastest
}

/// How many runs a second this many workers do.
async fn throughput<F>(workers: usize, run: impl Fn() -> F + Clone + Send + 'static) -> f64
where
    F: Future<Output = ()> + Send + 'static,
{
    let until = Instant::now() + SPAN;
    let running = (0..workers).map(|_| {
        let run = run.clone();
        tokio::spawn(async move {
            let mut count = 0_u32;
            while Instant::now() < until {
                run().await;
                count += 1;
            }
            count
        })
    });
    let mut count = 0;
    for worker in running.collect::<Vec<_>>() {
        count += worker.await.expect("no worker panics");
    }
    f64::from(count) / SPAN.as_secs_f64()
}

async fn durable(engine: &Engine) {
    let (status, reply) =
        engine.call(&format!("bench/{}", fresh()), "call", &json!({ "text": "Go" })).await;
    assert_eq!(status, 200, "{reply}");
}

async fn bare(engine: &Engine, service: &str, count: u32) {
    let url = format!("{}/{service}/{}/steps", engine.ingress(), fresh());
    let answer = engine.http.post(url).json(&count).send().await.expect("the engine answers");
    assert!(answer.status().is_success(), "{}", answer.status());
}

/// Steps of a call: an answer and a tool each round, and the last answer.
const STEPS: u32 = 2 * 20 + 1;

async fn steps(engine: &Engine) {
    let per_step = |all: Duration, one: Duration| millis(all.saturating_sub(one)) / 40.0;
    let one = fastest(|| bare(engine, "Bare", 1)).await;
    let many = fastest(|| bare(engine, "Bare", 41)).await;
    println!("a step; the fastest of 9 runs");
    println!("  a side effect of the engine    {:7.3} ms", per_step(many, one));
    let call = fastest(|| durable(engine)).await;
    println!("  a step of an agent             {:7.3} ms", millis(call) / f64::from(STEPS));
    println!("a call of {STEPS} steps");
    println!("  on the engine                  {:7.2} ms", millis(call));
}

async fn postgres() -> Option<(PgConnection, String, Arc<ReActAgent>)> {
    let Ok(conn) = PgConnection::connect(SERVER).await else {
        println!("  PostgresStore: not measured, there is no server at 127.0.0.1");
        return None;
    };
    let schema = format!("hooks_engine_{}", std::process::id());
    let store = PostgresStore::options().schema(&schema).connections(16).connect(SERVER).await;
    let store = store.expect("the server takes the schema");
    Some((conn, schema, Arc::new(agent(Some(Arc::new(store))))))
}

async fn call(agent: &ReActAgent) {
    let options = CallOptions::new().thread(fresh());
    agent.call_with(options, "Go").await.expect("it answers");
}

#[tokio::main]
async fn main() {
    let Some(engine) = Engine::start().await else { return };
    let engine = Arc::new(engine);
    let port = free_port();
    let address = format!("127.0.0.1:{port}").parse().expect("it is an address");
    let listener = Worker::listen_shared(address).expect("the port is free");
    let worker = Worker::new(Agents::new([agent(None)])).bind(Bare);
    tokio::spawn(worker.serve(listener, pending()));
    engine.register(port).await;

    steps(&engine).await;
    let plain = Arc::new(agent(None));
    println!("  in the process alone           {:7.2} ms", millis(fastest(|| call(&plain)).await));
    let stored = postgres().await;
    if let Some((.., stored)) = &stored {
        let time = fastest(|| call(stored)).await;
        println!("  with PostgresStore             {:7.2} ms", millis(time));
    }

    println!("steps a second, calls on threads of their own");
    println!("  at once   on the engine   with PostgresStore");
    for count in [1, 2, 4, 8, 16] {
        let own = engine.clone();
        let run = move || {
            let engine = own.clone();
            async move { durable(&engine).await }
        };
        let calls = throughput(count, run).await;
        let store = match &stored {
            None => "not measured".to_owned(),
            Some((.., stored)) => {
                let stored = stored.clone();
                let run = move || {
                    let stored = stored.clone();
                    async move { call(&stored).await }
                };
                format!("{:18.0}", throughput(count, run).await * f64::from(STEPS))
            }
        };
        println!("  {count:7}   {:13.0}   {store}", calls * f64::from(STEPS));
    }
    if let Some((mut conn, schema, stored)) = stored {
        drop(stored);
        let drop = format!("DROP SCHEMA {schema} CASCADE");
        sqlx::raw_sql(AssertSqlSafe(drop)).execute(&mut conn).await.expect("the schema is dropped");
    }
    nodelay(&engine).await;
}

/// The same steps on the server of the SDK, which does not set `TCP_NODELAY`.
async fn nodelay(engine: &Engine) {
    let endpoint = Endpoint::builder().bind(Bare).build();
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.expect("a port is free");
    let port = listener.local_addr().expect("it is bound").port();
    tokio::spawn(HttpServer::new(endpoint).serve(listener));
    engine.register(port).await;
    let one = fastest(|| bare(engine, "Bare", 1)).await;
    let many = fastest(|| bare(engine, "Bare", 41)).await;
    let step = millis(many.saturating_sub(one)) / 40.0;
    println!("a side effect on the server of the SDK, without TCP_NODELAY: {step:.3} ms");
}
