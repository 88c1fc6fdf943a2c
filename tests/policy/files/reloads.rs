//! Reloads: all or nothing, once for each change, and one version for each call.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::time::Duration;

use hooks_agent_core::prelude::*;
use hooks_agent_policy::policy::{Policy, PolicyEvent, PolicyEvents, Reloaded};

use crate::support::{Folder, builder, reply, says, with_say};

/// Waits for the next event, which must be a reload.
fn reloaded(events: &mut PolicyEvents) -> Reloaded {
    match events.wait() {
        Some(PolicyEvent::Reloaded(reloaded)) => reloaded,
        other => panic!("expected a reload, found {other:?}"),
    }
}

/// PF-10, by a rename.
#[test]
fn a_file_that_is_saved_by_a_rename_is_reloaded_once() {
    let folder = Folder::with(&says(" one"));
    let policy = folder.policy();
    let mut events = policy.subscribe();
    let watcher = policy.watch().unwrap();
    folder.save_by_rename(&says(" two"));
    assert_eq!(reloaded(&mut events).version, 2);
    folder.save_by_rename(&says(" three"));
    assert_eq!(reloaded(&mut events).version, 3);
    drop(watcher);
    assert_eq!(events.try_next(), None);
}

/// PF-10, by a symbolic link, as mounts of clusters do.
#[test]
fn a_file_behind_a_link_that_is_swapped_is_reloaded_once() {
    let folder = Folder::with("");
    let place = |name: &str, text: &str| {
        fs::create_dir(folder.path().join(name)).unwrap();
        fs::write(folder.path().join(name).join("policy.toml"), text).unwrap();
    };
    fs::remove_file(folder.file()).unwrap();
    place("v1", &says(" one"));
    place("v2", &says(" two"));
    symlink("v1", folder.path().join("data")).unwrap();
    symlink("data/policy.toml", folder.file()).unwrap();
    let policy = folder.policy();
    let mut events = policy.subscribe();
    let watcher = policy.watch().unwrap();
    symlink("v2", folder.path().join("data.next")).unwrap();
    fs::rename(folder.path().join("data.next"), folder.path().join("data")).unwrap();
    assert_eq!(reloaded(&mut events).changed, ["say"]);
    drop(watcher);
    assert_eq!(events.try_next(), None);
}

#[test]
fn a_file_that_is_saved_in_place_is_reloaded() {
    let folder = Folder::with(&says(" one"));
    let policy = folder.policy();
    let mut events = policy.subscribe();
    let _watcher = policy.watch().unwrap();
    folder.write(&says(" two"));
    while reloaded_or_failed(&mut events).is_none() {}
    assert_eq!(policy.merged().hooks().len(), 1);
}

/// A file that is written in place may be read while it is empty.
fn reloaded_or_failed(events: &mut PolicyEvents) -> Option<Reloaded> {
    match events.wait().unwrap() {
        PolicyEvent::Reloaded(reloaded) => Some(reloaded),
        _ => None,
    }
}

#[test]
fn a_watcher_that_misses_events_converges() {
    let folder = Folder::with("");
    let inner = folder.path().join("inner");
    fs::create_dir(&inner).unwrap();
    fs::write(inner.join("p.toml"), says(" one")).unwrap();
    let policy = with_say(Policy::builder().project(inner.join("p.toml")))
        .recheck_every(Duration::from_millis(20))
        .open()
        .unwrap();
    let mut events = policy.subscribe();
    let _watcher = policy.watch().unwrap();
    // The watch goes away with the directory; the new one has none.
    let next = folder.path().join("next");
    fs::create_dir(&next).unwrap();
    fs::write(next.join("p.toml"), says(" two")).unwrap();
    fs::rename(&inner, folder.path().join("old")).unwrap();
    fs::rename(&next, &inner).unwrap();
    while reloaded_or_failed(&mut events).is_none_or(|it| !it.has_changed) {}
    assert_eq!(policy.version(), 2);
}

#[test]
fn polling_sees_changes_without_events_of_the_file_system() {
    let folder = Folder::with(&says(" one"));
    let policy = folder.policy();
    let mut events = policy.subscribe();
    let poll = policy.poll(Duration::from_millis(5)).unwrap();
    folder.save_by_rename(&says(" two"));
    assert_eq!(reloaded(&mut events).version, 2);
    drop(poll);
    folder.save_by_rename(&says(" three"));
    assert_eq!((policy.version(), events.try_next()), (2, None));
}

#[test]
fn a_failure_is_one_event_and_the_repair_another() {
    let folder = Folder::with(&says(" one"));
    let policy = folder.policy();
    let mut events = policy.subscribe();
    let _poll = policy.poll(Duration::from_millis(1)).unwrap();
    folder.save_by_rename("version = 3");
    assert!(matches!(events.wait(), Some(PolicyEvent::Failed(_))));
    for _ in 0..1_000 {
        folder.save_by_rename("version = 3");
    }
    folder.save_by_rename(&says(" one"));
    // The next event is the repair, however often the bad file was read.
    let repaired = reloaded(&mut events);
    assert_eq!((repaired.version, repaired.has_changed), (1, false));
}

#[tokio::test]
async fn the_same_bytes_change_nothing() {
    let folder = Folder::with(&says(" one"));
    let policy = folder.policy();
    let mut events = policy.subscribe();
    folder.save_by_rename(&says(" one"));
    assert!(!policy.reload().unwrap().has_changed);
    assert_eq!((policy.version(), events.try_next()), (1, None));
}

#[tokio::test]
async fn a_file_that_cannot_be_read_keeps_the_last_policy() {
    let folder = Folder::with(&says(" one"));
    let optional =
        hooks_agent_policy::policy::PolicyFile::at(folder.path().join("user.toml")).optional();
    fs::write(folder.path().join("user.toml"), "version = 1\n[limits]\nmax_iters = 3\n").unwrap();
    let builder = with_say(Policy::builder().project(folder.file()));
    let policy = builder.user(optional).open().unwrap();
    let fails = |what: &str| {
        let errors = policy.reload().unwrap_err().to_string();
        assert!(errors.contains(what), "{errors}");
        assert_eq!((policy.version(), policy.merged().max_iters()), (1, Some(3)));
    };
    // Gone, though it may be missing when the policy is opened.
    fs::remove_file(folder.path().join("user.toml")).unwrap();
    fails("user.toml: the file is gone");
    fs::write(folder.path().join("user.toml"), "version = 1\n[limits]\nmax_iters = 3\n").unwrap();
    fs::remove_file(folder.file()).unwrap();
    fails("cannot be read");
    // A directory in its place.
    fs::create_dir(folder.file()).unwrap();
    fails("expected a file");
    fs::remove_dir(folder.file()).unwrap();
    // Not UTF-8.
    fs::write(folder.file(), b"version = 1\n# \xff\n").unwrap();
    fails("policy.toml:2:3: expected text in UTF-8");
    assert_eq!(reply(&policy, "bot").await, "Done. one");
}

#[test]
fn a_directory_that_cannot_be_written_is_watched() {
    let folder = Folder::with("");
    let inner = folder.path().join("inner");
    fs::create_dir(&inner).unwrap();
    fs::write(inner.join("p.toml"), says(" one")).unwrap();
    let policy = with_say(Policy::builder().project(inner.join("p.toml"))).open().unwrap();
    fs::set_permissions(&inner, fs::Permissions::from_mode(0o555)).unwrap();
    let mut events = policy.subscribe();
    let watcher = policy.watch().unwrap();
    // Saved in place: no other file can be created.
    fs::write(inner.join("p.toml"), says(" two")).unwrap();
    while reloaded_or_failed(&mut events).is_none() {}
    drop(watcher);
    assert_eq!(policy.merged().hooks().len(), 1);
    fs::set_permissions(&inner, fs::Permissions::from_mode(0o755)).unwrap();
}

#[tokio::test]
async fn a_hook_that_stays_the_same_keeps_what_it_counted() {
    let limit = "[[hook]]\nuse = \"rate_limit\"\nwith = { of = \"models\", requests = { count = 1, \
                 per = \"1h\" } }\n";
    let folder = Folder::with(&format!("version = 1\n{limit}"));
    let policy = folder.policy();
    assert_eq!(reply(&policy, "bot").await, "Done.");
    folder.write(&format!("{}{limit}priority = 7\n", says(" two")));
    assert_eq!(policy.reload().unwrap().to_string(), "version 2, added: say, changed: rate_limit");
    let agent = builder("bot", &policy).build().unwrap();
    agent.call("Go").await.unwrap_err();
}
