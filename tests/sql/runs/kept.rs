//! Runs are read as they were added.

use std::time::Duration;

use futures::future::join_all;
use hooks_agent_core::call::RunId;
use hooks_agent_core::store::{KeptRun, RunError, RunFilter, RunSums, RunTotal, Store, StoreError};
use hooks_agent_core::thread::MemoryStore;

use crate::backend::{Backend, on_each};
use crate::runs::{NOON, listed, run, runs};

on_each! {
    a_run_is_read_as_it_was_added,
    a_run_that_is_added_again_is_replaced,
    a_run_is_read_with_those_below_it,
    a_run_that_is_changed_is_there_or_stays_forgotten,
    of_many_runs_below_one_the_first_are_read,
    a_run_that_is_refused_leaves_nothing_of_the_others,
    runs_of_another_namespace_are_not_read,
    runs_that_several_add_at_once_are_all_there_once,
    contents_of_many_megabytes_are_kept,
}

type Change = fn(&mut KeptRun);

/// Returns a run with all that one can have.
fn full(name: &str) -> KeptRun {
    let mut run = run(name, NOON);
    run.user = Some("u-1".into());
    run.parent = Some(RunId::named("above"));
    run.state = "failed".into();
    run.ended = Some(NOON + 7);
    run.summary = r#"{"'":"\"$1\u0000 é 🦀"}"#.into();
    run.entries = format!("[{}]", "{\"at\":1},".repeat(2000));
    run.text = "Pay the baker: pay 12!".into();
    run.totals = vec![RunTotal::new("tool", "pay", "runs", 2), RunTotal::new("run", "", "us", 70)];
    run
}

async fn a_run_is_read_as_it_was_added(backend: &Backend) {
    let store = backend.store().await;
    let names = ["'; DROP TABLE run; --", "\"", "%_\\", "🦀👩‍👩‍👧", "null", &"é".repeat(256)];
    let of_name = |name: &str| {
        let mut run = full(name);
        (run.agent, run.thread, run.user) = (name.into(), name.into(), Some(name.into()));
        run.state = name.into();
        run.totals = vec![RunTotal::new(name, name, name, u64::MAX)];
        run
    };
    runs(&store).add(vec![full("one"), run("bare", NOON)]).await.unwrap();
    runs(&store).add(names.map(of_name).to_vec()).await.unwrap();

    let read = runs(&backend.store().await).get(RunId::named("one")).await.unwrap().unwrap();
    let mut expected = full("one");
    expected.text = "12 baker pay the".into();
    expected.totals.sort();
    assert_eq!(read, expected);
    let bare = runs(&store).get(RunId::named("bare")).await.unwrap();
    assert_eq!(bare, Some(run("bare", NOON)));
    assert_eq!(runs(&store).get(RunId::named("none")).await.unwrap(), None);
    for name in names {
        let read = runs(&store).get(RunId::named(name)).await.unwrap().unwrap();
        let found = (&*read.agent, &*read.thread, read.user.as_deref(), &*read.state);
        assert_eq!(found, (name, name, Some(name), name));
        assert_eq!(read.totals, [RunTotal::new(name, name, name, (1 << 53) - 1)]);
        let filter = RunFilter::all().agent(name).thread(name).user(name).state(name);
        assert_eq!(runs(&store).list(filter).await.unwrap().summaries, [read.summary]);
    }
    let nul = RunFilter::all().agent("a\0b");
    assert_eq!(listed(&store, nul).await, [""; 0]);
}

async fn a_run_that_is_added_again_is_replaced(backend: &Backend) {
    let store = backend.store().await;
    let mut waiting = full("one");
    waiting.state = "waiting".into();
    waiting.ended = None;
    runs(&store).add(vec![waiting.clone()]).await.unwrap();
    let mut ended = run("one", NOON + 1);
    ended.text = "paid".into();
    // Of two of an id, the later one counts.
    runs(&store).add(vec![waiting, ended.clone()]).await.unwrap();
    let read = runs(&store).get(RunId::named("one")).await.unwrap();
    assert_eq!(read, Some(ended));
    assert_eq!(listed(&store, RunFilter::all()).await, ["one"]);
    for (words, expected) in [("baker", vec![]), ("paid", vec!["one"])] {
        assert_eq!(listed(&store, RunFilter::all().words(words)).await, expected, "{words}");
    }
    assert_eq!(store.report().await.unwrap().runs, Some(1));
}

async fn a_run_is_read_with_those_below_it(backend: &Backend) {
    let store = backend.store().await;
    let below = |name: &str, parent: &str, started| {
        let mut run = run(name, started);
        run.parent = Some(RunId::named(parent));
        run
    };
    let all = vec![
        run("top", NOON),
        below("left", "top", NOON + 3),
        below("right", "top", NOON + 2),
        below("deep", "right", NOON + 4),
        run("other", NOON + 1),
        // Nothing ends the search for those below a circle but that it was there.
        below("a", "b", NOON),
        below("b", "a", NOON + 1),
    ];
    runs(&store).add(all).await.unwrap();
    for (top, expected) in [
        ("top", vec!["top", "right", "left", "deep"]),
        ("right", vec!["right", "deep"]),
        ("other", vec!["other"]),
        ("a", vec!["a", "b"]),
        ("none", vec![]),
    ] {
        let read = runs(&store).below(RunId::named(top)).await.unwrap();
        let names: Vec<_> = read.iter().map(|run| run.summary.trim_matches('"')).collect();
        assert_eq!(names, expected, "{top}");
    }
}

async fn a_run_that_is_changed_is_there_or_stays_forgotten(backend: &Backend) {
    let store = backend.store().await;
    runs(&store).add(vec![full("one")]).await.unwrap();
    let changed = |name: &str| {
        let mut run = full(name);
        run.state = "resumed".into();
        run.totals = vec![RunTotal::new("tool", "pay", "runs", 3)];
        run
    };
    runs(&store).change(vec![changed("one"), changed("forgotten")]).await.unwrap();
    runs(&store).change(vec![changed("forgotten")]).await.unwrap();
    let one = runs(&store).get(RunId::named("one")).await.unwrap().unwrap();
    assert_eq!(&*one.state, "resumed");
    assert_eq!(runs(&store).get(RunId::named("forgotten")).await.unwrap(), None);
    let sums = runs(&store).totals(RunSums::new(NOON, NOON + 1)).await.unwrap();
    assert_eq!(sums.iter().map(|it| (&*it.name, it.value)).collect::<Vec<_>>(), [("pay", 3)]);
}

async fn of_many_runs_below_one_the_first_are_read(backend: &Backend) {
    let store = backend.store().await;
    let below = |number: u64| {
        let mut run = run(&number.to_string(), NOON + number);
        run.parent = Some(RunId::named("top"));
        run
    };
    let all = (1..1002).map(below).chain([run("top", NOON)]);
    runs(&store).add(all.collect()).await.unwrap();
    let read = runs(&store).below(RunId::named("top")).await.unwrap();
    let last = read.last().map(|run| run.summary.as_str());
    assert_eq!((read.len(), last), (1000, Some("\"999\"")));
}

async fn a_run_that_is_refused_leaves_nothing_of_the_others(backend: &Backend) {
    let store = backend.store().await;
    let refused = |change: fn(&mut KeptRun)| {
        let mut bad = full("bad");
        change(&mut bad);
        let added = vec![run("good", NOON), bad];
        let store = &store;
        async move { runs(store).add(added).await.unwrap_err() }
    };
    let names: [fn(&mut KeptRun); 6] = [
        |run| run.agent = "".into(),
        |run| run.thread = "a\0b".into(),
        |run| run.user = Some("u".repeat(513).into()),
        |run| run.state = "".into(),
        |run| run.totals[0].kind = "".into(),
        |run| run.totals[0].name = "a\0".into(),
    ];
    for change in names {
        let error = refused(change).await;
        assert!(matches!(error, StoreError::Name(_)), "{error:?}");
    }
    let parts: [(Change, &str); 7] = [
        (|run| run.summary = "1".repeat(KeptRun::LONGEST_SUMMARY + 1), "the summary of run"),
        (|run| run.entries = "1".repeat(KeptRun::LONGEST_ENTRIES + 1), "the entries of run"),
        (|run| run.totals = vec![run.totals[0].clone(); KeptRun::MOST_TOTALS + 1], "has 4097"),
        (|run| run.summary = "\"\0\"".into(), "has a NUL character"),
        (|run| run.entries = "\"\0\"".into(), "has a NUL character"),
        (|run| run.totals[0] = RunTotal::new(RunTotal::USER, "u-2", "runs", 1), "of another user"),
        (|run| run.started = u64::MAX, "more than 2^53 milliseconds"),
    ];
    for (change, expected) in parts {
        let error = refused(change).await;
        assert!(matches!(error, StoreError::Run(_)), "{error:?}");
        assert!(error.to_string().contains(expected), "{error}");
    }
    let error = refused(|run| run.ended = Some(1 << 60)).await;
    assert!(matches!(error, StoreError::Run(RunError::Time { .. })), "{error:?}");
    assert_eq!(store.report().await.unwrap().runs, Some(0));
    runs(&store).add(Vec::new()).await.unwrap();
}

async fn runs_of_another_namespace_are_not_read(backend: &Backend) {
    let store = backend.store().await;
    let other = backend.leased("other", Duration::from_secs(30)).await;
    let mut below = run("below", NOON);
    below.parent = Some(RunId::named("one"));
    runs(&store).add(vec![full("one"), below]).await.unwrap();
    assert_eq!(runs(&other).get(RunId::named("one")).await.unwrap(), None);
    assert_eq!(runs(&other).below(RunId::named("one")).await.unwrap(), []);
    assert_eq!(listed(&other, RunFilter::all()).await, [""; 0]);
    assert_eq!(listed(&other, RunFilter::all().words("baker")).await, [""; 0]);
    assert_eq!(runs(&other).prune_runs(u64::MAX).await.unwrap(), 0);
    // The same id is another run there.
    runs(&other).add(vec![run("one", NOON)]).await.unwrap();
    assert_eq!(runs(&other).below(RunId::named("one")).await.unwrap(), [run("one", NOON)]);
    assert_eq!(runs(&store).below(RunId::named("one")).await.unwrap().len(), 2);
    assert_eq!(other.report().await.unwrap().runs, Some(1));
}

async fn runs_that_several_add_at_once_are_all_there_once(backend: &Backend) {
    let stores = [backend.store().await, backend.store().await, backend.store().await];
    let adding = stores.iter().enumerate().map(|(worker, store)| async move {
        for round in 0..8 {
            let mut own = run(&format!("{worker} {round}"), NOON);
            own.totals = vec![RunTotal::new("run", "", "runs", 1)];
            let mut shared = run("shared", NOON + round);
            shared.totals = own.totals.clone();
            shared.text = format!("word{worker}");
            runs(store).add(vec![own, shared]).await.unwrap();
        }
    });
    join_all(adding).await;
    let hour = hooks_agent_core::store::RunSums::new(NOON, NOON + 1);
    assert_eq!(runs(&stores[0]).totals(hour).await.unwrap()[0].value, 25);
    assert_eq!(listed(&stores[1], RunFilter::all()).await.len(), 25);
    assert_eq!(listed(&stores[2], RunFilter::all().words("word")).await, ["shared"]);
}

async fn contents_of_many_megabytes_are_kept(backend: &Backend) {
    let store = backend.store().await;
    let large = |name| {
        let mut run = run(name, NOON);
        run.entries = format!("[\"{}\"]", "é \\\"".repeat(600_000));
        run.text = "letters ".repeat(8192) + "cut";
        run
    };
    let added = ["one", "two", "three"].map(large);
    runs(&store).add(added.to_vec()).await.unwrap();
    let read = runs(&store).get(RunId::named("two")).await.unwrap().unwrap();
    assert_eq!(read.entries, added[1].entries);
    assert_eq!(read.text, "letters");
}

#[test]
fn a_store_in_memory_keeps_no_runs() {
    assert!(MemoryStore::new().run_history().is_none());
}
