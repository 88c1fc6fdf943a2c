//! Quotas: what is reserved is counted once, and never more than there is.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use hooks_agent_core::store::{
    CallRecord, CallState, Filter, Reservation, Store, StoreError, Window,
};

use crate::backend::{Backend, Shared, on_each};
use crate::suite::steps::{granted, key, step};

on_each! {
    a_key_is_counted_once,
    what_a_key_had_before_is_not_taken_back,
    all_of_it_is_reserved_or_nothing,
    connections_that_reserve_at_once_never_find_the_same_room,
    quotas_that_are_reserved_in_another_order_do_not_wait_for_each_other,
    what_was_used_takes_the_place_of_what_was_reserved,
    what_is_older_than_the_window_counts_no_longer,
    the_sums_that_are_kept_are_those_of_the_uses,
    a_window_counts_from_its_first_millisecond_on,
    a_step_reserves_and_is_written_or_neither,
    a_step_that_is_committed_again_reserves_once,
    names_that_cannot_be_stored_are_refused,
}

fn hour() -> Window {
    Window::Sliding(Duration::from_hours(1))
}

fn one(quota: &str, subject: &str, most: u64) -> Reservation {
    Reservation::new(quota, subject, 1, most, hour())
}

async fn used(store: &Shared, quota: &str) -> Vec<(String, u64)> {
    let uses = store.quota_uses(quota, &hour()).await.unwrap();
    uses.into_iter().map(|it| (it.subject.to_string(), it.amount)).collect()
}

fn is_exceeded<T>(reserved: Result<T, StoreError>) -> bool {
    match reserved {
        Ok(_) => false,
        Err(StoreError::Quota(_)) => true,
        Err(error) => panic!("{error:?}"),
    }
}

async fn a_key_is_counted_once(backend: &Backend) {
    let store = backend.store().await;
    for _ in 0..3 {
        store.reserve(vec![one("mails", "ada", 1).with_key("1")]).await.unwrap();
    }
    assert_eq!(used(&store, "mails").await, [("ada".to_owned(), 1)]);
    let error = store.reserve(vec![one("mails", "ada", 1).with_key("2")]).await.unwrap_err();
    let StoreError::Quota(exceeded) = error else { panic!("{error:?}") };
    assert_eq!((&*exceeded.quota, &*exceeded.subject), ("mails", "ada"));
    assert_eq!((exceeded.used, exceeded.amount, exceeded.most), (1, 1, 1));
    assert!(exceeded.until.is_some());
    // Others have a quota of an own, and other namespaces have another one.
    store.reserve(vec![one("mails", "bob", 1).with_key("2")]).await.unwrap();
    let other = backend.leased("other", Duration::from_secs(30)).await;
    other.reserve(vec![one("mails", "ada", 1).with_key("2")]).await.unwrap();
    assert_eq!(used(&store, "mails").await.len(), 2);
}

async fn what_a_key_had_before_is_not_taken_back(backend: &Backend) {
    let store = backend.store().await;
    let tokens = |key, amount| Reservation::new("t", "x", amount, 100, hour()).with_key(key);
    let taken_back = store.reserve(vec![tokens("1", 5)]).await.unwrap();
    assert_eq!(taken_back, [tokens("1", 0)]);
    assert_eq!(store.reserve(vec![tokens("1", 5)]).await.unwrap(), []);
    let taken_back = store.reserve(vec![tokens("1", 9), tokens("2", 1)]).await.unwrap();
    assert_eq!(taken_back, [tokens("1", 5), tokens("2", 0)]);
    assert_eq!(used(&store, "t").await, [("x".to_owned(), 10)]);
    store.settle(taken_back).await.unwrap();
    assert_eq!(used(&store, "t").await, [("x".to_owned(), 5)]);
}

async fn all_of_it_is_reserved_or_nothing(backend: &Backend) {
    let store = backend.store().await;
    let both = |key: &str| vec![one("a", "x", 5).with_key(key), one("b", "x", 1).with_key(key)];
    store.reserve(both("1")).await.unwrap();
    assert!(is_exceeded(store.reserve(both("2")).await));
    assert_eq!(used(&store, "a").await, [("x".to_owned(), 1)]);
    // Two reservations of one request share what is left.
    let twice = ["3", "4"].map(|key| one("c", "x", 1).with_key(key)).to_vec();
    assert!(is_exceeded(store.reserve(twice).await));
    assert_eq!(used(&store, "c").await, []);
}

async fn connections_that_reserve_at_once_never_find_the_same_room(backend: &Backend) {
    let stores = [backend.store().await, backend.store().await, backend.store().await];
    let reserve = |number: usize| {
        let store = stores[number % stores.len()].clone();
        let wanted = one("calls", "all", 25).with_key(number.to_string());
        tokio::spawn(async move { is_exceeded(store.reserve(vec![wanted]).await) })
    };
    let refused = join_all((0..90).map(reserve)).await;
    let refused = refused.into_iter().filter(|it| *it.as_ref().unwrap()).count();
    assert_eq!(refused, 65);
    assert_eq!(used(&stores[0], "calls").await, [("all".to_owned(), 25)]);
}

async fn quotas_that_are_reserved_in_another_order_do_not_wait_for_each_other(backend: &Backend) {
    let stores = [backend.store().await, backend.store().await];
    let reserve = |number: usize| {
        let store = stores[number % 2].clone();
        let mut wanted: Vec<_> = ["a", "b", "c", "d"]
            .map(|quota| one(quota, "x", 1000).with_key(number.to_string()))
            .to_vec();
        if number.is_multiple_of(2) {
            wanted.reverse();
        }
        tokio::spawn(async move { store.reserve(wanted).await })
    };
    for reserved in join_all((0..60).map(reserve)).await {
        reserved.unwrap().unwrap();
    }
    for quota in ["a", "b", "c", "d"] {
        assert_eq!(used(&stores[0], quota).await, [("x".to_owned(), 60)]);
    }
}

async fn what_was_used_takes_the_place_of_what_was_reserved(backend: &Backend) {
    let store = backend.store().await;
    let tokens = |amount| Reservation::new("tokens", "ada", amount, 100, hour());
    store.reserve(vec![tokens(40).with_key("1")]).await.unwrap();
    store.settle(vec![tokens(90).with_key("1"), tokens(5).with_key("unknown")]).await.unwrap();
    assert_eq!(used(&store, "tokens").await, [("ada".to_owned(), 90)]);
    assert!(is_exceeded(store.reserve(vec![tokens(11).with_key("2")]).await));
    // What was used may be more than there was, and is given back.
    store.settle(vec![tokens(250).with_key("1")]).await.unwrap();
    assert_eq!(used(&store, "tokens").await, [("ada".to_owned(), 250)]);
    store.settle(vec![tokens(0).with_key("1")]).await.unwrap();
    assert_eq!(used(&store, "tokens").await, []);
    store.reserve(vec![tokens(100).with_key("3")]).await.unwrap();
}

async fn what_is_older_than_the_window_counts_no_longer(backend: &Backend) {
    let store = backend.store().await;
    store.reserve(vec![one("mails", "ada", 1).with_key("1")]).await.unwrap();
    backend.sql("UPDATE quota_use SET at = at - 3599000, expires = expires - 3599000").await;
    assert!(is_exceeded(store.reserve(vec![one("mails", "ada", 1).with_key("2")]).await));
    backend.sql("UPDATE quota_use SET at = at - 2000, expires = expires - 2000").await;
    assert_eq!(used(&store, "mails").await, []);
    store.reserve(vec![one("mails", "ada", 1).with_key("2")]).await.unwrap();
    // A filter of threads leaves quotas as they are.
    assert_eq!(store.prune(Filter::agent("clerk")).await.unwrap(), 0);
    assert_eq!(store.prune(Filter::all()).await.unwrap(), 1);
    assert_eq!(used(&store, "mails").await, [("ada".to_owned(), 1)]);
    // A day that begins tomorrow, or one that began.
    let now = backend.sql("SELECT max(at) FROM quota_use").await[0][0].parse::<u64>().unwrap();
    let day = |start| Window::Since(vec![start, start + 86_400_000]);
    let uses = store.quota_uses("mails", &day(now + 3_600_000)).await.unwrap();
    assert_eq!(uses.len(), 1, "without a day that has come, all of the past counts");
    assert_eq!(store.quota_uses("mails", &day(now - 1)).await.unwrap().len(), 1);
    backend.sql("UPDATE quota_use SET at = at - 10000").await;
    assert_eq!(store.quota_uses("mails", &day(now - 1)).await.unwrap(), []);
}

/// Sums of all levels that are not those of the uses.
const WRONG_SUMS: &str = "
SELECT f.level, f.bucket, f.amount FROM (
    SELECT r.namespace, r.quota, r.subject, r.level, r.bucket, sum(r.amount) AS amount FROM (
        SELECT u.namespace, u.quota, u.subject, l.level, u.at >> l.level AS bucket, u.amount
        FROM quota_use u
        CROSS JOIN (SELECT 10 AS level UNION ALL SELECT 17 UNION ALL SELECT 24) AS l
        UNION ALL
        SELECT s.namespace, s.quota, s.subject, s.level, s.bucket, -s.amount FROM quota_sum s
    ) AS r GROUP BY r.namespace, r.quota, r.subject, r.level, r.bucket
) AS f WHERE f.amount <> 0";

async fn the_sums_that_are_kept_are_those_of_the_uses(backend: &Backend) {
    let stores = [backend.store().await, backend.leased("other", Duration::from_secs(30)).await];
    let tokens = |quota: &str, number: usize, amount| {
        Reservation::new(quota, format!("{}", number % 3), amount, 1 << 40, hour())
            .with_key(format!("{}", number % 40))
    };
    let change = |number: usize| {
        let store = stores[number % 2].clone();
        let amount = (number as u64).wrapping_mul(2_654_435_761) % 1000;
        let mut both = vec![tokens("a", number, amount), tokens("b", number, 1)];
        if number.is_multiple_of(2) {
            both.reverse();
        }
        tokio::spawn(async move {
            match number % 5 {
                0..3 => drop(store.reserve(both).await.unwrap()),
                3 => store.settle(both).await.unwrap(),
                _ => drop(store.prune(Filter::all()).await.unwrap()),
            }
        })
    };
    for round in 0..4 {
        for changed in join_all((0..60).map(|number| change(round * 60 + number))).await {
            changed.unwrap();
        }
        assert_eq!(backend.sql(WRONG_SUMS).await, Vec::<Vec<String>>::new());
        // Some of them are older than the window, and pruned.
        let back = "UPDATE quota_use SET at = at - 1300000, expires = expires - 1300000";
        backend.sql(back).await;
        assert_eq!(backend.sql(WRONG_SUMS).await, Vec::<Vec<String>>::new());
    }
    backend.sql("UPDATE quota_use SET expires = 0").await;
    for store in &stores {
        assert!(store.prune(Filter::all()).await.unwrap() > 0);
    }
    assert_eq!(backend.sql("SELECT * FROM quota_sum").await, Vec::<Vec<String>>::new());
}

async fn a_window_counts_from_its_first_millisecond_on(backend: &Backend) {
    let store = backend.store().await;
    let now = 1_700_000_000_000_u64;
    // Spans that begin where longer ones do, and others: of a millisecond to two months.
    let ages: Vec<u64> = (0..33).map(|bits| 1_u64 << bits).collect();
    let edges = [10, 17, 24].map(|level| now - ((now >> level) << level));
    let ages: Vec<u64> = ages.iter().flat_map(|age| [age - 1, *age, age + 1]).collect();
    let edges = edges.iter().flat_map(|edge| [*edge, edge + 1, edge + (1 << 24)]);
    let ages: Vec<u64> = ages.into_iter().chain(edges).collect();
    let rows = ages.iter().enumerate().map(|(number, age)| {
        let (at, amount) = (now - age, number * number + 1);
        format!("('default', 'q', 'x', 'k{number}', {amount}, {at}, {})", i64::MAX)
    });
    let rows: Vec<_> = rows.collect();
    let insert =
        "INSERT INTO quota_use (namespace, quota, subject, key, amount, at, expires) VALUES";
    backend.sql(&format!("{insert} {}", rows.join(", "))).await;
    for start in ages.iter().map(|age| now - age).chain([0, now + 1]) {
        let window = Window::Since(vec![start]);
        let wanted = Reservation::new("q", "x", 1 << 40, 0, window).with_key("k7");
        let refused = store.reserve(vec![wanted]).await.unwrap_err();
        let StoreError::Quota(exceeded) = refused else { panic!("{refused:?}") };
        let counted =
            ages.iter().enumerate().filter(|(number, age)| *number != 7 && now - **age >= start);
        let counted = counted.map(|(number, _)| (number * number + 1) as u64).sum::<u64>();
        assert_eq!(exceeded.used, counted, "since {start}");
    }
}

async fn a_step_reserves_and_is_written_or_neither(backend: &Backend) {
    let store = backend.store().await;
    assert!(store.keeps_quotas());
    let lease = granted(&store, &key("ada")).await;
    let mut first = step(0);
    first.calls = vec![CallRecord::new("k", "1", "pay")];
    first.calls[0].state = CallState::Started;
    first.reservations = vec![one("pay", "ada", 1).with_key("k")];
    store.commit(&lease, &first).await.unwrap();
    assert_eq!(used(&store, "pay").await, [("ada".to_owned(), 1)]);
    let mut second = step(1);
    second.reservations =
        vec![one("other", "ada", 9).with_key("l"), one("pay", "ada", 1).with_key("l")];
    assert!(is_exceeded(store.commit(&lease, &second).await));
    assert_eq!(store.load(&lease).await.unwrap().version, 1);
    assert_eq!(used(&store, "other").await, []);
    // A step that another owner's thread refuses reserves nothing.
    let mut third = step(7);
    third.reservations = vec![one("other", "ada", 9).with_key("m")];
    let refused = store.commit(&lease, &third).await.unwrap_err();
    assert!(matches!(refused, StoreError::Conflict { found: 1, .. }), "{refused:?}");
    assert_eq!(used(&store, "other").await, []);
    second.reservations.pop();
    store.commit(&lease, &second).await.unwrap();
    assert_eq!(used(&store, "other").await, [("ada".to_owned(), 1)]);
}

async fn a_step_that_is_committed_again_reserves_once(backend: &Backend) {
    let store = backend.store().await;
    let lease = granted(&store, &key("ada")).await;
    let mut step = step(0);
    step.reservations = vec![one("pay", "ada", 1).with_key("k")];
    store.commit(&lease, &step).await.unwrap();
    // The answer was lost.
    store.commit(&lease, &step).await.unwrap();
    assert_eq!(used(&store, "pay").await, [("ada".to_owned(), 1)]);
    assert_eq!(store.load(&lease).await.unwrap().version, 1);
}

async fn names_that_cannot_be_stored_are_refused(backend: &Backend) {
    let store = backend.store().await;
    let long: Arc<str> = "x".repeat(513).into();
    for wanted in [
        one("", "ada", 1).with_key("1"),
        one("mails", &long, 1).with_key("1"),
        one("mails", "ada", 1),
        one("mails", "a\0da", 1).with_key("1"),
    ] {
        let refused = store.reserve(vec![wanted]).await.unwrap_err();
        assert!(matches!(refused, StoreError::Name(_)), "{refused:?}");
    }
    let named = one("'; DROP TABLE quota_use; --", "\u{1}💶", 1).with_key("k'");
    store.reserve(vec![named]).await.unwrap();
    assert_eq!(used(&store, "'; DROP TABLE quota_use; --").await.len(), 1);
}
