//! Servers as hooks in a program that is built without an HTTP client.
#![cfg(all(feature = "command", not(feature = "command-http")))]

use hooks_agent::command::{CommandEntry, CommandHooks};

#[test]
fn a_server_is_refused_with_the_feature_to_enable() {
    let error = CommandHooks::builder(std::env::temp_dir())
        .allow_hosts(["127.0.0.1"])
        .entry(CommandEntry::http("PreToolUse", "http://127.0.0.1/check"))
        .open()
        .unwrap_err();
    assert_eq!(error.problems()[0].field(), "url");
    assert!(
        error.to_string().contains("with the feature `command-http` of hooks-agent"),
        "{error}"
    );
}
