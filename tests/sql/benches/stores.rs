//! The cost of stores: a turn on each, the writes of a step, and the throughput of PostgreSQL.
//!
//! `cargo bench -p hooks-agent-sql-tests --bench stores` prints one line per case. SQLite is a file in memory
//! (`/dev/shm`) with `synchronous=OFF`, to leave the disk out; PostgreSQL is the server on loopback,
//! where there is one.

use std::hint::black_box;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hooks_agent_core::prelude::*;
use hooks_agent_core::store::Store;
use hooks_agent_core::thread::MemoryStore;
use hooks_agent_sql::store::{PostgresStore, SqliteStore, Synchronous};
use serde_json::{Value, json};
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};
use tokio::runtime::{Builder, Runtime};

const SERVER: &str = "postgres://root@127.0.0.1/test";

/// How long a measurement of throughput runs.
const SPAN: Duration = Duration::from_secs(4);

/// A tool that only reads.
struct Look(Value);

impl Tool for Look {
    fn name(&self) -> &'static str {
        "look"
    }

    fn description(&self) -> &'static str {
        "Looks."
    }

    fn schema(&self) -> &Value {
        &self.0
    }

    fn is_idempotent(&self) -> bool {
        true
    }

    fn call(&self, _: ToolContext) -> hooks_agent_core::tool::ToolFuture<'_> {
        Box::pin(async { Ok("a town of 20,000".into()) })
    }
}

/// An agent whose turn is an answer with one tool call, its result, and an answer.
fn agent(store: Option<Arc<dyn Store>>) -> Arc<ReActAgent> {
    let model = ScriptedModel::new("bench", |request| -> ScriptedAnswer {
        match request.messages.last().and_then(|msg| msg.tool_results().next()) {
            Some(_) => "It is a town.".into(),
            None => ToolUse::new("1", "look", json!({ "place": "Delft" })).into(),
        }
    });
    let builder = ReActAgent::builder("bench").model(model).tool(Look(json!({ "type": "object" })));
    let builder = match store {
        Some(store) => builder.store(store),
        None => builder,
    };
    Arc::new(builder.build().expect("the agent has a model"))
}

/// The time of a turn, of the fastest of several runs of many turns on fresh threads.
fn turn(runtime: &Runtime, agent: &Arc<ReActAgent>, turns: u32) -> Duration {
    static THREAD: AtomicU64 = AtomicU64::new(0);
    let mut fastest = Duration::MAX;
    for _ in 0..9 {
        let number = THREAD.fetch_add(1, Ordering::Relaxed);
        let started = Instant::now();
        runtime.block_on(async {
            for turn in 0..turns {
                // Ten turns on each thread.
                let thread = format!("{number}-{}", turn / 10);
                let options = CallOptions::new().thread(thread);
                black_box(agent.call_with(options, "Where is it?").await.expect("it answers"));
            }
        });
        fastest = fastest.min(started.elapsed() / turns);
    }
    fastest
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn turns(runtime: &Runtime, folder: &std::path::Path) {
    println!("a turn: 2 model calls, 1 tool; the fastest of 9 runs, ten turns a thread");
    let plain = agent(None);
    let kept = agent(Some(Arc::new(MemoryStore::new())));
    let before = turn(runtime, &plain, 2000);
    let memory = turn(runtime, &kept, 2000);
    let plain = turn(runtime, &plain, 2000).min(before);
    println!("  no store            {:8.2} us", micros(plain));
    println!(
        "  MemoryStore         {:8.2} us   {:.3} of no store (goal 1.03)",
        micros(memory),
        memory.as_secs_f64() / plain.as_secs_f64()
    );
    let sqlite = runtime.block_on(async {
        SqliteStore::options().synchronous(Synchronous::Off).open(folder.join("turns.db")).await
    });
    let sqlite = turn(runtime, &agent(Some(Arc::new(sqlite.expect("it opens")))), 200);
    println!(
        "  SqliteStore         {:8.2} us   {:.0} us over no store (goal 400): a lease and 4 commits",
        micros(sqlite),
        micros(sqlite.saturating_sub(plain))
    );
}

/// How the log of a file grows by one turn, on threads of several lengths.
fn bytes(runtime: &Runtime, folder: &std::path::Path) {
    println!("bytes of the log of one turn, by the messages of the thread before");
    for length in [0_u32, 1_000, 4_000] {
        let path = folder.join(format!("bytes-{length}.db"));
        let log = path.with_extension("db-wal");
        let grown = runtime.block_on(async {
            let options = SqliteStore::options().synchronous(Synchronous::Off);
            let agent = agent(Some(Arc::new(options.open(&path).await.expect("it opens"))));
            for _ in 0..length / 4 {
                agent.call("Where is it?").await.expect("it answers");
            }
            // The log starts anew when it is written back; a turn between has its own length.
            let mut smallest = u64::MAX;
            for _ in 0..5 {
                let before = std::fs::metadata(&log).map_or(0, |file| file.len());
                agent.call("Where is it?").await.expect("it answers");
                let after = std::fs::metadata(&log).map_or(0, |file| file.len());
                if after > before {
                    smallest = smallest.min(after - before);
                }
            }
            smallest
        });
        match grown {
            u64::MAX => println!("  {length:6} messages   the log was reused, not measured"),
            grown => println!("  {length:6} messages   {grown:8} bytes"),
        }
    }
}

/// Turns and commits a second of this many workers on threads of their own.
async fn workers(store: &PostgresStore, workers: usize) -> f64 {
    let agent = agent(Some(Arc::new(store.clone())));
    let until = Instant::now() + SPAN;
    let running = (0..workers).map(|worker| {
        let agent = agent.clone();
        tokio::spawn(async move {
            let mut turns = 0_u32;
            while Instant::now() < until {
                let thread = format!("w{worker}-{}", turns / 10);
                let options = CallOptions::new().thread(thread);
                agent.call_with(options, "Where is it?").await.expect("it answers");
                turns += 1;
            }
            turns
        })
    });
    let mut turns = 0;
    for worker in running.collect::<Vec<_>>() {
        turns += worker.await.expect("no worker panics");
    }
    f64::from(turns) / SPAN.as_secs_f64()
}

/// Transactions a second as `pgbench -N` has them: an update, a select and an insert of one row.
async fn transactions(options: &PgConnectOptions, workers: usize) -> f64 {
    let until = Instant::now() + SPAN;
    let running = (0..workers).map(|worker| {
        let options = options.clone();
        tokio::spawn(async move {
            let mut conn = options.connect().await.expect("the server answers");
            let mut count = 0_u32;
            while Instant::now() < until {
                let id = i64::from(count % 1000) + i64::try_from(worker).unwrap_or(0) * 1000;
                for statement in ["BEGIN", UPDATE, SELECT, INSERT, "COMMIT"] {
                    let query = sqlx::query(statement);
                    let is_bound = statement.contains("$1");
                    let query = if is_bound { query.bind(id) } else { query };
                    query.execute(&mut conn).await.expect("the statement runs");
                }
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

const UPDATE: &str = "UPDATE bench_account SET balance = balance + 1 WHERE id = $1";
const SELECT: &str = "SELECT balance FROM bench_account WHERE id = $1";
const INSERT: &str = "INSERT INTO bench_history (id, delta) VALUES ($1, 1)";

async fn server() {
    let Ok(mut conn) = PgConnection::connect(SERVER).await else {
        println!("PostgreSQL: not measured, there is no server at 127.0.0.1");
        return;
    };
    let schema = format!("hooks_bench_{}", std::process::id());
    let store = PostgresStore::options().schema(&schema).connections(16).connect(SERVER).await;
    let store = store.expect("the server takes the schema");
    let options: PgConnectOptions = SERVER.parse().expect("it is a URL");
    let options = options.options([("search_path", schema.as_str())]);
    let tables = format!(
        "SET search_path TO {schema};
        CREATE TABLE bench_account (id BIGINT PRIMARY KEY, balance BIGINT NOT NULL);
        INSERT INTO bench_account SELECT id, 0 FROM generate_series(0, 16000) AS id;
        CREATE TABLE bench_history (id BIGINT, delta BIGINT)"
    );
    sqlx::raw_sql(AssertSqlSafe(tables)).execute(&mut conn).await.expect("the tables are made");
    println!("PostgreSQL on loopback, distinct threads: a turn is a lease and 4 commits");
    println!("  workers   turns/s   commits/s   `pgbench -N` transactions/s   ratio (goal 0.8)");
    for count in [1, 2, 4, 8, 16] {
        let turns = workers(&store, count).await;
        let commits = turns * 5.0;
        let others = transactions(&options, count).await;
        let ratio = commits / others;
        println!("  {count:7}   {turns:7.0}   {commits:9.0}   {others:27.0}   {ratio:.2}");
    }
    let drop = format!("DROP SCHEMA {schema} CASCADE");
    sqlx::raw_sql(AssertSqlSafe(drop)).execute(&mut conn).await.expect("the schema is dropped");
}

fn main() {
    let one = Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    let memory = PathBuf::from("/dev/shm");
    let parent = if memory.is_dir() { memory } else { std::env::temp_dir() };
    let folder = tempfile::tempdir_in(parent).expect("a folder is made");
    turns(&one, folder.path());
    bytes(&one, folder.path());
    let many = Builder::new_multi_thread().enable_all().build().expect("a runtime starts");
    many.block_on(server());
}
