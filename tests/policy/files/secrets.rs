//! Values of `${env:..}` reach hooks, and no text of the policy.

use hooks_agent_core::prelude::*;
use hooks_agent_policy::policy::Policy;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::support::{Folder, lines, policy, reply, text};

/// A variable that cargo sets for tests; its value stands for a secret.
const NAME: &str = "CARGO_MANIFEST_DIR";

fn secret() -> String {
    std::env::var(NAME).unwrap()
}

fn with_text(value: &str) -> String {
    format!("version = 1\n[[hook]]\nuse = \"say\"\nwith = {{ text = \"{value}\" }}\n")
}

#[tokio::test]
async fn a_hook_gets_the_value_and_nobody_else() {
    let folder = Folder::with(&with_text(" <${env:CARGO_MANIFEST_DIR}>"));
    let policy = folder.policy();
    assert_eq!(reply(&policy, "bot").await, format!("Done. <{}>", secret()));
    let merged = policy.merged();
    let shown = format!("{merged} {merged:?} {policy:?} {:?}", policy.check());
    assert!(shown.contains("${env:CARGO_MANIFEST_DIR}"), "{shown}");
    assert!(!shown.contains(&secret()), "{shown}");
}

#[tokio::test]
async fn a_doubled_dollar_is_a_text() {
    assert_eq!(reply(&policy(&with_text(" $${env:X} $5 $")), "bot").await, "Done. ${env:X} $5 $");
}

#[test]
fn a_variable_of_another_form_is_an_error() {
    for value in ["${ENV:X}", "${env:X", "${env:}", "${env:a-b}", "a ${}"] {
        let lines = lines(&with_text(value));
        assert!(
            lines[0].ends_with("expected `${env:NAME}`; write `$${` for the text `${`"),
            "{lines:?}"
        );
    }
}

#[test]
fn a_variable_outside_of_the_options_is_an_error() {
    let text = "version = 1\n[[hook]]\nuse = \"timing\"\nname = \"${env:HOME}\"\n";
    let lines = lines(text);
    assert!(
        lines[0].starts_with("policy.toml:4:8: hook[0].name: `${..}` is taken in `with`"),
        "{lines:?}"
    );
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Level {
    Low,
}

#[derive(Deserialize, JsonSchema)]
struct Strict {
    level: Option<Level>,
    number: Option<u64>,
    text: Option<String>,
}

/// A hook that says its options in its errors.
fn strict(with: &str) -> String {
    let content = format!("version = 1\n[[hook]]\nuse = \"strict\"\nwith = {{ {with} }}\n");
    let builder = Policy::builder().project(text(&content)).register("strict", |it: Strict| {
        let _ = (it.level.map(|Level::Low| ()), it.number);
        let text = it.text.unwrap_or_default();
        let refused = format!("the text {text:?} is refused");
        if text.is_empty() { Ok(on(|_: &mut PreCall<'_>| {})) } else { Err(refused) }
    });
    builder.open().unwrap_err().to_string()
}

#[test]
fn no_error_shows_a_value() {
    for with in [
        "level = \"${env:CARGO_MANIFEST_DIR}\"",
        "number = \"${env:CARGO_MANIFEST_DIR}\"",
        "text = \"${env:CARGO_MANIFEST_DIR}\"",
        "text = \"x\", level = \"${env:CARGO_MANIFEST_DIR}\"",
    ] {
        let shown = strict(with);
        assert!(!shown.contains(&secret()), "{shown}");
        assert!(shown.starts_with("policy.toml:4:"), "{shown}");
    }
    assert!(
        strict("level = \"${env:CARGO_MANIFEST_DIR}\"").ends_with("unknown value; expected `low`")
    );
    assert!(strict("text = \"${env:CARGO_MANIFEST_DIR}\"").contains("the reason is not shown"));
    // Without a variable, the reason is shown.
    assert!(strict("text = \"x\"").ends_with("the text \"x\" is refused"));
}

#[test]
fn a_changed_value_is_no_change_of_the_file() {
    let folder = Folder::with(&with_text("${env:CARGO_MANIFEST_DIR}"));
    assert!(!folder.policy().reload().unwrap().has_changed);
}
