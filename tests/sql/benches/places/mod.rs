//! The stores of a bench, and turns on them beside each other: in a process, in a file, on a server.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_core::store::Store;
use hooks_agent_core::thread::MemoryStore;
use hooks_agent_sql::store::{PostgresStore, SqliteStore, Synchronous};
use serde_json::json;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

const SERVER: &str = "postgres://root@127.0.0.1/test";

/// Whose turns are measured.
pub(crate) const USER: &str = "ada";

/// The runs of a case, of which the fastest counts.
const RUNS: usize = 9;

/// A store.
pub(crate) struct Place {
    pub(crate) name: &'static str,
    pub(crate) store: Arc<dyn Store>,
    database: Database,
}

enum Database {
    Process,
    File(PathBuf, #[expect(dead_code, reason = "it is removed with this")] TempDir),
    Schema(String),
}

/// Returns the runtime of a bench, of one thread.
pub(crate) fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime starts")
}

/// Opens one store of each kind that the machine has. The file is in memory, where there is a folder for that, and is
/// not synchronized, to leave the disk out.
pub(crate) async fn places() -> Vec<Place> {
    let memory = Arc::new(MemoryStore::new());
    let mut places = vec![Place { name: "Memory", store: memory, database: Database::Process }];

    let parent = PathBuf::from("/dev/shm");
    let parent = if parent.is_dir() { parent } else { std::env::temp_dir() };
    let folder = tempfile::tempdir_in(parent).expect("a folder is made");
    let path = folder.path().join("bench.db");
    let store = SqliteStore::options().synchronous(Synchronous::Off).open(&path).await;
    let store = Arc::new(store.expect("it opens"));
    places.push(Place { name: "SQLite", store, database: Database::File(path, folder) });

    match PgConnection::connect(SERVER).await {
        Ok(_) => {
            let schema = format!("hooks_bench_{}", std::process::id());
            let store = PostgresStore::options().schema(&schema).connections(4).connect(SERVER);
            let store = Arc::new(store.await.expect("the server takes the schema"));
            places.push(Place { name: "PostgreSQL", store, database: Database::Schema(schema) });
        }
        Err(error) => println!("PostgreSQL: not measured, no server at 127.0.0.1: {error}"),
    }
    places
}

impl Place {
    /// Runs statements on the database, each in a transaction of its own. In a process there is none.
    pub(crate) async fn sql(&self, statements: &[String]) {
        for statement in statements {
            let statement = sqlx::raw_sql(AssertSqlSafe(statement.clone()));
            match &self.database {
                Database::Process => {}
                Database::File(path, _) => {
                    let options = SqliteConnectOptions::new().filename(path);
                    let mut conn = options.connect().await.expect("the file opens");
                    conn.execute(statement).await.expect("the statement runs");
                }
                Database::Schema(schema) => {
                    let options: PgConnectOptions = SERVER.parse().expect("it is a URL");
                    let options = options.options([("search_path", schema.as_str())]);
                    let mut conn = options.connect().await.expect("the server answers");
                    conn.execute(statement).await.expect("the statement runs");
                }
            }
        }
    }

    /// Removes what the server has of it. The folder of a file goes with the place.
    pub(crate) async fn remove(self) {
        if let Database::Schema(schema) = &self.database {
            self.sql(&[format!("DROP SCHEMA {schema} CASCADE")]).await;
        }
    }

    /// Prints the turns of agents beside those of the first: the time, the allocations of the
    /// thread that calls, and the transactions that a file has of one turn.
    pub(crate) fn print_turns(&self, runtime: &Runtime, turns: u32, cases: &[(&str, &ReActAgent)]) {
        let mut times = vec![Duration::MAX; cases.len()];
        for _ in 0..RUNS {
            // In turns: what the machine does meanwhile is the same for all.
            for ((_, agent), fastest) in cases.iter().zip(&mut times) {
                *fastest = (*fastest).min(run(runtime, agent, turns));
            }
        }
        for ((case, agent), time) in cases.iter().zip(&times) {
            let ratio = time.as_secs_f64() / times[0].as_secs_f64();
            let counted = allocation_counter::measure(|| {
                run(runtime, agent, 1);
            });
            let commits = self.commits(runtime, agent);
            let commits = commits.map_or_else(|| "-".to_owned(), |count| count.to_string());
            let Self { name, .. } = self;
            let count = counted.count_total;
            println!("{name:<11} {case:<44} {time:>10.2?} {ratio:>6.2}x {count:>12} {commits:>8}");
        }
    }

    /// Returns how many transactions one turn writes to a file.
    fn commits(&self, runtime: &Runtime, agent: &ReActAgent) -> Option<usize> {
        let Database::File(path, _) = &self.database else { return None };
        let log = path.with_extension("db-wal");
        loop {
            let before = transactions(&log);
            run(runtime, agent, 1);
            let after = transactions(&log);
            // The log starts anew when it was written back; a turn between is not counted.
            if before.0 == after.0 {
                return Some(after.1 - before.1);
            }
        }
    }
}

/// Returns the salt of a write-ahead log of SQLite, and how many transactions it has. See
/// <https://sqlite.org/fileformat2.html#the_write_ahead_log>.
fn transactions(log: &Path) -> (Vec<u8>, usize) {
    let log = std::fs::read(log).expect("the log is there");
    let (header, frames) = log.split_at(32);
    let page = u32::from_be_bytes(header[8..12].try_into().expect("it has four bytes"));
    let frame = 24 + usize::try_from(page).expect("a page is small");
    let salt = &header[16..24];
    let frames = frames.chunks_exact(frame).take_while(|frame| frame[8..16] == *salt);
    // The last frame of a transaction has the size of the file.
    (salt.to_vec(), frames.filter(|frame| frame[4..8] != [0; 4]).count())
}

/// The time of a turn, of many on fresh threads, ten on each.
fn run(runtime: &Runtime, agent: &ReActAgent, turns: u32) -> Duration {
    static THREAD: AtomicU64 = AtomicU64::new(0);
    let number = THREAD.fetch_add(1, Ordering::Relaxed);
    let started = Instant::now();
    runtime.block_on(async {
        for turn in 0..turns {
            let thread = format!("{number}-{}", turn / 10);
            let options = CallOptions::new().thread(thread).user(USER);
            let reply = agent.call_with(options, "Pay the bakery").await.expect("it answers");
            assert_eq!(reply.text(), "It is paid.");
        }
    });
    started.elapsed() / turns
}

/// An agent whose turn is an answer with a call of `pay`, its result, and an answer.
pub(crate) fn payer(store: Arc<dyn Store>) -> ReActAgentBuilder {
    let model = ScriptedModel::new("bench", |request| -> ScriptedAnswer {
        match request.messages.last().and_then(|msg| msg.tool_results().next()) {
            Some(result) if result.output.as_str() == "paid" => "It is paid.".into(),
            Some(result) => result.output.as_str().into(),
            None => ToolUse::new("1", "pay", json!({ "euros": 12 })).into(),
        }
    });
    ReActAgent::builder("bench").model(model).store(store)
}

/// The head of the tables.
pub(crate) fn print_head(title: &str) {
    println!("{title:<56} {:>10} {:>7} {:>12} {:>8}", "time", "first", "allocations", "commits");
}
