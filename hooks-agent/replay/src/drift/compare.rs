//! The differences between two values.

use serde_json::Value;

/// A place at which two values differ.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Difference {
    pub(crate) path: String,
    pub(crate) recorded: Option<Value>,
    pub(crate) now: Option<Value>,
}

// Input: { "a": [1, 2] }, { "a": [1, 3] }
// Output: a[1]: 2, 3
pub(crate) fn differences(recorded: &Value, now: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    compare("", Some(recorded), Some(now), &mut found);
    found
}

fn compare(path: &str, recorded: Option<&Value>, now: Option<&Value>, found: &mut Vec<Difference>) {
    match (recorded, now) {
        (recorded, now) if recorded == now => {}
        (Some(Value::Object(recorded)), Some(Value::Object(now))) => {
            let mut keys: Vec<_> = recorded.keys().chain(now.keys()).collect();
            keys.sort_unstable();
            keys.dedup();
            for key in keys {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                compare(&path, recorded.get(key), now.get(key), found);
            }
        }
        (Some(Value::Array(recorded)), Some(Value::Array(now))) => {
            let least = recorded.len().min(now.len());
            let pairs = recorded.iter().zip(now);
            let start = pairs.take_while(|(recorded, now)| recorded == now).count();
            let ends = recorded[start..].iter().rev().zip(now[start..].iter().rev());
            let end = if recorded.len() == now.len() {
                0
            } else {
                ends.take_while(|(recorded, now)| recorded == now).count()
            };
            let (middle, now_middle) = (recorded.len() - end, now.len() - end);
            debug_assert!(start + end <= least);
            for index in start..middle.max(now_middle) {
                let recorded = recorded[..middle].get(index);
                let now = now[..now_middle].get(index);
                compare(&format!("{path}[{index}]"), recorded, now, found);
            }
        }
        (recorded, now) => {
            let (recorded, now) = (recorded.cloned(), now.cloned());
            found.push(Difference { path: path.to_owned(), recorded, now });
        }
    }
}
