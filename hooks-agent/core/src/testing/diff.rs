//! Differences of values, by the lines of their debug output.

use std::fmt::{Debug, Write};

/// Returns the lines of two values: `-` before those of the first alone, `+` before those of the
/// second alone.
pub(super) fn diff_values(old: &impl Debug, new: &impl Debug) -> String {
    diff_lines(&format!("{old:#?}"), &format!("{new:#?}"))
}

/// Returns the lines of two texts, marked as in [`diff_values`].
pub(super) fn diff_lines(old: &str, new: &str) -> String {
    let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    let common = common_lengths(&old, &new);
    let (mut left, mut right) = (0, 0);
    let mut out = String::new();
    while left < old.len() || right < new.len() {
        let (mark, line) = match (old.get(left), new.get(right)) {
            (Some(line), Some(other)) if line == other => {
                (left, right) = (left + 1, right + 1);
                (' ', line)
            }
            (Some(line), other)
                if other.is_none() || common[left + 1][right] >= common[left][right + 1] =>
            {
                left += 1;
                ('-', line)
            }
            (_, Some(line)) => {
                right += 1;
                ('+', line)
            }
            _ => break,
        };
        // Writing to a string does not fail.
        let _ = writeln!(out, "{mark} {line}");
    }
    out
}

/// Returns, for each pair of positions, how many lines from there on both texts have in common.
fn common_lengths(old: &[&str], new: &[&str]) -> Vec<Vec<usize>> {
    let mut common = vec![vec![0; new.len() + 1]; old.len() + 1];
    for left in (0..old.len()).rev() {
        for right in (0..new.len()).rev() {
            common[left][right] = if old[left] == new[right] {
                common[left + 1][right + 1] + 1
            } else {
                common[left + 1][right].max(common[left][right + 1])
            };
        }
    }
    common
}
