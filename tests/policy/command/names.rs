//! Names of commands in reasons and logs.

use hooks_agent_policy::command::CommandEntry;

use crate::agents::hooks;

/// The name of a command.
fn name(entry: CommandEntry) -> String {
    let shown = format!("{:?}", hooks([entry]));
    let start = shown.find("[\"").unwrap() + 2;
    shown[start..].split('"').next().unwrap().to_owned()
}

#[test]
fn a_command_is_named_after_what_decides() {
    for (line, expected) in [
        ("cd \"$CLAUDE_PROJECT_DIR\" && ./guards/check.sh --strict", "check.sh"),
        ("\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/lint", "lint"),
        ("python3 .claude/hooks/pre tool.py", "tool.py"),
        ("uv run --script guards/pre.py", "pre.py"),
        ("A=1 node guards/check.mjs", "check.mjs"),
        ("if test -e x; then prettier --write x; fi", "prettier"),
        ("npx eslint", "npx"),
        ("cd x", "cd"),
    ] {
        assert_eq!(name(CommandEntry::shell("PreToolUse", line)), expected, "{line}");
    }
    let exec = |args: &[&str]| name(CommandEntry::exec("PreToolUse", args.iter().copied()));
    assert_eq!(exec(&["guards/check", "a.py"]), "check");
    assert_eq!(exec(&["python3", "guards/check.py"]), "check.py");
    assert_eq!(name(CommandEntry::shell("PreToolUse", "cd x").named("mine")), "mine");
}
