//! Leases: one owner at a time, and who is next.

use std::time::Duration;

use hooks_agent_core::call::RunId;
use hooks_agent_core::store::{Acquired, Claim, Lease, StoreError, ThreadKey};

use crate::backend::{Backend, Shared, on_each};
use crate::suite::steps::{granted, key, step};

on_each! {
    a_thread_has_one_owner,
    a_lease_that_is_over_is_taken_by_the_next_with_a_greater_number,
    a_released_lease_is_no_takeover,
    a_former_owner_writes_nothing,
    a_lease_that_is_over_is_good_until_another_takes_it,
    renewed_leases_last_and_lost_ones_are_returned,
    whoever_waits_longer_is_first,
    whoever_stops_waiting_is_passed,
    a_release_of_a_lost_lease_does_nothing,
    waiting_ends_within_a_second,
    a_withdrawn_request_keeps_no_place_and_no_lease,
    many_requests_at_once_grant_one_lease,
}

/// Lets every lease end.
async fn end_leases(backend: &Backend) {
    backend.sql("UPDATE thread SET lease_until = 1 WHERE owner IS NOT NULL").await;
}

async fn is_busy(store: &Shared, key: &ThreadKey, owner: RunId) -> bool {
    store.acquire(key, owner, &Claim::new()).await.unwrap() == Acquired::Busy
}

async fn a_thread_has_one_owner(backend: &Backend) {
    let (store, other) = (backend.store().await, backend.store().await);
    let lease = granted(&store, &key("ada")).await;
    assert_eq!(lease.fence, 1);
    assert!(is_busy(&other, &key("ada"), RunId::random()).await);
    granted(&other, &key("bob")).await;
}

async fn a_lease_that_is_over_is_taken_by_the_next_with_a_greater_number(backend: &Backend) {
    let store = backend.store().await;
    let first = granted(&store, &key("ada")).await;
    end_leases(backend).await;
    let taken = store.acquire(&key("ada"), RunId::random(), &Claim::new()).await.unwrap();
    let Acquired::Granted { lease, is_takeover, version, .. } = taken else { panic!("busy") };
    assert!(is_takeover && lease.fence > first.fence && lease.row == first.row && version == 0);
}

async fn a_released_lease_is_no_takeover(backend: &Backend) {
    let store = backend.store().await;
    let first = granted(&store, &key("ada")).await;
    let mut left = step(0);
    left.in_call = true;
    store.commit(&first, &left).await.unwrap();
    store.release(&first).await.unwrap();
    let taken = store.acquire(&key("ada"), RunId::random(), &Claim::new()).await.unwrap();
    let Acquired::Granted { is_takeover, version, .. } = taken else { panic!("busy") };
    assert!(!is_takeover && version == 1);
}

async fn a_former_owner_writes_nothing(backend: &Backend) {
    let store = backend.store().await;
    let former = granted(&store, &key("ada")).await;
    end_leases(backend).await;
    let owner = granted(&store, &key("ada")).await;
    let lost = store.commit(&former, &step(0)).await.unwrap_err();
    assert!(matches!(lost, StoreError::LeaseLost { thread } if thread == key("ada")));
    assert!(matches!(store.load(&former).await, Err(StoreError::LeaseLost { .. })));
    assert_eq!(store.load(&owner).await.unwrap().version, 0);
    assert!(store.history(&key("ada")).await.unwrap().is_empty());
}

async fn a_lease_that_is_over_is_good_until_another_takes_it(backend: &Backend) {
    let store = backend.store().await;
    let lease = granted(&store, &key("ada")).await;
    end_leases(backend).await;
    store.commit(&lease, &step(0)).await.unwrap();
    assert_eq!(store.renew(std::slice::from_ref(&lease)).await.unwrap(), []);
    assert!(is_busy(&store, &key("ada"), RunId::random()).await);
}

async fn renewed_leases_last_and_lost_ones_are_returned(backend: &Backend) {
    let store = backend.store().await;
    let (ada, bob) = (granted(&store, &key("ada")).await, granted(&store, &key("bob")).await);
    end_leases(backend).await;
    granted(&store, &key("bob")).await;
    let unknown = Lease::new(key("eve"), RunId::random(), 1, 1);
    let leases = [ada.clone(), bob.clone(), unknown.clone()];
    assert_eq!(store.renew(&leases).await.unwrap(), [bob, unknown]);
    assert!(is_busy(&store, &key("ada"), RunId::random()).await);
    assert_eq!(store.renew(&[]).await.unwrap(), []);
}

async fn whoever_waits_longer_is_first(backend: &Backend) {
    let store = backend.store().await;
    let owner = granted(&store, &key("ada")).await;
    let (first, second) = (RunId::random(), RunId::random());
    assert!(is_busy(&store, &key("ada"), first).await);
    assert!(is_busy(&store, &key("ada"), second).await);
    assert!(is_busy(&store, &key("ada"), first).await);
    store.release(&owner).await.unwrap();
    assert!(is_busy(&store, &key("ada"), second).await);
    assert!(is_busy(&store, &key("ada"), RunId::random()).await);
    assert!(!is_busy(&store, &key("ada"), first).await);
    assert!(is_busy(&store, &key("ada"), second).await);
}

async fn whoever_stops_waiting_is_passed(backend: &Backend) {
    let store = backend.store().await;
    let owner = granted(&store, &key("ada")).await;
    assert!(is_busy(&store, &key("ada"), RunId::random()).await);
    let mut last = step(0);
    last.releases = true;
    store.commit(&owner, &last).await.unwrap();
    backend.sql("UPDATE lease_waiter SET until = 1").await;
    let next = granted(&store, &key("ada")).await;
    store.release(&next).await.unwrap();
    assert_eq!(backend.sql("SELECT * FROM lease_waiter").await.len(), 0);
}

async fn a_release_of_a_lost_lease_does_nothing(backend: &Backend) {
    let store = backend.store().await;
    let former = granted(&store, &key("ada")).await;
    end_leases(backend).await;
    granted(&store, &key("ada")).await;
    store.release(&former).await.unwrap();
    assert!(is_busy(&store, &key("ada"), RunId::random()).await);
}

async fn waiting_ends_within_a_second(backend: &Backend) {
    let store = backend.store().await;
    granted(&store, &key("ada")).await;
    let begin = std::time::Instant::now();
    store.freed(&key("ada")).await;
    let waited = begin.elapsed();
    assert!(waited >= Duration::from_millis(240) && waited < Duration::from_secs(3), "{waited:?}");
}

async fn many_requests_at_once_grant_one_lease(backend: &Backend) {
    let stores = [backend.store().await, backend.store().await];
    let requests = (0..16).map(|number| {
        let store = stores[number % 2].clone();
        tokio::spawn(async move {
            store.acquire(&key("ada"), RunId::random(), &Claim::new()).await.unwrap()
        })
    });
    let answers = futures::future::join_all(requests).await;
    let is_granted = |answer: &Acquired| matches!(answer, Acquired::Granted { .. });
    assert_eq!(answers.iter().filter(|it| is_granted(it.as_ref().unwrap())).count(), 1);
}

async fn a_withdrawn_request_keeps_no_place_and_no_lease(backend: &Backend) {
    let store = backend.store().await;
    let owner = granted(&store, &key("ada")).await;
    let (first, second) = (RunId::random(), RunId::random());
    assert!(is_busy(&store, &key("ada"), first).await);
    assert!(is_busy(&store, &key("ada"), second).await);
    store.withdraw(&key("ada"), first).await.unwrap();
    assert!(is_busy(&store, &key("ada"), second).await);
    store.release(&owner).await.unwrap();
    assert!(!is_busy(&store, &key("ada"), second).await);
    store.withdraw(&key("ada"), second).await.unwrap();
    store.withdraw(&key("no such thread"), second).await.unwrap();
    granted(&store, &key("ada")).await;
}
