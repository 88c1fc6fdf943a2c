//! `PgVectors` with PostgreSQL as WebAssembly, which `.ci/servers` installs; skipped without it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use futures::future::pending;
use hooks_agent_knowledge::{Hybrid, Knowledge, KnowledgeError, PgVectors};
use hooks_fixtures::tell;
use tokio::sync::{Mutex, MutexGuard};

use crate::embedders::{Closure, Grams};
use crate::text_index::Place;

const SERVER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../target/pglite/node_modules/@electric-sql/pglite-socket/dist/scripts/server.js"
);

/// Ends the server when its input ends: with the process of the tests.
const ENDS: &str =
    "data:text/javascript,process.stdin.resume();process.stdin.on('end',()=>process.exit())";

/// The server in memory, for one test at a time: it has one session for all of its clients.
struct Server {
    url: String,
    _turn: MutexGuard<'static, ()>,
}

impl Server {
    /// Waits for the server, and starts it if it is installed.
    async fn start() -> Option<Self> {
        static TURN: Mutex<()> = Mutex::const_new(());
        static STARTED: OnceLock<(String, Child)> = OnceLock::new();
        if !Path::new(SERVER).exists() {
            tell("skipped: no PostgreSQL with vectors, `.ci/servers` installs one");
            return None;
        }
        let turn = TURN.lock().await;
        Some(Self { url: STARTED.get_or_init(start).0.clone(), _turn: turn })
    }
}

/// Starts the server. It runs until the other end of its input is dropped.
fn start() -> (String, Child) {
    let mut process = Command::new("node")
        .args(["--import", ENDS, SERVER, "--db=memory://", "--port=0", "--max-connections=8"])
        .arg("--extensions=@electric-sql/pglite-pgvector:vector")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let port = loop {
        let line = lines.next().expect("the server says its port").unwrap();
        if let Some((_, rest)) = line.split_once("\"port\":") {
            break rest.split(',').next().unwrap().to_owned();
        }
    };
    // Else it blocks once the pipe is full.
    std::thread::spawn(move || lines.for_each(drop));
    let url = format!("postgres://postgres:hidden@127.0.0.1:{port}/postgres?sslmode=disable");
    (url, process)
}

async fn sources(knowledge: &impl Knowledge, query: &str, limit: usize) -> Vec<String> {
    let found = knowledge.search(query, limit).await.unwrap();
    found.into_iter().map(|passage| passage.source).collect()
}

#[tokio::test]
async fn passages_are_kept_found_and_removed() {
    let Some(server) = Server::start().await else { return };
    let place = Place::new(&[
        ("a.md", "# Fruit\n\nsweet apples"),
        ("b.txt", "sour lemons"),
        ("c.md", "rain"),
    ]);
    let text = place.open().await;
    let vectors = PgVectors::open(&server.url, "kept", Grams::default()).await.unwrap();
    assert!(sources(&vectors, "apple", 5).await.is_empty());
    let refreshed = vectors.refresh(&text).await.unwrap();
    assert_eq!((refreshed.embedded, refreshed.removed), (3, 0));
    let found = vectors.search("fruit apple", 2).await.unwrap();
    assert_eq!(found.len(), 2);
    assert_eq!((&*found[0].source, &*found[0].text), ("a.md", "# Fruit\n\nsweet apples"));
    assert_eq!((found[0].range.clone(), found[0].lines.clone()), (0..21, Some(1..=3)));
    assert_eq!(found[0].title.as_deref(), Some("Fruit"));
    assert!(found[0].score > found[1].score && found[0].score <= 1.0, "{found:?}");

    place.write("b.txt", "ripe plums");
    place.remove("c.md");
    let refreshed = vectors.refresh(&text).await.unwrap();
    assert_eq!((refreshed.embedded, refreshed.removed), (1, 2), "{refreshed:?}");
    assert_eq!(sources(&vectors, "plum", 1).await, ["b.txt"]);
    assert_eq!(vectors.refresh(&text).await.unwrap().embedded, 0);

    // The table is there when it is opened again, in another process too.
    let again = PgVectors::open(&server.url, "kept", Grams::default()).await.unwrap();
    assert_eq!(sources(&again, "plum", 1).await, ["b.txt"]);
    let hybrid = Hybrid::new(text, again);
    assert_eq!(sources(&hybrid, "ripe plums", 1).await, ["b.txt"]);
}

#[tokio::test]
async fn scores_are_those_of_the_exact_search_in_the_process() {
    let Some(server) = Server::start().await else { return };
    let place = Place::new(&[]);
    for n in 0..40 {
        place.write(&format!("{n}.md"), format!("text {n} with {} words", n * n));
    }
    let text = place.open().await;
    let here = hooks_agent_knowledge::VectorIndex::new(text.clone(), Grams::default());
    here.refresh().await.unwrap();
    let there = PgVectors::open(&server.url, "exact", Grams::default()).await.unwrap();
    there.refresh(&text).await.unwrap();
    let (here, there) =
        futures::join!(here.search("text 7 words", 9), there.search("text 7 words", 9));
    for (here, there) in here.unwrap().iter().zip(&there.unwrap()) {
        assert!((here.score - there.score).abs() < 1e-4, "{here:?} {there:?}");
    }
}

#[tokio::test]
async fn vectors_of_another_embedder_or_length_are_refused() {
    let Some(server) = Server::start().await else { return };
    let place = Place::new(&[("a.md", "apples")]);
    let vectors = PgVectors::open(&server.url, "other", Grams::default()).await.unwrap();
    vectors.refresh(&place.open().await).await.unwrap();
    for (name, dimension) in [("other", 512), ("grams", 4)] {
        let other = Closure(name, dimension, |_: &[String]| Box::pin(pending()) as _);
        let error = PgVectors::open(&server.url, "other", other).await.unwrap_err();
        assert!(matches!(error, KnowledgeError::OtherEmbedder { .. }), "{error:?}");
    }
    let wrong = Closure("wrong", 4, |texts: &[String]| {
        let vectors = vec![vec![1.0_f32; 3]; texts.len()];
        Box::pin(async move { Ok(vectors) }) as _
    });
    let wrong = PgVectors::open(&server.url, "wrong", wrong).await.unwrap();
    let error = wrong.refresh(&place.open().await).await.unwrap_err();
    assert!(matches!(error, KnowledgeError::VectorLength { .. }), "{error:?}");
}

#[tokio::test]
async fn two_refreshes_at_once_write_each_passage_once() {
    let Some(server) = Server::start().await else { return };
    let place = Place::new(&[("a.md", "apples"), ("b.md", "bananas")]);
    let text = place.open().await;
    // The server has one session, so both are of one connection.
    let one = PgVectors::open(&server.url, "twice", Grams::default()).await.unwrap();
    let other = one.clone();
    futures::try_join!(one.refresh(&text), other.refresh(&text)).unwrap();
    assert_eq!(sources(&one, "apples", 9).await, ["a.md", "b.md"]);
}

#[tokio::test]
async fn names_and_urls_that_cannot_be_used_are_refused_without_a_password() {
    for table in ["", "a b", "Passages", "a;DROP TABLE b", "1a", &"a".repeat(64)] {
        let url = "postgres://user:hidden@127.0.0.1:9/db";
        let error = PgVectors::open(url, table, Grams::default()).await.unwrap_err();
        assert!(format!("{error:?}").contains("is no name"), "{error:?}");
    }
    for url in ["hidden", "postgres://user:hidden@127.0.0.1:9/db?sslmode=disable"] {
        let error = PgVectors::open(url, "names", Grams::default()).await.unwrap_err();
        assert!(matches!(error, KnowledgeError::Database { .. }), "{error:?}");
        assert!(!format!("{error:?} {error}").contains("hidden"), "{error:?}");
    }
}
