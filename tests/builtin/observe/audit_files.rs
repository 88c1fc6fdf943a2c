//! The files of an `AuditLog`: reopened, torn by a kill, rotated.

use std::fs::{self, File};
use std::io::Write;

use futures::executor::block_on;
use hooks_agent_builtin::observe::{AuditError, AuditLog};
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use hooks_fixtures::Reports;
use tracing::Level;

use crate::audit_log::{Folder, one_call, records};

#[test]
fn a_log_is_continued_when_it_is_opened_again() {
    let folder = Folder::new();
    for _ in 0..3 {
        one_call(&AuditLog::builder(folder.log()).key("k").open().unwrap());
    }
    let verified = AuditLog::verify_with_key(folder.log(), "k").unwrap();
    assert_eq!((verified.lines, verified.sealed, verified.recoveries), (24, 24, 0));
}

#[test]
fn two_logs_do_not_write_to_one_file() {
    let folder = Folder::new();
    let log = AuditLog::builder(folder.log()).open().unwrap();
    let second = AuditLog::builder(folder.log()).open();
    assert!(matches!(second, Err(AuditError::InUse { .. })), "{second:?}");
    drop(log);
    AuditLog::builder(folder.log()).open().unwrap();
}

#[test]
fn a_line_that_a_kill_tore_is_cut_off_and_the_chain_goes_on() {
    let folder = Folder::new();
    one_call(&AuditLog::builder(folder.log()).open().unwrap());
    let whole = fs::read(folder.log()).unwrap();
    let last_line = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    // Whatever the place; the head is of an earlier end.
    for cut in (last_line + 1..whole.len()).step_by(7) {
        fs::remove_file(folder.0.join("audit.jsonl.head")).unwrap();
        fs::write(folder.log(), &whole[..cut]).unwrap();
        let torn = AuditLog::verify(folder.log()).unwrap();
        assert_eq!((torn.lines, torn.torn_bytes), (7, (cut - last_line) as u64));
        assert!(!torn.is_sealed());
        one_call(&AuditLog::builder(folder.log()).open().unwrap());
        let verified = AuditLog::verify(folder.log()).unwrap();
        assert_eq!((verified.lines, verified.recoveries, verified.torn_bytes), (15, 1, 0));
        assert!(verified.is_sealed());
    }
}

#[test]
fn a_whole_line_without_its_line_feed_is_kept() {
    let folder = Folder::new();
    one_call(&AuditLog::builder(folder.log()).open().unwrap());
    let whole = fs::read(folder.log()).unwrap();
    fs::write(folder.log(), &whole[..whole.len() - 1]).unwrap();
    assert_eq!(AuditLog::verify(folder.log()).unwrap().lines, 8);
    drop(AuditLog::builder(folder.log()).open().unwrap());
    let verified = AuditLog::verify(folder.log()).unwrap();
    assert_eq!((verified.lines, verified.recoveries), (9, 0));
}

#[test]
fn a_file_with_only_a_part_of_its_first_line_begins_anew() {
    let folder = Folder::new();
    fs::write(folder.log(), r#"{"seq":1,"ti"#).unwrap();
    one_call(&AuditLog::builder(folder.log()).open().unwrap());
    let verified = AuditLog::verify(folder.log()).unwrap();
    assert_eq!((verified.lines, verified.recoveries), (8, 1));
}

#[test]
fn files_are_rotated_and_verified_in_order() {
    let folder = Folder::new();
    let log = AuditLog::builder(folder.log()).key("k").rotate_at(2000).open().unwrap();
    for _ in 0..5 {
        one_call(&log);
    }
    drop(log);
    let log = AuditLog::builder(folder.log()).key("k").rotate_at(2000).open().unwrap();
    one_call(&log);
    drop(log);
    let verified = AuditLog::verify_with_key(folder.log(), "k").unwrap();
    assert_eq!((verified.lines, verified.is_sealed()), (1 + 7 * 6 + 1, true));
    let rotated = |number: usize| folder.0.join(format!("audit.jsonl.{number}"));
    let count = (1..100).take_while(|number| rotated(*number).exists()).count();
    assert!(count > 4);
    for number in 1..=count {
        assert!(fs::metadata(rotated(number)).unwrap().len() <= 2000);
    }
    let last = records(&rotated(1)).last().unwrap()["hash"].clone();
    assert_eq!(records(&rotated(2))[0]["prev"], last);

    let mut files: Vec<_> = (1..=count).map(rotated).collect();
    files.push(folder.log());
    assert_eq!(AuditLog::verify_files(&files, Some(b"k")).unwrap(), verified);
    files.swap(0, 1);
    assert!(AuditLog::verify_files(&files, Some(b"k")).is_err());
    // A file that is gone.
    fs::rename(rotated(2), folder.0.join("away")).unwrap();
    let removed = AuditLog::verify_with_key(folder.log(), "k").unwrap_err();
    assert!(matches!(removed, AuditError::Removed { line: 1, .. }), "{removed}");

    // The log goes on behind its last file, and overwrites none.
    fs::remove_file(rotated(1)).unwrap();
    let log = AuditLog::builder(folder.log()).key("k").rotate_at(1000).open().unwrap();
    one_call(&log);
    assert!(!rotated(1).exists() && !rotated(2).exists() && rotated(count + 1).exists());
}

#[test]
fn a_kill_between_two_files_loses_nothing() {
    let folder = Folder::new();
    one_call(&AuditLog::builder(folder.log()).open().unwrap());
    fs::rename(folder.log(), folder.0.join("audit.jsonl.1")).unwrap();
    assert!(AuditLog::verify(folder.log()).unwrap().is_sealed());
    one_call(&AuditLog::builder(folder.log()).open().unwrap());
    assert_eq!(AuditLog::verify(folder.log()).unwrap().lines, 16);
}

#[test]
fn a_file_of_something_else_is_not_continued() {
    let folder = Folder::new();
    fs::write(folder.log(), "hello\nworld\n").unwrap();
    let error = AuditLog::builder(folder.log()).open().unwrap_err();
    assert!(matches!(error, AuditError::Changed { line: 2, .. }), "{error}");
    assert_eq!(fs::read_to_string(folder.log()).unwrap(), "hello\nworld\n");
    one_call(&AuditLog::builder(folder.0.join("keyed")).key("a").open().unwrap());
    assert!(AuditLog::builder(folder.0.join("keyed")).key("b").open().is_err());
    assert!(matches!(AuditLog::builder(folder.log()).key("").open(), Err(AuditError::EmptyKey)));
}

/// A log that cannot be written to until `audit.jsonl.1` is gone.
fn full(folder: &Folder, fail_fast: bool) -> AuditLog {
    let log = AuditLog::builder(folder.log()).fail_fast(fail_fast).rotate_at(1).open().unwrap();
    // The next line needs a new file, whose name is taken.
    fs::create_dir(folder.0.join("audit.jsonl.1")).unwrap();
    File::create(folder.0.join("audit.jsonl.1/x")).unwrap();
    log
}

#[test]
fn a_line_that_cannot_be_written_fails_the_call_before_anything_happens() {
    let folder = Folder::new();
    let log = full(&folder, true);
    let model = Script::new().says("never");
    let agent = ReActAgent::builder("bot").model(model.clone()).hook(log).build().unwrap();
    let error = block_on(agent.call("go")).unwrap_err();
    assert!(error.to_string().contains("AuditLog"), "{error}");
    assert_eq!(model.requests().len(), 0);
}

#[test]
fn a_line_that_cannot_be_written_is_reported_by_choice_and_the_chain_goes_on() {
    let folder = Folder::new();
    let log = full(&folder, false);
    let (reports, reported) = Reports::up_to(Level::WARN);
    tracing::subscriber::with_default(reports, || one_call(&log));
    assert_eq!(reported.take().iter().filter(|it| it.contains("audit log")).count(), 7);
    fs::remove_dir_all(folder.0.join("audit.jsonl.1")).unwrap();
    one_call(&log);
    log.close().unwrap();
    assert_eq!(AuditLog::verify(folder.log()).unwrap().lines, 8);
}

#[test]
fn every_line_is_on_the_disk_by_choice() {
    let folder = Folder::new();
    let log = AuditLog::builder(folder.log()).sync_every_line(true).rotate_at(3000).open().unwrap();
    one_call(&log);
    log.close().unwrap();
    assert_eq!(AuditLog::verify(folder.log()).unwrap().lines, 8);
    // Not a line of the log.
    File::options().append(true).open(folder.log()).unwrap().write_all(b"x").unwrap();
    assert_eq!(AuditLog::verify(folder.log()).unwrap().torn_bytes, 1);
}

#[test]
fn a_part_of_a_line_in_a_rotated_file_is_a_change() {
    let folder = Folder::new();
    let log = AuditLog::builder(folder.log()).rotate_at(2000).open().unwrap();
    for _ in 0..3 {
        one_call(&log);
    }
    log.close().unwrap();
    let first = folder.0.join("audit.jsonl.1");
    let whole = fs::read(&first).unwrap();
    let count = records(&first).len() as u64;
    // A kill leaves a part of a line at the end of the last file only.
    fs::write(&first, [&whole[..], b"{\"seq\":"].concat()).unwrap();
    let error = AuditLog::verify(folder.log()).unwrap_err();
    let AuditError::Changed { path, line } = error else { panic!("{error}") };
    assert_eq!((path, line), (first.clone(), count + 1));
    fs::write(&first, &whole[..whole.len() - 2]).unwrap();
    let error = AuditLog::verify(folder.log()).unwrap_err();
    assert!(matches!(error, AuditError::Changed { line, .. } if line == count), "{error}");
}
