//! What is forgotten is nowhere, also not in runs.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hooks_agent_core::call::RunId;
use hooks_agent_core::store::{Acquired, Claim, Filter, KeptRun, RunFilter, RunSums, RunTotal};

use crate::backend::{Backend, Shared, on_each, sqlite};
use crate::runs::{NOON, listed, run, runs};
use crate::suite::decisions::ask;
use crate::suite::steps::{granted, key, step};

on_each! {
    runs_go_with_their_thread,
    runs_of_threads_that_the_store_does_not_have_go_too,
    a_thread_that_a_call_owns_keeps_its_runs,
    what_is_counted_of_a_user_goes_with_the_user,
    runs_are_history_of_their_thread,
    more_runs_than_a_batch_go_with_their_thread,
    runs_that_wait_are_not_pruned,
    runs_of_an_age_go_in_batches_with_their_sums,
    nothing_of_another_namespace_is_forgotten,
}

fn of(name: &str, thread: &str, user: Option<&str>) -> KeptRun {
    let mut run = run(name, NOON);
    run.thread = thread.into();
    run.user = user.map(Into::into);
    run.text = format!("secret{name}");
    run.totals = vec![RunTotal::new("run", "", "runs", 1)];
    run.totals.extend(user.map(|user| RunTotal::new(RunTotal::USER, user, "runs", 1)));
    run
}

fn below(name: &str, parent: &str) -> KeptRun {
    let mut run = of(name, "a thread of a sub-agent", None);
    run.parent = Some(RunId::named(parent));
    run
}

/// Writes a thread of a user, that no call owns.
async fn thread(store: &Shared, thread: &str, user: &str) {
    let lease = granted(store, &key(thread)).await;
    let mut first = step(0);
    first.user = Some(user.into());
    first.releases = true;
    store.commit(&lease, &first).await.unwrap();
}

/// Returns the names of all runs, in order.
async fn left(store: &Shared) -> Vec<String> {
    let mut names = listed(store, RunFilter::all()).await;
    names.sort();
    names
}

/// Returns the kinds, names and values of what is counted.
async fn counted(store: &Shared) -> Vec<(String, String, u64)> {
    let sums = runs(store).totals(RunSums::new(NOON, NOON + 1)).await.unwrap();
    sums.iter().map(|it| (it.kind.to_string(), it.name.to_string(), it.value)).collect()
}

async fn runs_go_with_their_thread(backend: &Backend) {
    let store = backend.store().await;
    thread(&store, "ada", "u-1").await;
    thread(&store, "bob", "u-2").await;
    let mut same_thread = of("other agent", "ada", None);
    same_thread.agent = "cook".into();
    let added = vec![
        of("one", "ada", Some("u-1")),
        below("below", "one"),
        below("deep", "below"),
        of("two", "bob", None),
        same_thread,
    ];
    runs(&store).add(added).await.unwrap();
    assert_eq!(store.forget(Filter::agent("clerk").thread("ada")).await.unwrap(), 1);
    assert_eq!(left(&store).await, ["other agent", "two"]);
    assert_eq!(listed(&store, RunFilter::all().words("secret")).await.len(), 2);
    assert_eq!(runs(&store).get(RunId::named("one")).await.unwrap(), None);
    // Sums have no content.
    let all = [("run", "", 5), ("user", "u-1", 1)];
    assert_eq!(counted(&store).await, all.map(|(kind, name, it)| (kind.into(), name.into(), it)));
    assert_eq!(store.forget(Filter::all().unused_for(Duration::ZERO)).await.unwrap(), 1);
    assert_eq!(left(&store).await, [""; 0]);
}

async fn runs_of_threads_that_the_store_does_not_have_go_too(backend: &Backend) {
    let store = backend.store().await;
    thread(&store, "taken over", "u-2").await;
    let add = async || {
        let mut new = of("new", "gone", Some("u-2"));
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        new.started = u64::try_from(now.as_millis()).unwrap() + 3_600_000;
        let added = vec![
            of("one", "gone", Some("u-1")),
            below("below", "one"),
            of("two", "taken over", Some("u-1")),
            of("three", "taken over", Some("u-2")),
            new,
        ];
        runs(&store).add(added).await.unwrap();
    };
    for (filter, expected) in [
        (Filter::all().user("u-1"), vec!["new", "three"]),
        (Filter::all().thread("gone"), vec!["three", "two"]),
        (Filter::agent("cook"), vec!["below", "new", "one", "three", "two"]),
        (Filter::all().unused_for(Duration::from_mins(1)), vec!["new", "three", "two"]),
        // Not all threads are meant.
        (Filter::all().user("u-1").limit(5), vec!["below", "new", "one", "three", "two"]),
        (Filter::all().cut_off(), vec!["below", "new", "one", "three", "two"]),
    ] {
        add().await;
        assert_eq!(store.forget(filter.clone()).await.unwrap(), 0, "{filter:?}");
        assert_eq!(left(&store).await, expected, "{filter:?}");
    }
    assert_eq!(store.forget(Filter::all()).await.unwrap(), 1);
    assert_eq!(left(&store).await, [""; 0]);
}

async fn a_thread_that_a_call_owns_keeps_its_runs(backend: &Backend) {
    let store = backend.store().await;
    thread(&store, "ada", "u-1").await;
    let claim = Claim::new().user("u-1");
    let acquired = store.acquire(&key("ada"), RunId::random(), &claim).await.unwrap();
    let Acquired::Granted { lease, .. } = acquired else { panic!("{acquired:?}") };
    runs(&store).add(vec![of("one", "ada", Some("u-1"))]).await.unwrap();
    for filter in [Filter::all(), Filter::all().user("u-1"), Filter::agent("clerk").thread("ada")] {
        assert_eq!(store.forget(filter).await.unwrap(), 0);
        assert_eq!(left(&store).await, ["one"]);
        assert_eq!(counted(&store).await.len(), 2);
    }
    store.release(&lease).await.unwrap();
    assert_eq!(store.forget(Filter::all().user("u-1")).await.unwrap(), 1);
    assert_eq!(left(&store).await, [""; 0]);
    assert_eq!(counted(&store).await, [("run".into(), String::new(), 1)]);
}

async fn what_is_counted_of_a_user_goes_with_the_user(backend: &Backend) {
    let store = backend.store().await;
    let mut of_cook = of("cook", "ada", Some("u-1"));
    of_cook.agent = "cook".into();
    let added = vec![of("one", "ada", Some("u-1")), of_cook, of("two", "bob", Some("u-2"))];
    runs(&store).add(added).await.unwrap();
    let users = async || {
        let counted = counted(&store).await;
        let users = counted.into_iter().filter(|(kind, ..)| kind == "user");
        users.map(|(_, name, value)| (name, value)).collect::<Vec<_>>()
    };
    // The user has still used another agent.
    store.forget(Filter::agent("clerk").user("u-1")).await.unwrap();
    assert_eq!(users().await, [("u-1".to_owned(), 2), ("u-2".to_owned(), 1)]);
    store.forget(Filter::all().user("u-1")).await.unwrap();
    assert_eq!(users().await, [("u-2".to_owned(), 1)]);
    let named = "SELECT name FROM run_series WHERE name LIKE 'u-%'";
    assert_eq!(backend.sql(named).await, [["u-2"]]);
    store.forget(Filter::all()).await.unwrap();
    assert_eq!(users().await, []);
    // One that comes back counts from the beginning.
    runs(&store).add(vec![of("one", "ada", Some("u-1"))]).await.unwrap();
    assert_eq!(users().await, [("u-1".to_owned(), 1)]);
}

async fn runs_are_history_of_their_thread(backend: &Backend) {
    let store = backend.store().await;
    thread(&store, "ada", "u-1").await;
    thread(&store, "bob", "u-2").await;
    let added = || {
        let two = of("two", "bob", Some("u-2"));
        vec![of("one", "ada", Some("u-1")), below("below", "one"), two, of("lost", "gone", None)]
    };
    runs(&store).add(added()).await.unwrap();
    assert_eq!(store.prune(Filter::all().unused_for(Duration::from_hours(1))).await.unwrap(), 1);
    assert_eq!(left(&store).await, ["below", "one", "two"]);
    assert_eq!(store.prune(Filter::agent("clerk").thread("ada")).await.unwrap(), 2);
    assert_eq!(left(&store).await, ["two"]);
    runs(&store).add(added()).await.unwrap();
    assert_eq!(store.prune(Filter::all().user("u-2")).await.unwrap(), 1);
    assert_eq!(store.prune(Filter::all().limit(1)).await.unwrap(), 2);
    assert_eq!(store.prune(Filter::all()).await.unwrap(), 1);
    assert_eq!((store.prune(Filter::all()).await.unwrap(), left(&store).await), (0, vec![]));
    assert_eq!(store.threads(Filter::all()).await.unwrap().len(), 2);
}

async fn more_runs_than_a_batch_go_with_their_thread(backend: &Backend) {
    let store = backend.store().await;
    thread(&store, "ada", "u-1").await;
    thread(&store, "bob", "u-2").await;
    // Each is below the one before, and the last one is above the first.
    let added = || {
        let next = |number: u8| below(&number.to_string(), &((number + 29) % 30).to_string());
        let mut all: Vec<_> = (0..30).map(next).collect();
        all[7].thread = "ada".into();
        all.extend((30..55).map(|number| of(&number.to_string(), "ada", Some("u-1"))));
        all.push(of("other", "bob", Some("u-2")));
        all
    };
    runs(&store).add(added()).await.unwrap();
    assert_eq!(store.prune(Filter::all().user("u-1").limit(1)).await.unwrap(), 55);
    assert_eq!(left(&store).await, ["other"]);
    runs(&store).add(added()).await.unwrap();
    assert_eq!(store.forget(Filter::all().user("u-1")).await.unwrap(), 1);
    assert_eq!(left(&store).await, ["other"]);
    assert_eq!(counted(&store).await.len(), 2);
}

async fn runs_that_wait_are_not_pruned(backend: &Backend) {
    let store = backend.store().await;
    let questions = ask(&store, "ada", 1).await;
    thread(&store, "bob", "u-2").await;
    // One of another user than the thread has.
    let asked = of("asked", "ada", Some("u-2"));
    runs(&store).add(vec![asked, of("two", "bob", Some("u-2"))]).await.unwrap();
    assert_eq!(store.prune(Filter::all().user("u-2")).await.unwrap(), 1);
    assert_eq!(left(&store).await, ["asked"]);
    runs(&store).add(vec![of("two", "bob", Some("u-2"))]).await.unwrap();
    // What stays does not count for the limit.
    assert_eq!(store.prune(Filter::all().limit(1)).await.unwrap(), 1);
    assert_eq!(store.prune(Filter::all()).await.unwrap(), 0);
    assert_eq!(left(&store).await, ["asked"]);
    let lease = granted(&store, &key("ada")).await;
    let mut closing = step(1);
    closing.closed = questions;
    closing.releases = true;
    store.commit(&lease, &closing).await.unwrap();
    assert_eq!(store.prune(Filter::all()).await.unwrap(), 2);
    assert_eq!(left(&store).await, [""; 0]);
}

async fn runs_of_an_age_go_in_batches_with_their_sums(backend: &Backend) {
    let store = backend.store().await;
    let day = 24 * RunSums::HOUR;
    let first = NOON - NOON % day;
    let added = (0..230_u64).map(|number| {
        let mut run = run(&format!("{number:03}"), first + number * RunSums::HOUR);
        run.text = format!("word{number}");
        run.totals = vec![RunTotal::new("run", "", "runs", 1)];
        let user = format!("u-{number}");
        run.totals.push(RunTotal::new(RunTotal::USER, &*user, "runs", 1));
        run.user = Some(user.into());
        run
    });
    runs(&store).add(added.collect()).await.unwrap();
    let before = first + 221 * RunSums::HOUR;
    assert_eq!(runs(&store).prune_runs(before).await.unwrap(), 216);
    assert_eq!(runs(&store).prune_runs(before).await.unwrap(), 0);
    assert_eq!(listed(&store, RunFilter::all()).await.len(), 230 - 216);
    assert_eq!(listed(&store, RunFilter::all().words("word22")).await.len(), 10);
    assert_eq!(listed(&store, RunFilter::all().words("word1")).await, [""; 0]);
    // The day that did not end before has all of its runs and sums.
    for step in [RunSums::HOUR, day] {
        let sums = RunSums::new(0, u64::MAX).step(step).kind("run");
        let sums = runs(&store).totals(sums).await.unwrap();
        assert_eq!(sums.iter().map(|it| it.value).sum::<u64>(), 230 - 216, "{step}");
    }
    let named = backend.sql("SELECT name FROM run_series WHERE kind = 'user'").await;
    assert_eq!(named.len(), 230 - 216);
}

async fn nothing_of_another_namespace_is_forgotten(backend: &Backend) {
    let store = backend.store().await;
    let other = backend.leased("other", Duration::from_secs(30)).await;
    for store in [&store, &other] {
        runs(store).add(vec![of("one", "ada", Some("u-1")), below("below", "one")]).await.unwrap();
    }
    store.forget(Filter::all()).await.unwrap();
    store.prune(Filter::all()).await.unwrap();
    runs(&store).prune_runs(u64::MAX).await.unwrap();
    assert_eq!((left(&store).await, counted(&store).await), (vec![], vec![]));
    assert_eq!(left(&other).await, ["below", "one"]);
    assert_eq!(listed(&other, RunFilter::all().words("secret")).await.len(), 2);
    assert_eq!(counted(&other).await.len(), 2);
}

/// Returns the files of a store in a file, without what a vacuum removes.
async fn bytes(backend: &Backend) -> Vec<u8> {
    let Backend::Sqlite(folder) = backend else { unreachable!("a server has no file") };
    backend.sql("VACUUM").await;
    backend.sql("PRAGMA wal_checkpoint(TRUNCATE)").await;
    let files = std::fs::read_dir(folder.path()).unwrap();
    files.flat_map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect()
}

#[tokio::test]
async fn what_is_forgotten_is_in_no_byte_of_the_file() {
    let backend = sqlite();
    let store = backend.store().await;
    let mut added: Vec<_> = (0..40)
        .map(|number| {
            let thread = if number % 2 == 0 { "adalove" } else { "bobsmith" };
            let mut run = of(&format!("{thread} {number}"), thread, Some(thread));
            let words = (0..300).map(|word| format!("{thread}word{number}x{word}"));
            run.text = words.collect::<Vec<_>>().join(" ");
            run.summary = format!("\"{thread}summary\"");
            run.entries = format!("[\"{thread}entries\"]");
            run
        })
        .collect();
    for part in added.chunks(7) {
        runs(&store).add(part.to_vec()).await.unwrap();
    }
    // Some are replaced, so that the index has been changed.
    added.truncate(10);
    for run in &mut added {
        run.text = run.text.replace("word", "newword");
    }
    runs(&store).add(added).await.unwrap();
    let has = |bytes: &[u8], text: &str| bytes.windows(text.len()).any(|it| it == text.as_bytes());
    let before = bytes(&backend).await;
    for text in
        ["adaloveword", "adalovenewword", "adalovesummary", "adaloveentries", "bobsmithword"]
    {
        assert!(has(&before, text), "{text}");
    }
    assert!(!has(&before, "adaloveword0x"));

    store.forget(Filter::all().user("adalove")).await.unwrap();
    let words = "CREATE VIRTUAL TABLE temp.word USING fts5vocab (main, run_text, row);
        SELECT count(*) FROM temp.word WHERE term LIKE";
    assert_eq!(backend.sql(&format!("{words} 'adalove%'")).await, [["0"]]);
    assert_ne!(backend.sql(&format!("{words} 'bobsmith%'")).await, [["0"]]);
    // The pages of the index are still named by words that they began with.
    backend.sql("INSERT INTO run_text (run_text) VALUES ('rebuild')").await;
    let after = bytes(&backend).await;
    assert!(!has(&after, "adalove"));
    assert!(has(&after, "bobsmithword"));
    let found = async |words: &str| listed(&store, RunFilter::all().words(words)).await;
    assert_eq!(found("bobsmithword1x7").await, [""; 0]);
    assert_eq!(found("bobsmithnewword1x7").await, ["bobsmithsummary"]);
    backend.sql("INSERT INTO run_text (run_text, rank) VALUES ('integrity-check', 1)").await;
}
