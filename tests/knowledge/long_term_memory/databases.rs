//! Tests of memories in a database alone.

use std::sync::Arc;

use futures::future::join_all;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{Filter, Store};
use hooks_agent_knowledge::{
    LongTermMemory, Memories, MemoriesError, PostgresMemories, ProcessMemories, SqliteMemories,
};
use hooks_agent_sql::store::{PostgresStore, SqliteStore};
use sqlx::Connection;
use sqlx::postgres::PgConnection;

use crate::long_term_memory::backend::{Backend, SERVER, on_databases};
use crate::long_term_memory::faulty::{Fault, Faulty};
use crate::long_term_memory::memories::ODD;
use crate::long_term_memory::{agent, entry, on, rule, shown, texts};

on_databases!(
    what_was_remembered_outlives_the_process,
    many_open_new_memories_at_once,
    newer_tables_are_refused_and_left_as_they_are,
    tables_of_another_program_are_refused_and_left_as_they_are,
    a_store_in_the_same_database_is_left_alone,
    a_call_that_another_process_resumes_keeps_what_was_said,
    an_entry_in_the_row_of_another_user_is_never_returned,
    what_is_forgotten_leaves_no_row,
    a_write_that_is_dropped_is_done_or_not_done,
    handles_of_one_database_share_the_limit,
    agents_remember_odd_users,
);

async fn what_was_remembered_outlives_the_process(mut backend: Backend) {
    for (thread, expected) in [("one", 0), ("two", 1)] {
        let memory = LongTermMemory::new(backend.open().await, rule());
        let (agent, script) = agent(&memory, 1);
        agent.call_with(on("ada", thread), "keep: Ada has a cat.").await.unwrap();
        assert_eq!(shown(&script.requests()[0]).len(), expected);
    }
    assert_eq!(backend.open().await.list("ada").await.unwrap().len(), 1);
}

async fn many_open_new_memories_at_once(backend: Backend) {
    let address = backend.address();
    let opened = (0..6).map(|number: u64| {
        let address = &address;
        async move {
            let limits = hooks_agent_knowledge::MemoryLimits::default();
            let memories = crate::long_term_memory::backend::open(address, limits).await;
            let entries = vec![entry("ada", &format!("{number}"), number)];
            memories.add(entries).await.unwrap();
        }
    });
    join_all(opened).await;
    assert_eq!(backend.sql("SELECT count(*) || '' FROM memory_entry").await, [["6"]]);
    assert_eq!(backend.sql("SELECT version || '' FROM memory_version").await, [["1"]]);
}

/// Opens memories that cannot be opened.
async fn refusal(backend: &Backend) -> MemoriesError {
    let address = backend.address();
    let (_, place) = address.split_once(':').unwrap();
    match backend {
        Backend::Postgres(_) => {
            PostgresMemories::options().schema(place).connect(SERVER).await.unwrap_err()
        }
        _ => SqliteMemories::open(place).await.unwrap_err(),
    }
}

async fn newer_tables_are_refused_and_left_as_they_are(mut backend: Backend) {
    drop(backend.open().await);
    backend.sql("UPDATE memory_version SET version = 77").await;
    let error = refusal(&backend).await;
    assert!(matches!(error, MemoriesError::NewerSchema { found: 77, known: 1 }), "{error}");
    assert_eq!(backend.sql("SELECT version || '' FROM memory_version").await, [["77"]]);
}

async fn tables_of_another_program_are_refused_and_left_as_they_are(backend: Backend) {
    let table = "CREATE TABLE memory_entry (theirs INTEGER); INSERT INTO memory_entry VALUES (1)";
    match &backend {
        Backend::Postgres(_) => {
            let schema = backend.address().split_once(':').unwrap().1.replace('"', "\"\"");
            backend.sql(&format!("CREATE SCHEMA \"{schema}\"; {table}")).await;
        }
        _ => drop(backend.sql(table).await),
    }
    let error = refusal(&backend).await;
    let text = error.to_string();
    assert!(text.contains("of another program: name another"), "{text}");
    assert_eq!(backend.sql("SELECT theirs || '' FROM memory_entry").await, [["1"]]);
}

async fn a_store_in_the_same_database_is_left_alone(mut backend: Backend) {
    let address = backend.address();
    let (_, place) = address.split_once(':').unwrap();
    let store: Arc<dyn Store> = match &backend {
        Backend::Postgres(_) => {
            Arc::new(PostgresStore::options().schema(place).connect(SERVER).await.unwrap())
        }
        _ => Arc::new(SqliteStore::open(place).await.unwrap()),
    };
    let memory = LongTermMemory::new(backend.open().await, rule());
    let script = hooks_agent_core::testing::Script::new().says("done").says("done");
    let builder = ReActAgent::builder("bot").model(script);
    let agent = builder.store(store.clone()).hook(memory.clone()).build().unwrap();
    for _ in 0..2 {
        agent.call_with(on("ada", "one"), "keep: Ada has a cat.").await.unwrap();
    }
    memory.memories().forget_all("ada").await.unwrap();
    let threads = store.threads(Filter::agent("bot").user("ada")).await.unwrap();
    assert_eq!(threads.len(), 1);
    let history = store.history(&threads[0].key).await.unwrap();
    assert_eq!(history.len(), 4);
}

async fn a_call_that_another_process_resumes_keeps_what_was_said(mut backend: Backend) {
    let address = backend.address();
    let (_, place) = address.split_once(':').unwrap();
    let memory = LongTermMemory::new(backend.open().await, rule());
    let ask = || hooks_agent_core::prelude::on(|event: &mut PreActing<'_>| event.ask("may I?"));
    let look = || FunctionTool::new("look", "Looks.", async |_: serde_json::Value| "seen");
    let mut asked = String::new();
    for resumes in [false, true] {
        let store: Arc<dyn Store> = match &backend {
            Backend::Postgres(_) => {
                Arc::new(PostgresStore::options().schema(place).connect(SERVER).await.unwrap())
            }
            // A store makes no tables in a file of another program.
            _ => Arc::new(SqliteStore::open(format!("{place}.store")).await.unwrap()),
        };
        let call = ToolUse::new("1", "look", serde_json::json!({}));
        let script = hooks_agent_core::testing::Script::new();
        let script = if resumes { script.says("done") } else { script.calls([call]) };
        let builder = ReActAgent::builder("bot").model(script.clone()).tool(look());
        let agent = builder.store(store).hook(memory.clone()).hook(ask()).build().unwrap();
        if resumes {
            agent.resume(on("ada", "one").confirm(&*asked)).await.unwrap();
            assert_eq!(shown(&script.requests()[0]), ["old cat"]);
        } else {
            memory.memories().add(vec![entry("ada", "old cat", 1)]).await.unwrap();
            let reply = agent.call_with(on("ada", "one"), "keep: a cat").await.unwrap();
            asked.clone_from(&reply.pending()[0].id);
        }
    }
    let entries = memory.memories().list("ada").await.unwrap();
    assert_eq!(texts(&entries), ["old cat", "a cat"]);
}

async fn an_entry_in_the_row_of_another_user_is_never_returned(mut backend: Backend) {
    let memories = backend.open().await;
    memories.add(vec![entry("ada", "of Ada", 1), entry("bob", "of Bob", 1)]).await.unwrap();
    let moved = "UPDATE memory_entry SET user_key = (SELECT user_key FROM memory_entry WHERE \
        body LIKE '%of Bob%'), digest = id WHERE body LIKE '%of Ada%'";
    backend.sql(moved).await;
    for read in [memories.list("bob").await, memories.search("bob", "Ada", 5).await] {
        assert!(matches!(read, Err(MemoriesError::Failed(_))));
    }
    assert_eq!(memories.list("ada").await.unwrap(), []);
    assert_eq!(memories.forget_all("bob").await.unwrap(), 2);
}

async fn what_is_forgotten_leaves_no_row(mut backend: Backend) {
    let memories = backend.open().await;
    let entries = (0..5_u64).map(|at| entry("ada", &format!("word{at} 猫"), at)).collect();
    memories.add(entries).await.unwrap();
    assert_eq!(backend.sql("SELECT count(*) || '' FROM memory_word").await, [["10"]]);
    memories.forget_all("ada").await.unwrap();
    let count =
        "SELECT (SELECT count(*) FROM memory_word) + (SELECT count(*) FROM memory_entry) || ''";
    assert_eq!(backend.sql(count).await, [["0"]]);
}

async fn a_write_that_is_dropped_is_done_or_not_done(mut backend: Backend) {
    let memories = backend.open().await;
    for round in 0..30_usize {
        let pair = vec![
            entry("ada", &format!("{round} one"), 1),
            entry("ada", &format!("{round} two"), 2),
        ];
        let mut add = memories.add(pair.clone());
        for _ in 0..round {
            if futures::poll!(&mut add).is_ready() {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(add);
        let entries = memories.list("ada").await.unwrap();
        let found = entries.iter().filter(|entry| entry.text.starts_with(&format!("{round} ")));
        // Nothing that is read or written now is in a transaction of the write that was dropped.
        assert!([0, 2].contains(&found.count()), "{entries:?}");
        // Adding it again is safe, whatever became of it.
        memories.add(pair).await.unwrap();
        assert_eq!(memories.list("ada").await.unwrap().len(), 2 * (round + 1));
        let others = backend.sql("SELECT id FROM memory_entry").await;
        assert_eq!(others.len(), 2 * (round + 1), "another connection sees it");
    }
    assert_eq!(memories.forget_all("ada").await.unwrap(), 60);
    assert_eq!(backend.sql("SELECT id FROM memory_entry").await.len(), 0);
}

async fn handles_of_one_database_share_the_limit(mut backend: Backend) {
    let mut limits = hooks_agent_knowledge::MemoryLimits::default();
    limits.entries = 3;
    let handles = [backend.limited(limits).await, backend.limited(limits).await];
    let adds = (0..20_u64).map(|at| {
        let handle = &handles[usize::from(at % 2 == 0)];
        handle.add(vec![entry("ada", &format!("{at}"), at)])
    });
    for added in join_all(adds).await {
        added.unwrap();
    }
    let entries = handles[0].list("ada").await.unwrap();
    assert_eq!(texts(&entries), ["17", "18", "19"]);
}

async fn agents_remember_odd_users(mut backend: Backend) {
    let memory = LongTermMemory::new(backend.open().await, rule()).in_background(true);
    let (first, _) = agent(&memory, ODD.len());
    let calls = ODD.iter().enumerate().map(|(number, user)| {
        first.call_with(on(user, &number.to_string()), format!("keep: <{number}>"))
    });
    for reply in join_all(calls).await {
        reply.unwrap();
    }
    assert_eq!(memory.shutdown().await, 0);
    for (number, user) in ODD.iter().enumerate() {
        let (second, script) = agent(&memory, 1);
        second.call_with(on(user, "new"), "hello").await.unwrap();
        assert_eq!(shown(&script.requests()[0]), [format!("<{number}>")], "{user:?}");
    }
}

#[tokio::test]
async fn what_cannot_be_opened_is_said_in_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let open = async |path: &str| {
        let error = SqliteMemories::open(folder.path().join(path)).await.unwrap_err();
        let shown = folder.path().display().to_string();
        error.to_string().replace(&shown, "F").replace("the memories cannot be opened: ", "")
    };
    assert_eq!(open("").await, "`F/` is a folder: name a file in it");
    assert_eq!(open("no/a.db").await, "the folder `F/no` does not exist: create it first");
    let text = "this is a text, longer than the header of a database, ".repeat(40);
    std::fs::write(folder.path().join("a.txt"), text).unwrap();
    assert_eq!(open("a.txt").await, "`F/a.txt`: it is not a database (error 26)");
    let error = SqliteMemories::open("").await.unwrap_err();
    assert!(error.to_string().ends_with("the path is empty: name a file"));

    let unreachable = PostgresMemories::connect("postgres://127.0.0.1:1/agents").await.unwrap_err();
    assert!(unreachable.is_transient(), "{unreachable:?}");
    for url in ["nonsense hunter2", "postgres://clerk:hunter2@127.0.0.1:hunter2/agents"] {
        let error = PostgresMemories::connect(url).await.unwrap_err();
        assert!(!format!("{error} {error:?}").contains("hunter2"));
    }
    let named = PostgresMemories::options().schema("s".repeat(64)).connect(SERVER).await;
    assert!(named.unwrap_err().to_string().contains("1 to 63 bytes"));
    if PgConnection::connect(SERVER).await.is_ok() {
        let url = SERVER.replace("/test", "/no_such_database");
        let error = PostgresMemories::connect(&url).await.unwrap_err();
        assert!(error.to_string().contains("there is no such database: create it first"));
    }
}

#[tokio::test]
async fn a_full_disk_is_no_space_and_nothing_is_written() {
    let Some(mut backend) = Backend::postgres().await else { return };
    let memories = backend.open().await;
    let full = "CREATE FUNCTION no_space() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$;
        CREATE TRIGGER no_space BEFORE INSERT ON memory_word EXECUTE FUNCTION no_space()";
    backend.sql(full).await;
    let error = memories.add(vec![entry("ada", "Ada has a cat.", 1)]).await.unwrap_err();
    assert!(matches!(error, MemoriesError::Full(_)) && !error.is_transient(), "{error:?}");
    assert!(memories.list("ada").await.unwrap().is_empty());
    backend.sql("DROP TRIGGER no_space ON memory_word").await;
    memories.add(vec![entry("ada", "Ada has a cat.", 1)]).await.unwrap();
    assert_eq!(memories.list("ada").await.unwrap().len(), 1);
}

#[cfg(unix)]
#[tokio::test]
async fn a_new_file_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;

    let mut backend = Backend::sqlite();
    let memories = backend.open().await;
    memories.add(vec![entry("ada", "a secret", 1)]).await.unwrap();
    let Backend::Sqlite(folder) = &backend else { panic!("it is a file") };
    for file in std::fs::read_dir(folder.path()).unwrap().map(Result::unwrap) {
        let mode = file.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{:?}", file.path());
    }
}

#[tokio::test]
async fn the_debug_text_has_nothing_that_is_remembered() {
    let failing = Faulty::new().adds([Some(Fault::Failed)]);
    let mut file = Backend::sqlite();
    let memories: [Arc<dyn Memories>; 3] =
        [file.open().await, Arc::new(ProcessMemories::new()), Arc::new(failing.inner.clone())];
    let failing = LongTermMemory::new(failing, rule());
    for memory in
        memories.map(|memories| LongTermMemory::new(memories, rule())).iter().chain([&failing])
    {
        let (agent, _) = agent(memory, 1);
        agent.call_with(on("ada", "one"), "keep: a secret").await.unwrap();
        let shown = format!("{memory:?}");
        assert!(!shown.contains("\"ada\"") && !shown.contains("secret"), "{shown}");
    }
    assert_eq!(failing.failed().len(), 1);
}
