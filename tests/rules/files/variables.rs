//! Variables in a file beside the policy.

use std::fs;

use hooks_agent_core::prelude::*;
use hooks_agent_policy::policy::Policy;
use serde_json::json;

use crate::Bot;

const POLICY: &str = r#"version = 1
[rules]
vars_file = "payees.toml"
[vars]
most = 10
[[rule]]
name = "known"
then = "deny"
when = "!(args.to in vars.payees) || args.euros > vars.most"
"#;

struct Folder(tempfile::TempDir);

impl Folder {
    fn with(policy: &str, payees: &str) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        fs::write(folder.0.path().join("policy.toml"), policy).unwrap();
        folder.payees(payees);
        folder
    }

    fn payees(&self, text: &str) {
        fs::write(self.0.path().join("payees.toml"), text).unwrap();
    }

    fn open(&self) -> Result<Policy, String> {
        let opened = Policy::builder().project(self.0.path().join("policy.toml")).open();
        opened.map_err(|errors| errors.to_string())
    }

    fn error(&self) -> String {
        self.open().map(drop).unwrap_err()
    }
}

#[tokio::test]
async fn a_file_beside_has_variables_and_is_reloaded_with_it() {
    let folder = Folder::with(POLICY, "payees = [\"Bakery\"]");
    let policy = folder.open().unwrap();
    let pay = |to: &str, euros: u32| ("pay", json!({ "to": to, "euros": euros }));
    let calls = [pay("Bakery", 5), pay("Bakery", 50), pay("Eve", 5), pay("Eve", 5)];
    let bot = Bot::new("bot", policy.clone(), &calls);
    let denied = "the rule \"known\" denies it";
    for expected in ["runs", denied, denied] {
        assert_eq!(bot.next(CallOptions::new()).await, expected);
    }
    folder.payees("payees = [\"Bakery\", \"Eve\"]");
    assert_eq!(policy.reload().unwrap().version, 2);
    assert_eq!(bot.next(CallOptions::new()).await, "runs");
    // The same bytes change nothing.
    folder.payees("payees = [\"Bakery\", \"Eve\"]");
    assert_eq!(policy.reload().unwrap().version, 2);
}

#[test]
fn a_change_of_the_file_beside_is_seen_by_the_watcher() {
    let folder = Folder::with(POLICY, "payees = [\"Bakery\"]");
    let policy = folder.open().unwrap();
    let mut events = policy.subscribe();
    let _watcher = policy.watch().unwrap();
    folder.payees("payees = [\"Eve\"]");
    let event = events.wait().unwrap();
    assert!(
        matches!(event, hooks_agent_policy::policy::PolicyEvent::Reloaded(it) if it.version == 2)
    );
}

#[test]
fn a_file_beside_that_is_wrong_leaves_the_policy_as_it_was() {
    let folder = Folder::with(POLICY, "payees = [\"Bakery\"]");
    let policy = folder.open().unwrap();
    for (text, error) in [
        ("payees = [", "payees.toml:1: "),
        ("\npayees = 5\nmost = 1", "the variable `most` is in `[vars]` too"),
        ("others = []", "unknown variable `payees`"),
        ("payees = 5", "`in` does not take any value and int"),
    ] {
        folder.payees(text);
        let found = policy.reload().unwrap_err().to_string();
        assert!(found.contains(error), "{found}");
        assert!(found.contains("policy.toml:3:13") || found.contains("rule[0].when"), "{found}");
    }
    fs::remove_file(folder.0.path().join("payees.toml")).unwrap();
    let found = policy.reload().unwrap_err().to_string();
    assert!(found.contains("rules.vars_file: payees.toml cannot be read"), "{found}");
    assert_eq!(policy.version(), 1);
}

#[test]
fn a_file_of_variables_is_in_the_same_folder() {
    for name in ["../payees.toml", "/etc/passwd", "a/b.toml", ".", ""] {
        let policy = format!("version = 1\n[rules]\nvars_file = \"{name}\"\n");
        let error = Folder::with(&policy, "").error();
        assert!(error.contains("is no name of a file in the same folder"), "{error}");
    }
}
