//! The first example that anybody runs.

use std::collections::BTreeSet;
use std::env;
use std::process::Command;

use hooks_fixtures::tell;

use crate::built::program;
use crate::manifest::folder;

/// How many crates a newcomer waits for at most.
const MOST_CRATES: usize = 100;

#[test]
fn the_quickstart_is_built_of_at_most_a_hundred_crates() {
    let tree = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["tree", "--locked", "--offline", "--edges", "normal,build", "--prefix", "none"])
        .args(["--no-dedupe", "--format", "{p}"])
        .current_dir(folder())
        .output()
        .unwrap();
    let crates = String::from_utf8(tree.stdout).unwrap();
    let crates: BTreeSet<_> = crates.lines().filter(|line| !line.is_empty()).collect();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    assert!(crates.iter().any(|name| name.starts_with("hooks-agent ")), "{crates:#?}");
    assert!(crates.len() <= MOST_CRATES, "{} crates: {crates:#?}", crates.len());
}

/// The answer of the quickstart about this project.
fn answer(question: Option<&str>) -> Option<String> {
    let program = program("quickstart");
    if !program.is_file() {
        tell("skipped: examples are built by `cargo test --workspace`");
        return None;
    }
    let mut quickstart = Command::new(program);
    if let Some(question) = question {
        quickstart.arg(folder().join("..")).arg(question);
    }
    let done = quickstart.env_remove("OPENAI_API_KEY").output().unwrap();
    let printed = String::from_utf8(done.stdout).unwrap();
    assert!(done.status.success(), "{printed}{}", String::from_utf8_lossy(&done.stderr));
    let (_, answer) = printed.split_once("\nanswer\n").unwrap();
    Some(answer.to_owned())
}

#[test]
fn the_quickstart_names_the_variable_that_it_is_asked_for() {
    let Some(answer) = answer(None) else { return };
    assert!(answer.contains("README.md"), "{answer}");
    assert!(answer.contains("`OPENAI_API_KEY` holds the API key"), "{answer}");
    assert!(answer.contains("[redacted]"), "{answer}");
}

#[test]
fn the_quickstart_answers_other_questions_about_this_project() {
    for (question, expected) in [
        ("Which hook limits tokens and money?", "`Budget` (tokens and money)"),
        ("Which store is for many workers?", "`postgres`"),
    ] {
        let Some(answer) = answer(Some(question)) else { return };
        assert!(answer.contains(expected), "{question}: {answer}");
    }
}
