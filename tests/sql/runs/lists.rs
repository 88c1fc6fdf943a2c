//! Lists of runs, in pages.

use hooks_agent_core::store::{RunCursor, RunFilter};

use crate::backend::{Backend, on_each};
use crate::runs::{NOON, listed, run, runs};

on_each! {
    the_newest_runs_come_first,
    a_filter_finds_what_it_names,
    pages_have_each_run_once_while_others_are_added,
}

async fn the_newest_runs_come_first(backend: &Backend) {
    let store = backend.store().await;
    let added = ["old", "new", "middle"].into_iter().zip([1, 3, 2]);
    let added = added.map(|(name, at)| run(name, NOON + at)).collect();
    runs(&store).add(added).await.unwrap();
    assert_eq!(listed(&store, RunFilter::all()).await, ["new", "middle", "old"]);
    assert_eq!(listed(&store, RunFilter::all().limit(0)).await, ["new"]);
    let mut none = RunFilter::all();
    none.limit = 0;
    assert_eq!(listed(&store, none).await, ["new"]);
    let page = runs(&store).list(RunFilter::all().limit(3)).await.unwrap();
    assert_eq!((page.summaries.len(), page.next), (3, None));
}

async fn a_filter_finds_what_it_names(backend: &Backend) {
    let store = backend.store().await;
    let mut all = Vec::new();
    for (number, agent) in ["clerk", "clerk", "cook"].into_iter().enumerate() {
        let mut one = run(&format!("{agent} {number}"), NOON + number as u64);
        one.agent = agent.into();
        one.thread = format!("thread {number}").into();
        one.user = (number > 0).then(|| "u-1".into());
        one.state = if number == 1 { "failed".into() } else { "finished".into() };
        one.text = "Pay the baker".into();
        all.push(one);
    }
    runs(&store).add(all).await.unwrap();
    let none = Vec::<&str>::new();
    for (filter, expected) in [
        (RunFilter::all().agent("clerk"), vec!["clerk 1", "clerk 0"]),
        (RunFilter::all().user("u-1"), vec!["cook 2", "clerk 1"]),
        (RunFilter::all().thread("thread 2"), vec!["cook 2"]),
        (RunFilter::all().state("failed"), vec!["clerk 1"]),
        (RunFilter::all().since(NOON + 1), vec!["cook 2", "clerk 1"]),
        (RunFilter::all().until(NOON + 1), vec!["clerk 0"]),
        (RunFilter::all().since(NOON + 1).until(NOON + 2), vec!["clerk 1"]),
        (RunFilter::all().words("bake pay").agent("clerk"), vec!["clerk 1", "clerk 0"]),
        (RunFilter::all().agent("clerk").user("u-1").state("finished"), none.clone()),
        (RunFilter::all().agent("Clerk"), none),
    ] {
        assert_eq!(listed(&store, filter.clone()).await, expected, "{filter:?}");
    }
}

async fn pages_have_each_run_once_while_others_are_added(backend: &Backend) {
    let store = backend.store().await;
    // Three begin at the same time.
    let names: Vec<_> = (0..11_u64).map(|number| format!("run {number}")).collect();
    let added = names.iter().zip(0..).map(|(name, number)| run(name, NOON + number / 3)).collect();
    runs(&store).add(added).await.unwrap();
    let (mut found, mut before): (Vec<String>, Option<RunCursor>) = (Vec::new(), None);
    loop {
        let mut filter = RunFilter::all().limit(2);
        filter.before = before;
        let page = runs(&store).list(filter).await.unwrap();
        found.extend(page.summaries.iter().map(|name| name.trim_matches('"').to_owned()));
        let newer = run(&format!("newer {}", found.len()), NOON + 100);
        let mut again = run("run 0", NOON);
        again.state = "finished".into();
        runs(&store).add(vec![newer, again]).await.unwrap();
        let Some(next) = page.next else { break };
        before = Some(next.to_string().parse().unwrap());
    }
    assert_eq!(found.len(), names.len(), "{found:?}");
    found.sort();
    let mut names = names;
    names.sort();
    assert_eq!(found, names);
}
