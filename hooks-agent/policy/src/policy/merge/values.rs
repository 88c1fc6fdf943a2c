//! Values of files, as they are listed.

use hooks_agent_core::options::{Node, Value};

/// Returns a text as it is, and another value as the file has it.
pub(super) fn text(node: &Node) -> String {
    match &node.value {
        Value::Text { raw, .. } => raw.clone(),
        _ => node.to_string(),
    }
}

/// Returns a list of texts without its brackets, and a condition on one line.
pub(super) fn shown(node: &Node) -> String {
    let shown = match &node.value {
        Value::List(list) => list.iter().map(text).collect::<Vec<_>>().join(", "),
        _ => text(node),
    };
    let words: Vec<_> = shown.split_whitespace().collect();
    words.join(" ").chars().filter(|it| !it.is_control()).collect()
}
