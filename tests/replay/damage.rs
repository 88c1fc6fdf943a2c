//! Tapes that cannot be read or written.

use std::path::Path;

use hooks_agent_core::prelude::*;
use hooks_agent_replay::{Recording, Tape, TapeError};

use crate::program::Program;

fn line_of(error: &TapeError) -> usize {
    match error {
        TapeError::Line { line, .. } => *line,
        other => panic!("expected the error of a line, found {other}"),
    }
}

/// RP-08.
#[tokio::test]
async fn a_tape_cut_at_any_byte_of_its_last_line_is_an_error_with_the_line() {
    let program = Program::new();
    program.record().await;
    let whole = std::fs::read(program.path()).unwrap();
    let lines = program.text().lines().count();
    let last = program.text().trim_end().rfind('\n').unwrap() + 1;
    for length in last..whole.len() {
        std::fs::write(program.path(), &whole[..length]).unwrap();
        let tapes = [Tape::once(program.path()), Tape::replay(program.path())];
        for tape in tapes.into_iter().chain([Tape::append(program.path())]) {
            let error = tape.open().unwrap_err();
            let line = line_of(&error);
            assert_eq!(line, if length == last { lines - 1 } else { lines }, "{error}");
        }
        assert_eq!(std::fs::read(program.path()).unwrap(), whole[..length]);
    }
    assert_eq!(std::fs::read_dir(program.folder()).unwrap().count(), 1);
}

#[tokio::test]
async fn a_line_that_is_no_line_of_a_tape_is_an_error_with_the_line() {
    let program = Program::new();
    program.record().await;
    let text = program.text();
    let first_model = text.lines().position(|line| line.contains(r#""t":"model""#)).unwrap() + 1;
    for (from, to) in [
        (r#""t":"model""#, r#""t":"modell""#),
        (r#""key":""#, r#""kez":""#),
        (r#""chunks":["#, r#""chunks":[[,"#),
        (r#""round":0,"run":"r1""#, r#""round":0,"run":"r9""#),
    ] {
        std::fs::write(program.path(), text.replacen(from, to, 1)).unwrap();
        let error = Recording::read(program.path()).unwrap_err();
        assert!(line_of(&error) <= first_model + 1 && line_of(&error) > 1, "{error}");
    }
    for text in ["", "\n", "{}\n", "[]\n", "not json\n"] {
        std::fs::write(program.path(), text).unwrap();
        assert_eq!(line_of(&Tape::once(program.path()).open().unwrap_err()), 1, "{text:?}");
    }
}

#[tokio::test]
async fn a_byte_that_differs_anywhere_is_an_error_with_its_line() {
    let program = Program::new();
    program.record().await;
    let whole = std::fs::read(program.path()).unwrap();
    let mut line = 1;
    for index in 0..whole.len() {
        for bit in [0, 3, 6] {
            let mut damaged = whole.clone();
            damaged[index] ^= 1 << bit;
            std::fs::write(program.path(), &damaged).unwrap();
            let Err(error) = Recording::read(program.path()) else {
                panic!("byte {index} of line {line} differs by bit {bit}, and the tape is read")
            };
            assert_eq!(line_of(&error), line, "byte {index}, bit {bit}: {error}");
        }
        line += usize::from(whole[index] == b'\n');
    }
}

#[tokio::test]
async fn a_line_that_is_missing_doubled_or_moved_is_an_error() {
    let program = Program::new();
    let tape = Tape::record(program.path()).open().unwrap();
    let agent = program.agent().hook(tape.clone()).build().unwrap();
    for _ in 0..2 {
        agent.call("How is Rome?").await.unwrap();
    }
    tape.finish().unwrap();
    let text = program.text();
    let lines: Vec<_> = text.lines().collect();
    let refused = |lines: &[&str], what: &str| {
        let text: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
        std::fs::write(program.path(), text).unwrap();
        let read = Recording::read(program.path());
        assert!(matches!(&read, Err(TapeError::Line { .. })), "{what}: {read:?}");
    };
    for index in 0..lines.len() {
        let mut missing = lines.clone();
        missing.remove(index);
        refused(&missing, &format!("without line {}", index + 1));
        let mut doubled = lines.clone();
        doubled.insert(index, lines[index]);
        refused(&doubled, &format!("line {} twice", index + 1));
        refused(&lines[..index], &format!("{index} lines"));
        if index > 0 {
            let mut moved = lines.clone();
            moved.swap(index - 1, index);
            refused(&moved, &format!("line {} before line {index}", index + 1));
        }
    }
    refused(&[lines.clone(), vec![lines[1]]].concat(), "a line after the last one");
    std::fs::write(program.path(), text.as_bytes()).unwrap();
    Recording::read(program.path()).unwrap();
}

#[tokio::test]
async fn a_tape_of_version_1_replays_and_takes_no_more_lines() {
    let program = Program::new();
    program.record().await;
    let old = crate::sealed::of_version_1(crate::sealed::whole(&program.text()));
    std::fs::write(program.path(), &old).unwrap();
    program.replay_of(program.agent(), "How is Rome?").await.assert_no_drift();
    let drift = program.replay_of(program.agent().system_prompt("Be long."), "How is Rome?").await;
    assert!(drift.to_string().contains("-Be brief.\n+Be long."), "{drift}");
    let error = Tape::append(program.path()).open().unwrap_err();
    assert!(error.to_string().ends_with("takes no more lines: record it again"), "{error}");
    assert_eq!(program.text(), old);
    std::fs::write(program.path(), format!("{old}{{\"lines\":1,\"t\":\"close\"}}\n")).unwrap();
    let error = Recording::read(program.path()).unwrap_err();
    assert_eq!(line_of(&error), old.lines().count() + 1);
    // Digests of a later version are no part of it.
    let lines = old.replacen(",\"t\":\"call\"", ",\"sum\":\"0\",\"t\":\"call\"", 1);
    std::fs::write(program.path(), lines).unwrap();
    assert_eq!(line_of(&Recording::read(program.path()).unwrap_err()), 2);
}

/// RP-11.
#[tokio::test]
async fn a_tape_of_another_version_is_an_error() {
    let program = Program::new();
    program.record().await;
    std::fs::write(program.path(), program.text().replace(r#""version":2"#, r#""version":3"#))
        .unwrap();
    let error = Tape::replay(program.path()).open().unwrap_err();
    assert!(
        error.to_string().ends_with("its version is 3, this program reads the versions 1 to 2"),
        "{error}"
    );
}

#[tokio::test]
async fn a_tape_that_is_not_there_is_an_error_that_says_how_to_record_it() {
    let program = Program::new();
    let error = Tape::replay(program.path()).open().unwrap_err();
    assert!(error.to_string().contains("HOOKS_TAPE=record"), "{error}");
}

/// Records a call whose tape cannot be written.
async fn recorded_to(path: &Path) -> (Result<Msg, AgentError>, Result<(), TapeError>) {
    let program = Program::new();
    let tape = Tape::record(path).open().unwrap();
    let agent = program.agent().hook(tape.clone()).build().unwrap();
    let reply = agent.call("How is Rome?").await;
    (reply, tape.finish().map(|_| ()))
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_fails_the_recording_and_not_the_call() {
    let program = Program::new();
    std::os::unix::fs::symlink("/dev/full", program.path()).unwrap();
    let (reply, finished) = recorded_to(&program.path()).await;
    assert_eq!(reply.unwrap().text(), "sunny and noon");
    let error = finished.unwrap_err();
    assert!(error.to_string().ends_with("could not be written"), "{error}");
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.contains("No space left"), "{cause}");
    assert!(Path::new("/dev/full").exists() && program.path().is_symlink());
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_is_an_error_when_the_tape_is_opened() {
    let program = Program::new();
    std::fs::write(program.folder().join("file"), "").unwrap();
    let error = Tape::record(program.folder().join("file/run.tape")).open().unwrap_err();
    assert!(error.to_string().ends_with("could not be created"), "{error}");
    let error = Tape::record(program.folder()).open().unwrap_err();
    assert!(error.to_string().ends_with("could not be created"), "{error}");
    #[cfg(target_os = "linux")]
    {
        let error = Tape::record("/proc/run.tape").open().unwrap_err();
        assert!(error.to_string().ends_with("could not be created"), "{error}");
    }
}

#[tokio::test]
async fn a_recording_that_fails_leaves_the_earlier_tape() {
    let program = Program::new();
    program.record().await;
    let before = program.text();
    let broken = |_: &str| -> Vec<hooks_agent_replay::Found> { panic!("a finder") };
    let tape = Tape::record(program.path()).redact(broken).open().unwrap();
    let agent = program.agent().hook(tape.clone()).build().unwrap();
    assert_eq!(agent.call("How is Rome?").await.unwrap().text(), "sunny and noon");
    let error = tape.finish().unwrap_err();
    assert!(matches!(error, TapeError::Finder { .. }), "{error}");
    drop((agent, tape));
    assert_eq!(program.text(), before);
    assert_eq!(std::fs::read_dir(program.folder()).unwrap().count(), 1);
}

#[tokio::test]
async fn a_call_after_the_end_of_a_recording_goes_on_and_is_an_error_of_the_next_finish() {
    let program = Program::new();
    let tape = Tape::record(program.path()).open().unwrap();
    let agent = program.agent().hook(tape.clone()).build().unwrap();
    agent.call("One").await.unwrap();
    tape.finish().unwrap();
    let before = program.text();
    assert_eq!(agent.call("Two").await.unwrap().text(), "sunny and noon");
    assert!(matches!(tape.finish().unwrap_err(), TapeError::Finished { .. }));
    assert_eq!(program.text(), before);
}
