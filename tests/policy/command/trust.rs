//! Which commands of a project run.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use hooks_agent_policy::command::{
    CommandEntry, CommandHooks, CommandHooksError, Layer, Trust, TrustError,
};

use crate::agents::{assert_has, before_tools, dir};

fn open(entry: CommandEntry, trust: &Trust) -> Result<CommandHooks, CommandHooksError> {
    CommandHooks::builder(dir()).entry(entry).trust(trust.clone()).open()
}

fn of_project(line: &str) -> CommandEntry {
    before_tools(line).layer(Layer::Project)
}

#[test]
fn a_command_of_the_project_is_listed_until_it_is_trusted() {
    let trust = Trust::default();
    let error = open(of_project("check"), &trust).unwrap_err();
    let untrusted: Vec<_> = error.untrusted().cloned().collect();
    assert_eq!(untrusted.len(), 1);
    assert_eq!(untrusted[0].command(), ["sh", "-c", "check"]);
    assert_has(&error.to_string(), untrusted[0].hash());
    trust.add(untrusted[0].hash()).unwrap();
    assert!(open(of_project("check"), &trust).is_ok());
    assert!(open(of_project("check").named("another name"), &trust).is_ok());
}

#[test]
fn a_changed_command_is_not_trusted() {
    let trust = Trust::default();
    let error = open(of_project("check"), &trust).unwrap_err();
    trust.add(error.untrusted().next().unwrap().hash()).unwrap();
    let changed = [
        of_project("check; rm -r /"),
        of_project("check").matcher("write_file"),
        of_project("check").env("PATH", "/tmp"),
        of_project("check").on_failure(hooks_agent_policy::command::OnFailure::Continue),
        CommandEntry::shell("PostToolUse", "check").layer(Layer::Project),
    ];
    for entry in changed {
        assert_eq!(open(entry, &trust).unwrap_err().untrusted().count(), 1);
    }
}

/// Files of trust would be worth nothing after an update.
#[test]
fn the_hash_of_a_program_stays_what_it_was() {
    let error = open(of_project("check"), &Trust::default()).unwrap_err();
    let hash = "cfe6ab322d5c029a645f8cbe29d2018f7ee067149c8a32a69de2557d68df169e";
    assert_eq!(error.untrusted().next().unwrap().hash(), hash);
}

#[test]
fn other_layers_need_no_trust() {
    for layer in [Layer::Managed, Layer::Session, Layer::Local, Layer::User] {
        assert!(open(before_tools("check").layer(layer), &Trust::default()).is_ok());
    }
}

#[tokio::test]
async fn only_managed_commands_run_if_the_program_says_so() {
    let hooks = CommandHooks::builder(dir())
        .entry(before_tools("exit 2").layer(Layer::User))
        .entry(of_project("exit 2"))
        .entry(before_tools("echo managed >&2; exit 2").layer(Layer::Managed))
        .only_managed(true)
        .open()
        .unwrap();
    let trial = crate::agents::Trial::of(hooks, hooks_agent_core::tool::Permission::Allow).await;
    assert_eq!(trial.result().output, "managed");
}

#[test]
fn hashes_are_kept_in_a_file_of_the_user_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("below/trust.json");
    let trust = Trust::file(&path);
    let error = open(of_project("check"), &trust).unwrap_err();
    trust.add(error.untrusted().next().unwrap().hash()).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    assert!(open(of_project("check"), &Trust::file(&path)).is_ok());
}

#[test]
fn a_trust_file_that_others_may_write_or_that_is_cut_trusts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trust.json");
    let trust = Trust::file(&path);
    trust.add(&"a".repeat(64)).unwrap();
    fs::set_permissions(&path, PermissionsExt::from_mode(0o666)).unwrap();
    assert!(matches!(trust.add(&"b".repeat(64)), Err(TrustError::WritableByOthers { .. })));
    assert_has(&open(before_tools("check"), &trust).unwrap_err().to_string(), "chmod 600");
    fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    fs::write(&path, "{\"version\": 1, \"sha2").unwrap();
    assert!(matches!(trust.add(&"b".repeat(64)), Err(TrustError::Malformed { .. })));
    assert!(open(before_tools("check"), &trust).is_err());
}

#[test]
fn a_text_that_is_no_hash_is_not_trusted() {
    assert!(matches!(Trust::default().add("abc"), Err(TrustError::NoHash { .. })));
}
