//! Names are data of any content, and namespaces do not see each other.

use std::time::Duration;

use hooks_agent_core::call::RunId;
use hooks_agent_core::store::{Acquired, Claim, Filter, NameError, StoreError, ThreadKey};
use serde_json::{Map, json};

use crate::backend::{Backend, on_each};
use crate::suite::steps::{granted, key, step};

on_each! {
    ds_18_names_are_data_of_any_content,
    names_that_cannot_be_stored_are_refused,
    ds_02_namespaces_and_agents_are_apart,
}

async fn ds_18_names_are_data_of_any_content(backend: &Backend) {
    let names =
        ["'; DROP TABLE thread; --", "\"", "%_\\", "🦀👩‍👩‍👧", " ", "$1", &"é".repeat(256), "null"];
    for name in names {
        let store = backend.leased(name, Duration::from_secs(30)).await;
        let key = ThreadKey::new(name, name).unwrap();
        let lease = granted(&store, &key).await;
        let mut first = step(0);
        first.user = Some(name.into());
        first.values = vec![(name.to_owned(), Some(json!(name)))];
        store.commit(&lease, &first).await.unwrap();
        let filter = Filter::agent(name).thread(name).user(name);
        assert_eq!(store.threads(filter).await.unwrap()[0].key, key);
        assert_eq!(store.values(&key).await.unwrap()[name], name);
        assert_eq!(store.load(&lease).await.unwrap().messages.len(), 1);
        assert_eq!(store.threads(Filter::all()).await.unwrap().len(), 1);
    }
}

async fn names_that_cannot_be_stored_are_refused(backend: &Backend) {
    assert!(matches!(ThreadKey::new("a", "a\0b"), Err(NameError::Nul { .. })));
    assert!(matches!(ThreadKey::new("a".repeat(513), "a"), Err(NameError::TooLong { .. })));
    let store = backend.store().await;
    let lease = granted(&store, &key("ada")).await;
    let mut named = step(0);
    named.values = vec![("a\0b".to_owned(), Some(json!(1)))];
    assert!(matches!(store.commit(&lease, &named).await, Err(StoreError::Name(_))));
    let mut of_user = step(0);
    of_user.user = Some("u".repeat(513).into());
    assert!(matches!(store.commit(&lease, &of_user).await, Err(StoreError::Name(_))));
    let values = Map::from_iter([("a\0b".to_owned(), json!(1))]);
    let imported = store.import(&key("bob"), Vec::new(), values, None).await;
    assert!(matches!(imported, Err(StoreError::Name(_))));
    assert_eq!(store.load(&lease).await.unwrap().version, 0);
}

async fn ds_02_namespaces_and_agents_are_apart(backend: &Backend) {
    let store = backend.store().await;
    let other = backend.leased("other", Duration::from_secs(30)).await;
    let lease = granted(&store, &key("ada")).await;
    let mut first = step(0);
    first.values = vec![("count".into(), Some(json!(3)))];
    store.commit(&lease, &first).await.unwrap();
    assert!(other.history(&key("ada")).await.unwrap().is_empty());
    assert!(other.values(&key("ada")).await.unwrap().is_empty());
    assert!(other.threads(Filter::all()).await.unwrap().is_empty());
    // Not even with a lease of the other namespace.
    assert!(matches!(other.load(&lease).await, Err(StoreError::LeaseLost { .. })));
    assert!(matches!(other.commit(&lease, &step(1)).await, Err(StoreError::LeaseLost { .. })));
    assert_eq!(
        other.renew(std::slice::from_ref(&lease)).await.unwrap(),
        std::slice::from_ref(&lease)
    );
    other.release(&lease).await.unwrap();
    assert_eq!(store.load(&lease).await.unwrap().version, 1);
    let same_name = granted(&other, &key("ada")).await;
    assert_ne!(same_name.row, lease.row);
    let other_agent = ThreadKey::new("cashier", "ada").unwrap();
    assert_ne!(granted(&store, &other_agent).await.row, lease.row);
    assert_eq!(
        store.acquire(&key("ada"), RunId::random(), &Claim::new()).await.unwrap(),
        Acquired::Busy
    );
    store.release(&lease).await.unwrap();
    other.release(&same_name).await.unwrap();
    assert_eq!(other.forget(Filter::all()).await.unwrap(), 1);
    assert_eq!(store.history(&key("ada")).await.unwrap().len(), 1);
}
