//! `hooks-agent doctor`: holes that were made on purpose, and the lines that mend them.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::installed::{AGENTS, Home, replaced, succeeded};

/// What the doctor prints of an agent, and whether it found a hole.
fn examined(home: &Home, args: &[&str]) -> (String, bool) {
    let output = home.run(&[&["doctor"], args].concat());
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(stderr, "");
    (String::from_utf8(output.stdout).unwrap(), !output.status.success())
}

/// A home with the guard of an agent, which the doctor finds whole.
fn whole(agent: &str) -> Home {
    let home = Home::new();
    succeeded(&home.install(agent));
    if agent == "codex" {
        trust(&home, "");
    }
    let (said, has_holes) = examined(&home, &[agent]);
    assert!(!has_holes, "{said}");
    home
}

/// Has Codex trust the hooks, as a person does.
fn trust(home: &Home, more: &str) {
    let hooks = home.at(".codex/hooks.json").canonicalize().unwrap();
    let mut config = String::from("[features]\nhooks = true\n");
    for event in ["user_prompt_submit", "pre_tool_use", "post_tool_use", "stop"] {
        let key = format!("{}:{event}:0:0", hooks.display());
        config += &["[hooks.state.\"", &key, "\"]\ntrusted_hash = \"sha256:0\"\n", more].concat();
    }
    fs::write(home.at(".codex/config.toml"), config).unwrap();
}

/// Changes the settings of an agent.
fn change(home: &Home, agent: &str, change: impl FnOnce(&mut Value)) {
    let path = AGENTS.iter().find(|(name, _)| *name == agent).unwrap().1;
    let mut settings = home.read(path);
    change(&mut settings);
    fs::write(home.at(path), settings.to_string()).unwrap();
}

/// Expects a hole of this text, with a line that mends it of this one.
fn expect(home: &Home, args: &[&str], what: &str, mend: &str) {
    let (said, has_holes) = examined(home, args);
    assert!(has_holes, "{what}: {said}");
    let lines: Vec<_> = said.lines().collect();
    let found = lines.windows(2).any(|pair| {
        pair[0].starts_with("  ! ") && pair[0].contains(what) && pair[1].contains(mend)
    });
    assert!(found, "`{what}`, mended by `{mend}`:\n{said}");
}

/// Makes a hole in the settings of an agent, and expects it to be found.
fn seeded(agent: &str, what: &str, mend: &str, make: impl FnOnce(&mut Value)) {
    let home = whole(agent);
    change(&home, agent, make);
    expect(&home, &[agent], what, mend);
}

#[test]
fn each_guard_refuses_a_canary_at_each_event_and_in_sub_agents() {
    for agent in
        ["claude", "codex", "gemini", "qwen", "copilot", "cursor", "windsurf", "cline", "opencode"]
    {
        let home = whole(agent);
        let (said, _) = examined(&home, &[agent]);
        let held = said.lines().find(|line| line.contains("refuses a canary at")).unwrap();
        let script =
            fs::read_to_string(home.at(&format!(".config/hooks-agent/{agent}.sh"))).unwrap();
        let events = script.lines().filter_map(|line| line.strip_prefix("  ")?.strip_suffix(')'));
        let events: Vec<_> = events.filter(|event| *event != "*").collect();
        assert!(events.len() > 1, "{script}");
        for event in events {
            assert!(held.contains(event), "{event}: {said}");
        }
        if ["claude", "codex", "copilot", "cline", "opencode"].contains(&agent) {
            assert!(held.contains("in a sub-agent"), "{said}");
        }
    }
}

#[test]
fn what_lets_hooks_of_settings_not_run_is_found() {
    let pre = "/hooks/PreToolUse/0";
    let again = "run: hooks-agent install claude --policy";
    seeded("claude", "PostToolUse: no hook runs the guard", again, |it| {
        it["hooks"].as_object_mut().unwrap().remove("PostToolUse");
    });
    seeded("claude", "the matcher `Bash` leaves tools out", "remove \"matcher\"", |it| {
        it.pointer_mut(pre).unwrap()["matcher"] = json!("Bash");
    });
    seeded("claude", "the matcher `(` fits no tool", "remove \"matcher\"", |it| {
        it.pointer_mut(pre).unwrap()["matcher"] = json!("(");
    });
    seeded("copilot", "the matcher `*` fits no tool", "remove \"matcher\"", |it| {
        it["hooks"]["preToolUse"][0]["matcher"] = json!("*");
    });
    seeded("claude", "the hook is async", "remove \"async\"", |it| {
        it.pointer_mut(pre).unwrap()["hooks"][0]["async"] = json!(true);
    });
    seeded("claude", "without `onFailure`", "write \"onFailure\": \"block\"", |it| {
        it.pointer_mut(pre).unwrap()["hooks"][0].as_object_mut().unwrap().remove("onFailure");
    });
    seeded("cursor", "without `failClosed`", "write \"failClosed\": true", |it| {
        it["hooks"]["preToolUse"][0]["failClosed"] = json!(false);
    });
    seeded("claude", "`disableAllHooks` is true", "remove \"disableAllHooks\"", |it| {
        it["disableAllHooks"] = json!(true);
    });
    seeded("claude", "`env` in", "write \"env\" as", |it| it["env"] = json!("A=1"));
    seeded("claude", "`permissions.allow` in", "write \"permissions.allow\" as", |it| {
        it["permissions"] = json!({ "allow": "Bash" });
    });
    seeded("gemini", "`hooksConfig.enabled` is false", "remove \"enabled\"", |it| {
        it["hooksConfig"] = json!({ "enabled": false });
    });
    seeded("cursor", "no event `preToolUs`", "remove \"preToolUs\"", |it| {
        it["hooks"]["preToolUs"] = json!([]);
    });
    seeded("claude", "`timeout`: 5", "write \"timeout\":", |it| {
        it.pointer_mut(pre).unwrap()["hooks"][0]["timeout"] = json!(5);
    });
    seeded("gemini", "`timeout`: 30,", "write \"timeout\": 33000", |it| {
        it["hooks"]["BeforeTool"][0]["hooks"][0]["timeout"] = json!(30);
    });
    seeded("copilot", "`timeoutSec`: 0", "write \"timeoutSec\":", |it| {
        it["hooks"]["preToolUse"][0]["timeoutSec"] = json!(0);
    });
    seeded("claude", "which is not the line of `install`", again, |it| {
        it.pointer_mut(pre).unwrap()["hooks"][0]["command"] =
            json!("sh /no/such/hooks-agent/claude.sh PreToolUse");
    });
    seeded("claude", "PreToolUse: a canary was not refused", again, |it| {
        it.pointer_mut(pre).unwrap()["hooks"][0]["command"] =
            json!("sh /no/such hooks-agent/claude.sh PreToolUse || true");
    });
}

#[test]
fn a_hook_of_another_form_than_that_of_install_is_found() {
    let again = "run: hooks-agent install";
    let of_claude = "/hooks/PreToolUse/0/hooks/0";
    for (name, value) in [("if", json!("Write(*)")), ("type", json!("prompt")), ("args", json!([]))]
    {
        let what = format!("PreToolUse: `{name}` of the hook is not as");
        seeded("claude", &what, again, |it| it.pointer_mut(of_claude).unwrap()[name] = value);
    }
    seeded("claude", "not in the form of this agent", again, |it| {
        it["hooks"]["PreToolUse"][0] = it.pointer(of_claude).unwrap().clone();
    });
    seeded("claude", "the hook is async", "remove", |it| {
        it.pointer_mut(of_claude).unwrap()["async"] = json!("true");
    });
    seeded("claude", "`disableAllHooks` is \"true\"", "remove", |it| {
        it["disableAllHooks"] = json!("true");
    });
    seeded("copilot", "does not run the line of `install`", again, |it| {
        let line = it["hooks"]["preToolUse"][0]["bash"].clone();
        it["hooks"]["preToolUse"][0]["command"] = line;
        it["hooks"]["preToolUse"][0]["bash"] = json!("echo {}");
    });
    seeded("gemini", "`timeout`: 3000000000", "write", |it| {
        it["hooks"]["BeforeTool"][0]["hooks"][0]["timeout"] = json!(3_000_000_000_u64);
    });
    seeded("qwen", "`disableAllHooks` is true", "remove", |it| it["disableAllHooks"] = json!(true));
    seeded("gemini", "`name` of the hook", again, |it| {
        it["hooks"]["BeforeTool"][0]["hooks"][0]["name"] = json!("g");
    });
}

#[test]
fn a_script_that_runs_another_program_and_a_guard_in_shadow_are_found() {
    let script = ".config/hooks-agent/claude.sh";
    let home = whole("claude");
    let text = fs::read_to_string(home.at(script)).unwrap();
    let line = text.lines().find(|line| line.starts_with("answer=$(")).unwrap();
    let other = "answer=$('/bin/sh' '-c' 'echo 1' '--socket' '/x' --event \"$1\")";
    fs::write(home.at(script), text.replace(line, other)).unwrap();
    expect(
        &home,
        &["claude"],
        "does not run this program, but `/bin/sh -c echo 1",
        "hooks-agent install claude",
    );

    let home = whole("claude");
    let fake = home.at("fake");
    fs::write(&fake, "#!/bin/sh\necho '{}'\n").unwrap();
    fs::set_permissions(&fake, PermissionsExt::from_mode(0o755)).unwrap();
    replaced(&home.at(script), crate::program::PROGRAM, fake.to_str().unwrap());
    expect(&home, &["claude"], "does not run this program, but", "hooks-agent install claude");

    let home = Home::new();
    succeeded(&home.run(&["install", "claude", "--policy", "policy.toml", "--shadow"]));
    expect(&home, &["claude"], "the guard runs in shadow", "without `--shadow`");
}

#[test]
fn settings_that_cannot_be_read_or_are_shadowed_are_found() {
    let home = whole("claude");
    fs::write(home.at(".claude/settings.json"), "{\n\"hooks\": {,}\n}").unwrap();
    expect(&home, &["claude"], "is no JSON", "mend line 2");
    fs::remove_file(home.at(".claude/settings.json")).unwrap();
    expect(&home, &["claude"], "cannot be read", "run: hooks-agent install claude --policy");

    // Settings of the folders that one works in hold over those of the user.
    let home = whole("claude");
    fs::write(home.at(".claude/settings.local.json"), r#"{"disableAllHooks": true}"#).unwrap();
    expect(&home, &["claude"], "settings.local.json", "remove \"disableAllHooks\"");
}

#[test]
fn a_script_a_guard_a_policy_and_a_state_that_do_not_hold_are_found() {
    let script = ".config/hooks-agent/claude.sh";
    let again = "run: hooks-agent install claude --policy";
    let home = whole("claude");
    fs::remove_file(home.at(script)).unwrap();
    expect(
        &home,
        &["claude"],
        "claude.sh cannot be read",
        "run: hooks-agent install claude --managed",
    );

    let home = whole("claude");
    replaced(&home.at(script), "exit 2", "exit 0");
    expect(&home, &["claude"], "was changed since `install` wrote it", again);

    let home = whole("claude");
    let gone = home.at("gone");
    replaced(&home.at(script), crate::program::PROGRAM, gone.to_str().unwrap());
    expect(&home, &["claude"], "is no program that can be run", "cargo install");

    let home = whole("claude");
    fs::write(home.at("policy.toml"), "version = 1\n[limts]\n").unwrap();
    expect(&home, &["claude"], "the policy is broken", "hooks-agent check");
    expect(&home, &["claude"], "the guard does not decide: everything is denied at", "it says: ");

    let home = whole("claude");
    fs::remove_file(home.at("policy.toml")).unwrap();
    expect(&home, &["claude"], "the policy is broken", "hooks-agent check");

    let home = whole("claude");
    for file in ["threads.db", "threads.db-wal", "threads.db-shm"] {
        let _ = fs::remove_file(home.at(file));
    }
    fs::create_dir(home.at("threads.db")).unwrap();
    expect(&home, &["claude"], "the guard does not decide: everything is denied at", "it says: ");
}

#[test]
fn hooks_that_codex_does_not_trust_are_found() {
    let home = whole("codex");
    fs::remove_file(home.at(".codex/config.toml")).unwrap();
    expect(
        &home,
        &["codex"],
        "PreToolUse: the hook never runs: nobody trusted it",
        "start `codex`",
    );
    trust(&home, "enabled = false\n");
    expect(&home, &["codex"], "switched off", "enable it");
    fs::write(home.at(".codex/config.toml"), "[features]\nhooks = false\n").unwrap();
    expect(&home, &["codex"], "`features.hooks` is false", "hooks = true");
    fs::write(home.at(".codex/config.toml"), "[features\n").unwrap();
    expect(&home, &["codex"], "is no TOML", "mend");
}

#[test]
fn files_that_are_hooks_themselves_are_examined() {
    let home = whole("opencode");
    let plugin = home.at(".config/opencode/plugin/hooks-agent.js");
    let text = fs::read_to_string(&plugin).unwrap();
    fs::write(&plugin, format!("{text}\nexport const more = 1\n")).unwrap();
    expect(
        &home,
        &["opencode"],
        "hooks-agent.js is not as `install` writes it",
        "run: hooks-agent install opencode",
    );
    fs::remove_file(&plugin).unwrap();
    expect(
        &home,
        &["opencode"],
        "hooks-agent.js cannot be read",
        "run: hooks-agent install opencode",
    );

    let home = whole("cline");
    let hook = home.at(".cline/hooks/PreToolUse");
    fs::set_permissions(&hook, PermissionsExt::from_mode(0o644)).unwrap();
    expect(&home, &["cline"], "is no program that can be run, so the hook never runs", "chmod +x");
}

#[test]
fn a_project_that_an_agent_does_not_trust_is_found() {
    for (agent, mend) in [("gemini", "start `gemini`"), ("codex", "start `codex`")] {
        let home = Home::new();
        let project = home.at("project");
        fs::create_dir(&project).unwrap();
        let project = project.to_str().unwrap();
        succeeded(&home.run(&["install", agent, "--policy", "policy.toml", "--in", project]));
        expect(&home, &[agent, "--in", project], "does not trust", mend);
    }
}

#[test]
fn agents_without_a_guard_and_what_no_hook_guards_are_named() {
    let home = whole("claude");
    fs::create_dir_all(home.at(".gemini")).unwrap();
    fs::create_dir_all(home.at(".continue")).unwrap();
    let (said, has_holes) = examined(&home, &[]);
    assert!(has_holes);
    assert!(
        said.contains("! Gemini CLI is here without a guard\n  run: hooks-agent install gemini"),
        "{said}"
    );
    assert!(said.contains("Continue is here"), "{said}");
    assert!(said.contains("- a hook with `\"async\": true`"), "the gaps of the agent: {said}");
}

#[test]
fn an_agent_that_is_older_than_its_switch_is_found() {
    let home = whole("claude");
    let bin = home.at("bin");
    fs::create_dir(&bin).unwrap();
    let program = bin.join("claude");
    fs::write(&program, "#!/bin/sh\necho '2.0.1 (Claude Code)'\n").unwrap();
    fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let output = home.command(&["doctor", "claude"]).env("PATH", path).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("2.0.1 is older than"), "{said}");
    assert!(said.contains("update `claude`"), "{said}");
}

#[test]
fn settings_that_are_elsewhere_are_said() {
    let home = whole("codex");
    let mut command = home.command(&["doctor", "codex"]);
    let output = command.env("CODEX_HOME", home.at("other")).output().unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8(output.stdout).unwrap().contains("`CODEX_HOME` is set"));
}

#[test]
fn files_that_other_users_can_change_are_found() {
    let home = whole("claude");
    let open = |path: &str, mode| {
        fs::set_permissions(home.at(path), PermissionsExt::from_mode(mode)).unwrap();
    };
    for (path, before) in [
        (".config/hooks-agent/claude.sh", 0o644),
        (".config/hooks-agent", 0o755),
        (".claude/settings.json", 0o644),
        ("policy.toml", 0o644),
        ("threads.db", 0o644),
    ] {
        open(path, before | 0o002);
        expect(&home, &["claude"], "other users can write", "run: chmod o-w,g-w");
        open(path, before);
    }
    assert!(!examined(&home, &["claude"]).1);
}

#[test]
fn a_guard_whose_script_is_gone_is_found_without_naming_the_agent() {
    let home = whole("claude");
    fs::remove_dir_all(home.at(".config")).unwrap();
    expect(&home, &[], "claude.sh cannot be read", "run: hooks-agent install claude");
}

#[test]
fn a_guard_of_the_user_and_one_of_the_project_count_twice() {
    let home = whole("claude");
    let project = home.at("project");
    fs::create_dir(&project).unwrap();
    let project = project.to_str().unwrap();
    succeeded(&home.run(&["install", "claude", "--policy", "policy.toml", "--in", project]));
    let mend = "run: hooks-agent uninstall claude";
    expect(&home, &["claude", "--in", project], "decide both, and limits count twice", mend);
    let said = home.command(&["doctor", "claude"]).current_dir(project).output().unwrap();
    assert!(String::from_utf8(said.stdout).unwrap().contains("limits count twice"));
    assert!(!examined(&home, &["claude"]).1, "the folder of the user is no project");
}

#[test]
fn a_state_that_the_environment_of_the_agent_says_is_found() {
    let home = whole("claude");
    let script = home.at(".config/hooks-agent/claude.sh");
    let state = format!(" '--state' '{}'", home.at("threads.db").display());
    replaced(&script, &state, "");
    expect(&home, &["claude"], "limits begin again", "run: hooks-agent install claude");
}

#[test]
fn a_policy_that_denies_nothing_is_found() {
    let home = whole("claude");
    fs::write(home.at("policy.toml"), "version = 1\n").unwrap();
    expect(&home, &["claude"], "it denies nothing", "deny_tools");
}

#[test]
fn other_hooks_that_may_change_arguments_are_named() {
    let home = whole("claude");
    let other = json!({ "hooks": [{ "type": "command", "command": "format.sh" }] });
    let project = home.at(".claude/settings.local.json");
    fs::write(project, json!({ "hooks": { "PreToolUse": [other] } }).to_string()).unwrap();
    change(&home, "claude", |it| {
        it["hooks"]["PreToolUse"].as_array_mut().unwrap().push(other.clone());
    });
    let (said, has_holes) = examined(&home, &["claude"]);
    assert!(!has_holes, "{said}");
    for file in ["settings.json has 1 more", "settings.local.json has 1 more"] {
        assert!(said.contains(file), "{said}");
    }
    let home = whole("opencode");
    fs::write(home.at(".config/opencode/plugin/other.js"), "").unwrap();
    assert!(examined(&home, &["opencode"]).0.contains("another plug-in runs beside the guard"));
}
