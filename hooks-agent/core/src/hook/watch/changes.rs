//! The differences between two values.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a hook changed at one place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HookChange {
    /// The place, such as `messages[2].content[0].text`.
    pub path: String,
    /// The value before the hook; `None` if the hook added it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// The value after the hook; `None` if the hook removed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
}

/// Adds the differences of two values at a place.
pub(super) fn compare(
    path: &str,
    before: Option<Value>,
    after: Option<Value>,
    changes: &mut Vec<HookChange>,
) {
    match (before, after) {
        (before, after) if before == after => {}
        (Some(Value::Object(mut before)), Some(Value::Object(after))) => {
            for (key, after) in after {
                compare(&format!("{path}.{key}"), before.remove(&key), Some(after), changes);
            }
            for (key, before) in before {
                compare(&format!("{path}.{key}"), Some(before), None, changes);
            }
        }
        (Some(Value::Array(before)), Some(Value::Array(after))) => {
            let same = Same::of(before.iter(), after.iter(), |before, after| before == after);
            let before = before.into_iter().map(Some);
            compare_lists(path, &same, before, after.into_iter().map(Some), changes);
        }
        (before, after) => changes.push(HookChange { path: path.to_owned(), before, after }),
    }
}

/// Adds the differences of two lists, without their equal ends.
pub(super) fn compare_lists(
    path: &str,
    same: &Same,
    before: impl ExactSizeIterator<Item = Option<Value>>,
    after: impl ExactSizeIterator<Item = Option<Value>>,
    changes: &mut Vec<HookChange>,
) {
    let Same { start, end } = *same;
    let (most_before, most_after) = (before.len() - start - end, after.len() - start - end);
    let mut before = before.skip(start).take(most_before);
    let mut after = after.skip(start).take(most_after);
    for index in start..start + most_before.max(most_after) {
        let (before, after) = (before.next().flatten(), after.next().flatten());
        compare(&format!("{path}[{index}]"), before, after, changes);
    }
}

/// How many items two lists share at their start and at their end.
pub(super) struct Same {
    start: usize,
    end: usize,
}

impl Same {
    pub(super) fn of<'a, T: 'a, I>(before: I, after: I, is_same: impl Fn(&T, &T) -> bool) -> Self
    where
        I: DoubleEndedIterator<Item = &'a T> + ExactSizeIterator + Clone,
    {
        let pairs = before.clone().zip(after.clone());
        let start = pairs.take_while(|(before, after)| is_same(before, after)).count();
        let ends = before.skip(start).rev().zip(after.skip(start).rev());
        let end = ends.take_while(|(before, after)| is_same(before, after)).count();
        Self { start, end }
    }
    /// Returns whether these are all items of a list of this length.
    pub(super) fn is_all(&self, length: usize) -> bool {
        self.start + self.end == length
    }
}
