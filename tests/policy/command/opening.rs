//! Problems that are reported when command hooks are opened.

use std::time::Duration;

use hooks_agent_policy::command::{CommandEntry, CommandHooks, CommandHooksBuilder, CommandPlace};

use crate::agents::{assert_has, before_tools, dir};

/// Asserts that an entry has this one problem.
#[track_caller]
fn assert_problem(entry: CommandEntry, field: &str, message: &str) {
    let error = CommandHooks::builder(dir()).entry(entry).open().unwrap_err();
    let [problem] = error.problems() else { panic!("one problem, not {error}") };
    assert_eq!((problem.place(), problem.field()), (&CommandPlace::Entry(0), field));
    assert_has(problem.message(), message);
}

#[test]
fn every_field_is_checked() {
    let exec = |args: &[&str]| CommandEntry::exec("PreToolUse", args.iter().copied());
    assert_problem(
        CommandEntry::shell("pretooluse", "x"),
        "event",
        "expected one of `SessionStart`",
    );
    assert_problem(
        before_tools("x").matcher("write("),
        "matcher",
        "at character 6: unclosed group",
    );
    assert_problem(before_tools("x").condition("Bash(rm"), "if", "expected `)`");
    assert_problem(before_tools("x").condition("(rm)"), "if", "name of a tool");
    assert_problem(before_tools("x").condition("Bash(a[)"), "if", "invalid glob");
    assert_problem(CommandEntry::shell("Stop", "x").condition("Bash"), "if", "events of tools");
    assert_problem(before_tools("x").timeout(Duration::ZERO), "timeout", "above zero");
    assert_problem(before_tools(" "), "command", "a line of shell");
    assert_problem(exec(&[]), "exec", "expected a program");
    assert_problem(exec(&["a", "b\0"]), "exec", "without NUL");
    assert_problem(before_tools("x").env("A=B", "c"), "env", "\"A=B\"");
    assert_problem(before_tools("x").pass_env(""), "pass_env", "name of a variable");
}

#[test]
fn a_huge_regular_expression_is_a_problem() {
    let matcher = "(a{1000}){1000}(b{1000}){1000}.";
    assert_problem(before_tools("x").matcher(matcher), "matcher", "too large");
}

#[test]
fn all_problems_are_reported_together() {
    let entries =
        [before_tools("x").matcher("("), before_tools("x"), before_tools("").matcher("[")];
    let builder = CommandHooks::builder("/no/such/directory");
    let error = entries.into_iter().fold(builder, CommandHooksBuilder::entry).open().unwrap_err();
    let places: Vec<_> =
        error.problems().iter().map(|it| (it.place().clone(), it.field())).collect();
    let expected = [
        (CommandPlace::Builder, "project_dir"),
        (CommandPlace::Entry(0), "matcher"),
        (CommandPlace::Entry(2), "matcher"),
        (CommandPlace::Entry(2), "command"),
    ];
    assert_eq!(places, expected);
    assert_has(&error.to_string(), "command hooks have 4 problems\n  command hooks: `project_dir`");
}

#[test]
fn values_of_variables_are_not_shown() {
    let entry = before_tools("x").env("TOKEN", "hunter2").matcher("(");
    assert!(!format!("{entry:?}").contains("hunter2"));
    let open = CommandHooks::builder(dir()).entry(entry).open();
    assert!(!open.unwrap_err().to_string().contains("hunter2"));
}
