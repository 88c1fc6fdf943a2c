//! Changes of a log that `AuditLog::verify` finds.

use std::fs;
use std::path::PathBuf;

use hooks_agent_builtin::observe::{AuditError, AuditLog, Verified};

use crate::audit_log::{Folder, one_call};

const KEY: &[u8] = b"a key of the tests";

/// A closed log of two calls.
struct Sample {
    folder: Folder,
    key: Option<&'static [u8]>,
    lines: Vec<String>,
}

impl Sample {
    fn new(key: Option<&'static [u8]>) -> Self {
        let folder = Folder::new();
        let builder = AuditLog::builder(folder.log());
        let log = match key {
            Some(key) => builder.key(key).open(),
            None => builder.open(),
        };
        let log = log.unwrap();
        one_call(&log);
        one_call(&log);
        log.close().unwrap();
        let text = fs::read_to_string(folder.log()).unwrap();
        let lines = text.split_inclusive('\n').map(str::to_owned).collect();
        Self { folder, key, lines }
    }

    fn both() -> [Self; 2] {
        [Self::new(None), Self::new(Some(KEY))]
    }

    fn head(&self) -> PathBuf {
        self.folder.log().with_extension("jsonl.head")
    }

    /// Verifies these lines instead of its own.
    fn with(&self, lines: &[String]) -> Result<Verified, AuditError> {
        fs::write(self.folder.log(), lines.concat()).unwrap();
        match self.key {
            Some(key) => AuditLog::verify_with_key(self.folder.log(), key),
            None => AuditLog::verify(self.folder.log()),
        }
    }
}

/// The line that the error names.
fn line_of(error: &AuditError) -> u64 {
    match error {
        AuditError::Changed { line, .. }
        | AuditError::Removed { line, .. }
        | AuditError::Added { line, .. }
        | AuditError::Reordered { line, .. } => *line,
        error => panic!("{error}"),
    }
}

#[test]
fn a_log_that_nobody_changed_is_whole() {
    for sample in Sample::both() {
        let verified = sample.with(&sample.lines).unwrap();
        assert_eq!((verified.lines, verified.is_sealed()), (15, true));
    }
}

#[test]
fn a_change_of_any_byte_is_found_in_its_line() {
    for sample in Sample::both() {
        for number in [0, 1, 7, 14] {
            // Each of the binding fields at the end, and samples of the others.
            let end = sample.lines[number].len() - 1;
            for at in (0..end - 160).step_by(7).chain(end - 160..end) {
                let mut lines = sample.lines.clone();
                let mut bytes = lines[number].clone().into_bytes();
                bytes[at] = if bytes[at] == b'1' { b'2' } else { b'1' };
                lines[number] = String::from_utf8(bytes).unwrap();
                let error = sample.with(&lines).unwrap_err();
                let is_other_key = matches!(error, AuditError::NeedsKey) && number == 0;
                assert!(
                    is_other_key || line_of(&error) == number as u64 + 1,
                    "{number} {at}: {error}"
                );
            }
        }
    }
}

#[test]
fn a_removed_line_is_found_wherever_it_was() {
    for sample in Sample::both() {
        for number in 0..sample.lines.len() {
            let mut lines = sample.lines.clone();
            lines.remove(number);
            let error = sample.with(&lines).unwrap_err();
            assert!(matches!(error, AuditError::Removed { missing: 1, .. }), "{number}: {error}");
            assert_eq!(line_of(&error), number as u64 + 1);
        }
    }
}

#[test]
fn any_number_of_removed_last_lines_is_found_by_the_head() {
    for sample in Sample::both() {
        for kept in 0..sample.lines.len() {
            let error = sample.with(&sample.lines[..kept]).unwrap_err();
            let removed = (sample.lines.len() - kept) as u64;
            let is_found =
                matches!(error, AuditError::Removed { missing, .. } if missing == removed);
            assert!(is_found && line_of(&error) == kept as u64 + 1, "{kept}: {error}");
        }
    }
}

#[test]
fn a_last_line_that_is_cut_after_the_end_is_found_by_the_head() {
    for sample in Sample::both() {
        let mut lines = sample.lines.clone();
        lines.last_mut().unwrap().truncate(20);
        let error = sample.with(&lines).unwrap_err();
        assert!(matches!(error, AuditError::Removed { missing: 1, .. }), "{error}");
    }
}

#[test]
fn a_copied_line_is_found_wherever_it_stands() {
    for sample in Sample::both() {
        for number in 1..sample.lines.len() {
            let mut lines = sample.lines.clone();
            lines.insert(number, sample.lines[number - 1].clone());
            let error = sample.with(&lines).unwrap_err();
            assert!(matches!(error, AuditError::Added { .. }), "{number}: {error}");
            assert_eq!(line_of(&error), number as u64 + 1);
        }
    }
}

#[test]
fn an_invented_line_is_found() {
    for sample in Sample::both() {
        for number in 0..=sample.lines.len() {
            let mut lines = sample.lines.clone();
            lines.insert(number, "{\"seq\":1,\"event\":\"SETTLED\"}\n".to_owned());
            assert_eq!(line_of(&sample.with(&lines).unwrap_err()), number as u64 + 1);
        }
    }
}

#[test]
fn two_exchanged_lines_are_found_at_the_first() {
    for sample in Sample::both() {
        for number in 0..sample.lines.len() - 1 {
            let mut lines = sample.lines.clone();
            lines.swap(number, number + 1);
            let error = sample.with(&lines).unwrap_err();
            assert!(matches!(error, AuditError::Reordered { .. }), "{number}: {error}");
            assert_eq!(line_of(&error), number as u64 + 1);
        }
    }
}

#[test]
fn a_head_of_another_log_is_found() {
    for sample in Sample::both() {
        let other = Sample::new(sample.key);
        fs::copy(other.head(), sample.head()).unwrap();
        let error = sample.with(&sample.lines).unwrap_err();
        assert!(matches!(error, AuditError::Head { .. }), "{error}");
        fs::write(sample.head(), "{").unwrap();
        assert!(matches!(sample.with(&sample.lines), Err(AuditError::Head { .. })));
    }
}

#[test]
fn a_head_that_somebody_wrote_for_an_earlier_end_is_found() {
    for sample in Sample::both() {
        let lines = &sample.lines[..sample.lines.len() - 1];
        let last: serde_json::Value = serde_json::from_str(lines.last().unwrap()).unwrap();
        let mut head: serde_json::Value =
            serde_json::from_slice(&fs::read(sample.head()).unwrap()).unwrap();
        (head["count"], head["hash"]) = (lines.len().into(), last["hash"].clone());
        fs::write(sample.head(), head.to_string()).unwrap();
        let error = sample.with(lines).unwrap_err();
        assert!(matches!(error, AuditError::Head { .. }), "{error}");
    }
}

#[test]
fn a_log_of_a_key_cannot_be_written_anew_without_it() {
    let (keyed, plain) = (Sample::new(Some(KEY)), Sample::new(None));
    fs::copy(plain.head(), keyed.head()).unwrap();
    assert_eq!(line_of(&keyed.with(&plain.lines).unwrap_err()), 1);
    let other = AuditLog::verify_with_key(plain.folder.log(), "another key");
    assert_eq!(line_of(&other.unwrap_err()), 1);
}

#[test]
fn a_log_of_a_key_asks_for_it() {
    let keyed = Sample::new(Some(KEY));
    let error = AuditLog::verify(keyed.folder.log()).unwrap_err();
    assert!(matches!(error, AuditError::NeedsKey), "{error}");
}

/// What the documentation says is not found.
#[test]
fn removed_last_lines_are_not_found_without_the_head_and_the_log_is_not_sealed() {
    for sample in Sample::both() {
        fs::remove_file(sample.head()).unwrap();
        let verified = sample.with(&sample.lines[..9]).unwrap();
        assert_eq!((verified.lines, verified.sealed, verified.is_sealed()), (9, 0, false));
    }
}

#[test]
fn lines_after_the_head_are_verified_but_not_sealed() {
    let sample = Sample::new(None);
    let head = fs::read(sample.head()).unwrap();
    one_call(&AuditLog::builder(sample.folder.log()).open().unwrap());
    fs::write(sample.head(), head).unwrap();
    let verified = AuditLog::verify(sample.folder.log()).unwrap();
    assert_eq!((verified.lines, verified.sealed, verified.is_sealed()), (23, 15, false));
}

#[test]
fn a_log_that_is_not_there_is_an_error() {
    let folder = Folder::new();
    assert!(matches!(AuditLog::verify(folder.log()), Err(AuditError::Io(_))));
}

#[test]
fn a_log_that_lost_lines_is_not_continued() {
    for sample in Sample::both() {
        let open = || {
            let builder = AuditLog::builder(sample.folder.log());
            match sample.key {
                Some(key) => builder.key(key).open(),
                None => builder.open(),
            }
        };
        for kept in [0, 9, 14] {
            fs::write(sample.folder.log(), sample.lines[..kept].concat()).unwrap();
            let error = open().unwrap_err();
            assert!(matches!(error, AuditError::Removed { .. }), "{error}");
        }
        let other = Sample::new(sample.key);
        fs::write(sample.folder.log(), other.lines.concat()).unwrap();
        assert!(matches!(open(), Err(AuditError::Head { .. })));
        sample.with(&sample.lines).unwrap();
        drop(open().unwrap());
    }
}
