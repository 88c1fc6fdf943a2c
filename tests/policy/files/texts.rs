//! Texts of every kind: none panics, and each error has a place inside of its text.

use std::time::{Duration, Instant};

use hooks_agent_policy::policy::{Policy, PolicyErrors, PolicyFile};
use proptest::prelude::*;

use crate::support::{Folder, lines, policy, reply, says, text, with_say};

fn check(content: &str) -> Result<(), PolicyErrors> {
    with_say(Policy::builder().project(text(content))).check().map(|_| ())
}

/// Asserts that every error has a place inside of the text.
fn assert_places(content: &str) {
    let Err(errors) = check(content) else { return };
    let lines: Vec<_> = content.split('\n').collect();
    for error in errors.list() {
        let Some(place) = error.place() else {
            assert!(error.message().ends_with("more errors"), "{error}");
            continue;
        };
        assert!((1..=lines.len()).contains(&place.line()), "{error}\n{content:?}");
        let line = lines[place.line() - 1].chars().count();
        assert!((1..=line + 1).contains(&place.column()), "{error}\n{content:?}");
    }
}

/// Lines that a policy may have, right and wrong.
fn line() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "version = 1",
        "[[hook]]",
        "[[command]]",
        "[limits]",
        "[hook.with]",
        "use = \"say\"",
        "use = \"pii_detection\"",
        "use = \"budget\"",
        "with = { text = \"é\" }",
        "with = { kinds = [\"url\", 1] }",
        "name = \"a\"",
        "agents = [\"a*\", \"!b\", \"[\"]",
        "priority = 99999999999",
        "enabled = 1",
        "max_iters = -1",
        "deny_tools = [\"x\", []]",
        "event = 1",
        "timeout = \"1\"",
        "env = { A = \"${env:X}\" }",
        "with = { run_tokens = 1.5, exit = { end = 1 } }",
        "\u{feff}",
        "x = 1979-05-27",
        "= 1",
        "a.b.c = {",
        "with = { text = '''",
        "exec = []",
        "command = \"x\"",
    ]);
    prop_oneof![8 => known.prop_map(str::to_owned), 1 => any::<String>()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_panics_and_every_error_has_a_place(content in any::<String>()) {
        assert_places(&content);
    }

    #[test]
    fn no_file_panics_and_every_error_has_a_place(lines in prop::collection::vec(line(), 0..24)) {
        assert_places(&format!("version = 1\n{}", lines.join("\n")));
    }
}

#[tokio::test]
async fn a_byte_order_mark_and_carriage_returns_are_read() {
    let content = format!("\u{feff}{}", says(" hi").replace('\n', "\r\n"));
    assert_eq!(reply(&policy(&content), "bot").await, "Done. hi");
    assert_eq!(
        lines("\u{feff}versio = 1")[0],
        "policy.toml:1:1: version: missing key `version`; write `version = 1` in the first line"
    );
}

#[test]
fn columns_are_counted_in_characters() {
    let lines = lines("version = 1\nlimits = { \"ключ\" = 1, x = 2 }\n");
    assert!(lines[0].starts_with("policy.toml:2:12: limits.ключ: unknown key"), "{lines:#?}");
    assert!(lines[1].starts_with("policy.toml:2:24: limits.x: unknown key"), "{lines:#?}");
}

/// Ends quickly: the build is not optimised, and a quadratic step would take minutes.
fn in_time<T>(run: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = run();
    let elapsed = start.elapsed();
    assert!(elapsed < Duration::from_mins(1), "{elapsed:?}");
    println!("{elapsed:?}");
    result
}

#[test]
fn a_policy_of_a_megabyte_loads() {
    let hook = |index: usize| {
        format!(
            "[[hook]]\nuse = \"say\"\nname = \"say {index}\"\nwith = {{ text = \"{}\" }}\n",
            "x".repeat(1_000)
        )
    };
    let content: String = (0..1024).map(hook).collect();
    assert!(content.len() > 1 << 20);
    in_time(|| check(&format!("version = 1\n{content}"))).unwrap();
}

#[test]
fn a_megabyte_of_mistakes_is_an_error_with_at_most_100_entries() {
    for content in ["]", "a", "[[hook]]\n", "x = 1\n", "a.", "\"", "use\n=", "[a", "{"] {
        let content = format!("version = 1\n{}", content.repeat((1 << 20) / content.len()));
        let errors = in_time(|| check(&content)).unwrap_err();
        assert!(errors.list().len() <= PolicyErrors::MOST);
    }
    let keys: Vec<_> = (0..100_000).map(|index| format!("k{index} = 1")).collect();
    let errors = in_time(|| check(&format!("version = 1\n{}", keys.join("\n")))).unwrap_err();
    assert_eq!(errors.list().len(), PolicyErrors::MOST);
    assert!(errors.to_string().ends_with("more errors"), "{errors}");
}

#[test]
fn a_file_above_the_limit_is_an_error() {
    let content = "#".repeat(usize::try_from(PolicyFile::MAX_BYTES).unwrap() + 1);
    assert_eq!(lines(&content), ["policy.toml: cannot be read: expected at most 4194304 bytes"]);
}

#[test]
fn deep_tables_are_an_error() {
    for open in ["[", "{ a = "] {
        check(&format!("version = 1\nx = {}", open.repeat(10_000))).unwrap_err();
    }
}

#[test]
fn a_huge_pattern_is_an_error_at_its_option() {
    let pattern = |pattern: &str| {
        format!(
            "version = 1\n[[hook]]\nuse = \"sanitize\"\nwith = {{ patterns = [{{ pattern = '{pattern}' }}] }}\n"
        )
    };
    for huge in ["(((a{900}){900}){900})", &"(".repeat(10_000), &"a|".repeat(300_000)] {
        let errors = in_time(|| check(&pattern(huge))).unwrap_err();
        let shown = errors.to_string();
        let start: String = shown.chars().take(80).collect();
        assert!(
            start.starts_with("policy.toml:4:34: hook[0].with.patterns[0].pattern: "),
            "{start}"
        );
        assert!(shown.len() < 2_000, "{}", shown.len());
    }
}

#[test]
fn a_mistake_in_the_program_is_an_error_without_a_place() {
    let errors = Policy::builder().check().unwrap_err().to_string();
    assert!(errors.starts_with("the policy has no file"), "{errors}");
    let twice = with_say(with_say(Policy::builder().project(text("version = 1"))));
    let errors = twice.check().unwrap_err().to_string();
    assert_eq!(errors, "two hooks are registered as `say`; expected another name");
}

#[test]
fn an_error_is_one_line_whatever_the_file_has() {
    let keys = "\"a\\u001b\\nb\" = 1\n[[hook]]\nuse = \"x\\ny\"\n";
    let with = "[[hook]]\nuse = \"say\"\nwith = { text = 1, \"c\\nd\" = 2 }\n";
    let found = lines(&format!("version = 1\n{keys}{with}"));
    assert_eq!(found.len(), 4, "{found:#?}");
    assert!(found.iter().all(|line| !line.contains(char::is_control)), "{found:#?}");
}

#[test]
fn a_file_that_is_named_twice_is_an_error() {
    let folder = Folder::with(&says("a"));
    let builder = Policy::builder().project(folder.file()).session(folder.file());
    let error = with_say(builder).check().unwrap_err().to_string();
    assert!(error.contains("policy.toml is named twice"), "{error}");
}

#[test]
fn a_glob_of_any_length_and_a_command_without_a_program_are_errors() {
    let long = format!("{}agents = [\"{}\"]\n", says("a"), "a".repeat(2000));
    let error = lines(&long).join("\n");
    assert!(error.contains("expected a glob of at most 1024 bytes"), "{error}");
    let error = lines("version = 1\n[[command]]\nevent = \"Stop\"\nexec = []\n").join("\n");
    assert!(error.contains("found an empty array"), "{error}");
}

#[test]
fn the_merged_policy_shows_the_agents_of_a_hook() {
    let merged =
        policy(&format!("{}agents = [\"a-*\", \"!a-b\"]\n", says("a"))).merged().to_string();
    assert!(merged.contains("agents = a-*, !a-b"), "{merged}");
}
