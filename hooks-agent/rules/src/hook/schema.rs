//! Schemas that others wrote.

use std::collections::HashMap;

use serde_json::Value;

/// The most subschemas that a check may visit for one value.
const MOST_VISITS: u64 = 100_000;

/// Returns whether a check by the schema visits few subschemas, whatever the value is: references may double with each
/// step, and a schema that refers to itself twice doubles with each level of the value.
pub(super) fn is_bounded(schema: &Value) -> bool {
    let mut visits =
        Visits { root: schema, known: HashMap::new(), open: Vec::new(), is_bounded: true };
    let count = visits.of(schema, 0);
    visits.is_bounded && count <= MOST_VISITS
}

struct Visits<'a> {
    root: &'a Value,
    known: HashMap<&'a str, u64>,
    /// The references that are followed, with how often each refers to itself.
    open: Vec<(&'a str, u32)>,
    is_bounded: bool,
}

impl<'a> Visits<'a> {
    fn of(&mut self, schema: &'a Value, depth: usize) -> u64 {
        if depth > 256 {
            self.is_bounded = false;
            return 0;
        }
        match schema {
            Value::Array(list) => {
                list.iter().fold(1, |sum: u64, it| sum.saturating_add(self.of(it, depth + 1)))
            }
            Value::Object(fields) => fields.iter().fold(1, |sum: u64, (key, value)| {
                let count = match (key.as_str(), value) {
                    // Definitions are visited where they are referred to.
                    ("$defs" | "definitions", _) => 0,
                    ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(target)) => {
                        self.of_reference(target, depth)
                    }
                    _ => self.of(value, depth + 1),
                };
                sum.saturating_add(count)
            }),
            _ => 1,
        }
    }

    fn of_reference(&mut self, target: &'a str, depth: usize) -> u64 {
        if let Some(count) = self.known.get(target) {
            return *count;
        }
        if let Some((_, again)) = self.open.iter_mut().find(|(open, _)| *open == target) {
            *again += 1;
            self.is_bounded &= *again < 2;
            return 1;
        }
        let pointer = target.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
        // What is elsewhere, or named by an anchor, is not followed here.
        let Some(schema) = pointer else {
            self.is_bounded = false;
            return 0;
        };
        self.open.push((target, 0));
        let count = self.of(schema, depth + 1);
        self.open.pop();
        self.known.insert(target, count);
        count
    }
}
