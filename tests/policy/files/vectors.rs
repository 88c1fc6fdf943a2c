//! The vectors of the specification.

use hooks_agent_core::prelude::*;
use hooks_agent_policy::policy::{Layer, MergedHook, Policy, PolicyEvent, PolicyFile};

use crate::support::{Folder, builder, errors, lines, policy, reply, says, with_say};

const FILE: &str = r#"version = 1
on_failure = "block"                       # default of command hooks
[[hook]]
use = "pii_detection"                      # a registered name; built-ins are registered
name = "mail"                              # unique; default: the value of `use`
agents = ["support-*", "!support-test"]    # globs; default all
priority = 50                              # default: the hook's own; also inherit, enabled
with = { kinds = ["email"], strategy = "mask" }
"#;

const COMMAND: &str = r#"[[command]]
event = "PreToolUse"
matcher = "write_file|shell"
exec = ["guards/check"]
timeout = "10s"                            # also on_failure, env, pass_env, sequence
"#;

const LIMITS: &str = r#"[limits]                                   # may only be tightened by lower layers
max_iters = 12
deny_tools = ["shell"]
"#;

/// PF-01, without its command.
#[test]
fn the_plan_shows_the_hook_of_the_file_at_its_priority() {
    let policy = policy(&format!("{FILE}{LIMITS}"));
    let merged = policy.merged();
    assert_eq!(merged.hooks().len(), 1);
    assert_eq!((merged.hooks()[0].name(), merged.hooks()[0].priority()), ("mail", 50));
    assert_eq!(merged.max_iters(), Some(12));
    let plan = builder("support-1", &policy).build().unwrap().hook_plan().to_string();
    let line = plan.lines().find(|line| line.contains("mail")).unwrap();
    assert!(line.contains("50"), "{plan}");
    assert!(plan.contains("policy limits"), "{plan}");
}

/// PF-01, its command.
#[test]
fn a_command_of_the_file_is_in_the_plan() {
    let file = PolicyFile::text("policy.toml", format!("{FILE}{COMMAND}{LIMITS}"));
    let policy = Policy::builder().session(file).open().unwrap();
    let merged = policy.merged();
    assert_eq!((merged.hooks().len(), merged.commands().len()), (1, 1));
    assert_eq!(merged.commands()[0].event(), "PreToolUse");
    assert!(
        merged.to_string().contains("PreToolUse of write_file|shell: guards/check"),
        "{merged}"
    );
    let plan = builder("support-1", &policy).build().unwrap().hook_plan().to_string();
    assert!(plan.contains("CommandHooks") && plan.contains("mail"), "{plan}");
}

/// PF-02.
#[test]
fn an_unknown_key_is_an_error_with_line_column_and_the_near_name() {
    let lines = lines(
        "version = 1\n[[command]]\n  matchr = \"x\"\nevent = \"PreToolUse\"\nexec = [\"a\"]\n",
    );
    let line = lines.iter().find(|line| line.contains("matchr")).unwrap();
    assert!(
        line.starts_with(
            "policy.toml:3:3: command[0].matchr: unknown key `matchr`, did you mean `matcher`?"
        ),
        "{line}"
    );
}

/// PF-03.
#[test]
fn all_errors_are_reported_at_once() {
    let text =
        "version = 1\n[[hook]]\nuse = \"timng\"\npriority = \"high\"\n[limits]\nmax_iters = 0\n";
    let lines = lines(text);
    assert_eq!(lines.len(), 3, "{lines:#?}");
    assert!(
        lines[0].starts_with(
            "policy.toml:3:7: hook[0].use: unknown hook `timng`, did you mean `timing`?"
        )
    );
    assert_eq!(
        lines[1],
        "policy.toml:4:12: hook[0].priority: expected a whole number of 32 bits, found a string"
    );
    assert_eq!(
        lines[2],
        "policy.toml:6:13: limits.max_iters: expected a whole number from 1, found 0"
    );
}

/// PF-03, with errors of the syntax.
#[test]
fn all_errors_of_the_syntax_are_reported_at_once() {
    let lines = lines("version = 1\na = \nversion = 1\nb = @\n");
    let places = ["policy.toml:2:", "policy.toml:3:", "policy.toml:4:"];
    assert!(lines.iter().zip(places).all(|(it, place)| it.starts_with(place)), "{lines:#?}");
    assert_eq!(lines.len(), 3, "{lines:#?}");
}

/// PF-04.
#[test]
fn a_value_that_an_option_does_not_know_is_named() {
    let text =
        "version = 1\n[[hook]]\nuse = \"pii_detection\"\nwith = { kinds = [\"url\", \"emial\"] }\n";
    let found = lines(text);
    let expected = "policy.toml:4:26: hook[0].with.kinds[1]: unknown value `emial`, did you mean `email`? \
        expected one of `email`, `credit_card`, `ip`, `mac_address`, `url`, `phone`, `iban`, `crypto_address`,";
    assert!(found.len() == 1 && found[0].starts_with(expected), "{found:?}");
}

/// PF-05.
#[test]
fn a_duplicate_name_is_an_error_with_both_places() {
    let text =
        "version = 1\n[[hook]]\nuse = \"timing\"\n[[hook]]\nuse = \"logging\"\nname = \"timing\"\n";
    assert_eq!(
        lines(text),
        [
            "policy.toml:6:8: hook[1].name: the name `timing` is taken by the hook at policy.toml:3:7; \
          expected another `name`"
        ]
    );
}

/// PF-06.
#[test]
fn a_lower_layer_cannot_disable_a_hook_of_a_higher_one() {
    const USER: &str = "version = 1\n[[hook]]\nuse = \"timing\"\nenabled = false\n";

    let managed = PolicyFile::text("managed.toml", "version = 1\n[[hook]]\nuse = \"timing\"\n");
    let user = |text: &str| PolicyFile::text("user.toml", text);
    let open = |text: &str| Policy::builder().user(user(text)).managed(managed.clone()).open();
    let error = open(USER).unwrap_err();
    assert_eq!(
        error.to_string(),
        "user.toml:3:7: hook[0].name: the layer user cannot disable `timing`, a hook of the layer \
         managed at managed.toml:3:7; expected another `name`"
    );
    let error = open(&USER.replace("enabled = false", "priority = 900")).unwrap_err().to_string();
    assert!(error.contains("the layer user cannot redefine `timing`"), "{error}");
}

/// PF-07.
#[test]
fn the_smallest_limit_of_all_layers_counts() {
    let limit = |name: &str, most: usize| {
        PolicyFile::text(name, format!("version = 1\n[limits]\nmax_iters = {most}\n"))
    };
    let builder = Policy::builder().managed(limit("m", 12)).project(limit("p", 20));
    assert_eq!(builder.open().unwrap().merged().max_iters(), Some(12));
    let builder = Policy::builder().managed(limit("m", 20)).project(limit("p", 12));
    let merged = builder.open().unwrap().merged();
    assert!(merged.to_string().contains("max_iters = 12, project (p:3)"), "{merged}");
}

/// PF-08.
#[tokio::test]
async fn a_bad_file_keeps_the_old_hooks_and_sends_an_event() {
    let folder = Folder::with(&says(" one"));
    let policy = folder.policy();
    let mut events = policy.subscribe();
    folder.write("version = 1\n[[hook\n");
    policy.reload().unwrap_err();
    assert_eq!(reply(&policy, "bot").await, "Done. one");
    let Some(PolicyEvent::Failed(errors)) = events.try_next() else { panic!("a failure") };
    assert_eq!(errors.list()[0].place().unwrap().line(), 2);

    folder.write(&says(" two"));
    assert_eq!(policy.reload().unwrap().changed, ["say"]);
    assert_eq!(reply(&policy, "bot").await, "Done. two");
    assert!(matches!(events.try_next(), Some(PolicyEvent::Reloaded(it)) if it.version == 2));
    assert_eq!(events.try_next(), None);
}

/// PF-09.
#[tokio::test]
async fn a_call_finishes_with_the_policy_it_began_with() {
    let folder = Folder::with(&says(" one"));
    let policy = folder.policy();
    let (file, reloading) = (folder.file(), policy.clone());
    let model = ScriptedModel::new("fixed", move |_| {
        std::fs::write(&file, says(" two")).unwrap();
        reloading.reload().unwrap();
        "Done."
    });
    let agent =
        ReActAgent::builder("bot").model(model).hook_source(policy.clone()).build().unwrap();
    assert_eq!(agent.call("Go").await.unwrap().text(), "Done. one");
    assert_eq!(agent.call("Go").await.unwrap().text(), "Done. two");
}

/// PF-11.
#[tokio::test]
async fn hooks_run_in_the_agents_that_globs_name() {
    let text = "agents = [\"support-*\", \"!support-test\"]\n";
    let policy = policy(&format!("{}{text}", says(" hi")));
    assert_eq!(reply(&policy, "support-1").await, "Done. hi");
    assert_eq!(reply(&policy, "support-test").await, "Done.");
    assert_eq!(reply(&policy, "billing").await, "Done.");
}

/// PF-13.
#[test]
fn a_variable_that_is_not_set_is_an_error_without_a_value() {
    let text = "version = 1\n[[hook]]\nuse = \"say\"\nwith = { text = \"${env:HOOKS_NOT_SET}\" }\n";
    assert_eq!(
        lines(text),
        [
            "policy.toml:4:17: hook[0].with.text: the environment variable `HOOKS_NOT_SET` is not set"
        ]
    );
}

/// PF-14.
#[tokio::test]
async fn a_file_of_its_version_alone_is_valid_and_has_no_hooks() {
    let policy = policy("version = 1");
    assert!(policy.merged().hooks().is_empty());
    assert_eq!(reply(&policy, "bot").await, "Done.");
}

#[test]
fn a_file_without_a_version_or_of_another_one_is_an_error() {
    assert_eq!(
        errors("[[hook]]\nuse = \"timing\"").to_string(),
        "policy.toml:1:1: version: missing key `version`; write `version = 1` in the first line"
    );
    assert_eq!(
        errors("version = 2").to_string(),
        "policy.toml:1:11: version: expected `version = 1`, found version 2"
    );
}

#[test]
fn layers_are_in_order_whatever_the_order_of_the_builder() {
    let named = |name: &str| {
        PolicyFile::text(name, says(name).replace("use", &format!("name = \"{name}\"\nuse")))
    };
    let builder = Policy::builder().user(named("u")).project(named("p")).managed(named("m"));
    let merged = with_say(builder.local(named("l")).session(named("s"))).check().unwrap();
    let layers: Vec<_> = merged.hooks().iter().map(MergedHook::layer).collect();
    assert_eq!(layers, [Layer::Managed, Layer::Session, Layer::Local, Layer::Project, Layer::User]);
}

#[test]
fn every_key_of_a_command_is_checked() {
    let table = "[[command]]\nmatcher = 1\nexec = []\ntimeout = \"soon\"\non_failure = \"blok\"\n\
                 env = { A = 1 }\npass_env = \"B\"\nsequence = \"no\"\n";
    let lines = lines(&format!("version = 1\n{table}"));
    let keys: Vec<_> = lines.iter().map(|line| line.split(": ").nth(1).unwrap()).collect();
    let expected =
        ["", ".matcher", ".exec", ".timeout", ".on_failure", ".env.A", ".pass_env", ".sequence"];
    assert_eq!(keys, expected.map(|key| format!("command[0]{key}")), "{lines:#?}");
    assert!(lines.iter().any(|line| line.contains("did you mean `block`?")), "{lines:#?}");
    assert!(lines.iter().any(|line| line.contains("missing key `event`")), "{lines:#?}");
}
