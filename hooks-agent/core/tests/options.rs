//! Values of the environment in options of hooks are shown by nothing.

use hooks_agent_core::options::{Node, Value, read_options};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Level {
    Low,
}

#[test]
fn a_mistake_does_not_show_a_value_of_the_environment() {
    let value = Value::Text {
        raw: "${env:LEVEL}".to_owned(),
        resolved: Some("hunter2".to_owned()),
        is_secret: true,
    };
    let node = Node { span: 0..12, value };
    let mistakes = read_options::<Level>(&node).unwrap_err();
    let shown = format!("{node} {node:?} {:?} {mistakes:?} {}", node.value, mistakes[0]);
    assert!(!shown.contains("hunter2"), "{shown}");
    assert!(shown.contains("${env:LEVEL}") && shown.contains("expected `low`"), "{shown}");
    assert!(mistakes[0].message(false).contains("hunter2"), "without a secret it is shown");
}
