//! A disk that fills up.

use std::process::Command;
use std::sync::Arc;

use hooks_agent_core::store::StoreError;
use hooks_agent_sql::store::SqliteStore;
use hooks_fixtures::tell;
use serde_json::json;

use crate::backend::{Folder, Shared};
use crate::suite::steps::{granted, key, step};

/// A small disk in memory, if this process may mount one.
struct Disk(Folder);

impl Disk {
    fn new() -> Option<Self> {
        let folder = Folder::new();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=2m", "tmpfs"])
            .arg(folder.path())
            .output();
        mounted.is_ok_and(|done| done.status.success()).then_some(Self(folder))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).output();
    }
}

#[tokio::test]
async fn ds_13_a_full_disk_loses_nothing_that_was_committed() {
    let Some(disk) = Disk::new() else {
        tell("skipped: no small disk can be mounted here");
        return;
    };
    let path = disk.0.path().join("a.db");
    let store: Shared = Arc::new(SqliteStore::open(&path).await.unwrap());
    let lease = granted(&store, &key("ada")).await;
    let filler = disk.0.path().join("filler");
    let space = |bytes| std::fs::write(&filler, vec![0; bytes]);
    let mut bytes = 1 << 20;
    while bytes > 512 {
        // Ends with no space but for less than a page.
        let kept = std::fs::metadata(&filler).map_or(0, |file| file.len());
        if space(usize::try_from(kept).unwrap() + bytes).is_err() {
            let _ = space(usize::try_from(kept).unwrap());
            bytes /= 2;
        }
    }
    let mut version = 0;
    let error = loop {
        let mut big = step(version);
        big.state = json!("x".repeat(8192));
        match store.commit(&lease, &big).await {
            Ok(()) => version += 1,
            Err(error) => break error,
        }
        assert!(version < 1000);
    };
    assert!(matches!(error, StoreError::Full(_)), "{error:?}");
    let read = store.load(&lease).await.unwrap();
    assert_eq!((read.version, read.messages.len() as u64), (version, version));
    std::fs::remove_file(&filler).unwrap();
    store.commit(&lease, &step(version)).await.unwrap();
    assert_eq!(store.load(&lease).await.unwrap().version, version + 1);
}
