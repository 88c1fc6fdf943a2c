//! Matchers and conditions: what they match, and those that match nothing.

use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Probe, SeenFlow};
use hooks_agent_policy::command::{CommandEntry, CommandHooks};
use serde_json::{Value, json};

use crate::agents::{Ran, assert_has, before_tools, dir, hooks, write_file, writes};

/// What is wrong with an entry; nothing, if it opens.
fn problem(entry: CommandEntry) -> String {
    match CommandHooks::builder(dir()).entry(entry).open() {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    }
}

/// Whether a guard with this condition refuses a tool call.
async fn refuses(condition: &str, tool: &str, input: Value) -> bool {
    let probe = Probe::new(hooks([before_tools("exit 2").condition(condition)]));
    probe.pre_acting(ToolUse::new("1", tool, input)).await.unwrap().flow != SeenFlow::Continue
}

#[test]
fn a_matcher_that_can_match_no_tool_is_a_problem() {
    for (matcher, expected) in [
        ("Bash(rm:*)", "write `Bash` here and `Bash(rm:*)` as `if`"),
        ("Write(.env*)", "write `Write` here and `Write(.env*)` as `if`"),
        ("Write|Edit(*.ts)", "write `Write|Edit` here and `Edit(*.ts)` as `if`"),
        ("!Bash(git push)", "write `Bash` here and `Bash(git push)` as `if`"),
        ("Bash(git push|git commit)", "found a condition"),
        ("|", "expected a name"),
        (" , ", "expected a name"),
    ] {
        assert_has(&problem(before_tools("x").matcher(matcher)), expected);
    }
    for matcher in
        ["mcp__(.*)", "mcp__a__(b|c)", "Note(book)?", "^(Edit|Write)$", "Bash.*", "(?i)bash"]
    {
        assert_eq!(problem(before_tools("x").matcher(matcher)), "", "{matcher}");
    }
}

#[test]
fn a_matcher_of_words_that_never_occur_is_a_problem() {
    let at = |event: &str, matcher: &str| problem(CommandEntry::shell(event, "x").matcher(matcher));
    assert_has(&at("SessionStart", "Startup"), "expected `startup` or `resume`");
    assert_has(&at("PreCompact", "automatic"), "expected `auto` or `manual`");
    assert_has(&at("Notification", "idle_prompt"), "expected `permission_prompt`");
    assert_eq!(at("SessionStart", "clear|startup"), "");
    assert_eq!(at("SessionStart", "start.*"), "");
    assert_eq!(at("SubagentStart", "Explore"), "");
}

#[test]
fn a_condition_that_can_never_hold_is_a_problem() {
    let condition = |it: &str| problem(before_tools("x").condition(it));
    assert_has(&condition("!Bash(rm *)"), "not which it is not for");
    assert_has(&condition("Edit(*.ts)|Write(*.ts)"), "write an entry for each");
    assert_has(&condition("Edit(*.ts) || Write(*.ts)"), "write an entry for each");
    assert_has(&condition("Edit|Write"), "write an entry for each");
    assert_eq!(condition("Bash(echo (a) b)"), "");
    let both = |matcher: &str, it: &str| problem(before_tools("x").matcher(matcher).condition(it));
    assert_has(&both("Bash", "bash(rm *)"), "found `bash`: it would never run");
    assert_has(&both("^Bash$", "Edit(a)"), "found `Edit`: it would never run");
    assert_eq!(both("Edit|Write", "Write(a)"), "");
    assert_eq!(both("mcp__.*", "mcp__a__b(c)"), "");
    assert_eq!(both("mcp__a__b", "mcp__*"), "");
}

#[tokio::test]
async fn a_condition_is_tested_on_each_command_of_a_line() {
    for (line, is_refused) in [
        ("rm -r build", true),
        ("rm", true),
        ("cd build && rm -r .", true),
        ("A=1 B=2 rm -r .", true),
        ("ls | xargs ls; rm x", true),
        ("echo $(rm x)", true),
        ("echo `rm x`", true),
        ("rmdir build", false),
        ("echo farm x", false),
        ("sudo rm x", true),
        ("sudo -u ada env A=1 rm x", true),
        ("env -i rm", true),
        ("nice\t rm  x", true),
        ("/usr/bin/sudo /bin/rm x", true),
        ("/usr/bin/env sudo ./tools/rm", true),
        ("\"rm\" x", true),
        ("r\\m x", true),
        ("r\\\nm x", true),
        ("'r'm x", true),
        ("\"/bin/rm\" x", true),
        ("bash -c 'cd a; rm x'", true),
        ("bash -c \"rm x\"", true),
        ("ls | xargs -0 rm", true),
        ("find . -name '*.o' -exec rm {} +", true),
        ("if test -e a; then rm a; fi", true),
        ("if rm a; then ls; fi", true),
        ("! rm a", true),
        (">log rm a", true),
        ("2>/dev/null rm a", true),
        ("$TOOL x", true),
        ("sudo $TOOL x", true),
        ("sudo -u ada $TOOL x", true),
        ("timeout 5 $TOOL x", true),
        ("${TOOL} x", true),
        ("$(which rm) x", true),
        ("\"$TOOL\" x", true),
        ("$'rm' x", true),
        ("FOO=\"a b\" rm x", true),
        ("FOO='a;b' BAR=\"it's\" rm x", true),
        ("FOO=a\\ b rm x", true),
        ("echo 'x", true),
        ("git commit -m \"it's\"", false),
        ("ls # don't", false),
        ("cat <<'EOF'\nit's\nEOF", false),
        ("cat <<'EOF'\nit's\nEOF\nrm x", true),
        ("`which rm` x", true),
        ("sudo ls $HOME", false),
        ("A=$(date) ls", false),
        ("echo \"$HOME\" sudo", false),
        ("git rm x", false),
        ("sudo rmdir x", false),
        ("echo rm x", false),
    ] {
        for condition in ["Bash(rm *)", "Bash(rm:*)"] {
            let input = json!({ "command": line });
            assert_eq!(refuses(condition, "Bash", input).await, is_refused, "{condition} {line}");
        }
    }
}

#[tokio::test]
async fn a_condition_on_paths_holds_in_every_folder() {
    for (condition, path, is_refused) in [
        ("Write(.env*)", ".env", true),
        ("Write(.env*)", "/srv/project/.env.local", true),
        ("Write(.env*)", "/srv/my project/.env", true),
        ("Write(.env*)", "/srv/environment", false),
        ("Write(src/**)", "/srv/project/src/a/b.rs", true),
        ("Write(./src/**)", "src/a.rs", true),
        ("Write(/src/**)", "/srv/project/src/a.rs", true),
        ("Write(~/.ssh/**)", "/home/ada/.ssh/config", true),
        ("Write(//etc/**)", "/etc/passwd", true),
        ("Write(src/**)", "/srv/project/tests/a.rs", false),
        ("Write(docs/)", "docs/a.md", true),
        ("Write(docs)", "/srv/project/docs/a/b.md", true),
        ("Write(/docs)", "docs/a.md", true),
        ("Write(**/secrets)", "a/secrets/key", true),
        ("Write(docs)", "docs.md", false),
        ("Write(.env*)", &format!("/{}.env", "srv/".repeat(100)), true),
    ] {
        let input = json!({ "file_path": path });
        assert_eq!(refuses(condition, "Write", input).await, is_refused, "{condition} {path}");
    }
}

#[tokio::test]
async fn a_long_text_is_tested_in_a_time_that_grows_with_its_length() {
    let text = "a/".repeat(1 << 19);
    let start = std::time::Instant::now();
    assert!(!refuses("Write(.env*)", "Write", json!({ "content": text })).await);
    assert!(start.elapsed() < std::time::Duration::from_mins(1));
}

#[tokio::test]
async fn an_argument_that_a_variable_may_hold_is_one_of_a_rule() {
    for (condition, line, is_refused) in [
        ("Bash(git push *--force*)", "git push $FLAGS", true),
        ("Bash(git push *--force*)", "git push $(flags)", true),
        ("Bash(git push *--force*)", "git push `flags`", true),
        ("Bash(git push *--force*)", "X=\"a b\" git push --force", true),
        ("Bash(git push *--force*)", "git push", false),
        ("Bash(git push *--force*)", "ls $HOME", false),
        ("Bash(git push *)", "git $COMMAND", true),
        ("Bash(git checkout -- [a]*)", "git checkout -- [a]b", true),
        ("Bash(echo {a,b})", "echo {a,b}", true),
        ("Bash(echo what?)", "echo what?", true),
        ("Bash(echo \\n)", "echo \\n", true),
    ] {
        let input = json!({ "command": line });
        assert_eq!(refuses(condition, "Bash", input).await, is_refused, "{condition} {line}");
    }
}

#[tokio::test]
async fn a_matcher_of_the_old_name_of_a_tool_matches_the_new_one() {
    let matched = async |tool: &str| {
        let probe = Probe::new(hooks([before_tools("exit 2").matcher("Task|Bash")]));
        let seen = probe.pre_acting(ToolUse::new("1", tool, json!({}))).await.unwrap();
        seen.flow != SeenFlow::Continue
    };
    assert!(matched("Task").await && matched("Agent").await && !matched("Agents").await);
}

#[tokio::test]
async fn a_line_of_shell_is_told_by_the_name_of_the_tool_or_of_the_argument() {
    for (tool, argument, is_refused) in [
        ("Bash", "line", true),
        ("mcp__host__run_shell", "text", true),
        ("mcp__host__run", "command", true),
        ("mcp__host__run", "cmd", true),
        ("Write", "content", false),
    ] {
        for line in ["sudo rm x", "$TOOL x"] {
            let (condition, input) = (format!("{tool}(rm *)"), json!({ argument: line }));
            assert_eq!(refuses(&condition, tool, input).await, is_refused, "{tool} {argument}");
        }
    }
}

#[tokio::test]
async fn a_command_far_behind_the_program_that_runs_it_may_be_any() {
    let line = |words: usize| json!({ "command": format!("sudo {} ls", "a ".repeat(words)) });
    assert!(!refuses("Bash(rm *)", "Bash", line(1_000)).await);
    assert!(refuses("Bash(rm *)", "Bash", line(100_000)).await);
}

#[tokio::test]
async fn a_condition_on_a_domain_holds_for_its_host() {
    for (url, is_refused) in [
        ("https://example.com/a", true),
        ("https://ada@EXAMPLE.com:8080?b", true),
        ("example.com", true),
        ("https://example.com.evil.org", false),
        ("https://evil.org/example.com", false),
    ] {
        let input = json!({ "url": url });
        let condition = "WebFetch(domain:example.com)";
        assert_eq!(refuses(condition, "WebFetch", input).await, is_refused, "{url}");
    }
}

#[test]
fn a_plan_warns_about_tools_that_the_agent_does_not_have() {
    let entries = [
        before_tools("x").matcher("write_fil|write_file"),
        before_tools("y").condition("Write_File(a)"),
        CommandEntry::shell("SubagentStart", "z").matcher("researcher"),
    ];
    let agent = ReActAgent::builder("assistant")
        .model(writes(&[]))
        .tool(write_file(&Ran::default(), Permission::Allow))
        .hook(hooks(entries))
        .build()
        .unwrap();
    let warnings: Vec<_> = agent.hook_plan().warnings().iter().map(ToString::to_string).collect();
    let warnings = warnings.join("\n");
    assert_has(&warnings, "no tool `write_fil`: did you mean `write_file`?");
    assert_has(&warnings, "no tool `Write_File`: did you mean `write_file`?");
    assert!(!warnings.contains("researcher"), "{warnings}");
}
