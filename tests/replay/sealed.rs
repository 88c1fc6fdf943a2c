//! The lines of a tape with whole requests, and with their digests.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Returns the lines of a tape without digests and without the last one. Requests are whole.
pub(crate) fn whole(text: &str) -> Vec<Value> {
    let mut requests: HashMap<usize, Value> = HashMap::new();
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let mut line: Value = serde_json::from_str(line).unwrap();
        line.as_object_mut().unwrap().remove("sum");
        if let Some(request) = line.get_mut("request") {
            if let Some(like) = request.get("like").map(|like| like.as_u64().unwrap()) {
                *request = differing(request, &requests[&usize::try_from(like).unwrap()]);
            }
            requests.insert(number, request.clone());
        }
        if line["t"] != "close" {
            lines.push(line);
        }
    }
    lines
}

fn differing(request: &Value, before: &Value) -> Value {
    let mut messages = Vec::new();
    for piece in request["messages"].as_array().unwrap() {
        match piece.as_array() {
            None => messages.push(piece.clone()),
            Some(range) => {
                let at = |index: usize| usize::try_from(range[index].as_u64().unwrap()).unwrap();
                messages.extend_from_slice(&before["messages"].as_array().unwrap()[at(0)..at(1)]);
            }
        }
    }
    let part = |name: &str| request.get(name).unwrap_or(&before[name]).clone();
    json!({ "messages": messages, "options": part("options"), "tools": part("tools") })
}

/// Returns a tape of these lines.
pub(crate) fn sealed(lines: &[Value]) -> String {
    let close = json!({ "lines": lines.len(), "t": "close" });
    let (mut text, mut sum) = (String::new(), String::new());
    for line in lines.iter().chain([&close]) {
        let line = plain(line);
        let (before, after) = line.split_at(line.rfind(",\"t\":\"").unwrap());
        let digest = Sha256::digest(format!("{sum}{before}{after}"));
        sum = digest.iter().take(16).fold(String::new(), |mut hex, byte| {
            write!(hex, "{byte:02x}").unwrap();
            hex
        });
        writeln!(text, "{before},\"sum\":\"{sum}\"{after}").unwrap();
    }
    text
}

/// Returns a tape of version 1 of these lines.
pub(crate) fn of_version_1(mut lines: Vec<Value>) -> String {
    lines[0]["version"] = 1.into();
    lines.iter().flat_map(|line| [plain(line), "\n".to_owned()]).collect()
}

fn plain(line: &Value) -> String {
    let fields: BTreeMap<_, _> = line.as_object().unwrap().iter().collect();
    serde_json::to_string(&fields).unwrap()
}
