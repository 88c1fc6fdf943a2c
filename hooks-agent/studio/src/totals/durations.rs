//! Ranges of durations: how many are in each is enough for percentiles, and adds up.

/// How many ranges there are from one power of two to the next.
const PARTS: u64 = 16;

/// Returns the range of a duration. Durations below 32 are each their own.
pub(super) fn range_of(duration: u64) -> u16 {
    let power = duration.max(1).ilog2().saturating_sub(4);
    let part = duration >> power;
    // Less than 61 powers of 16 parts.
    u16::try_from(u64::from(power) * PARTS + part).unwrap_or(u16::MAX)
}

/// Returns the middle of a range.
fn middle(range: u16) -> u64 {
    let range = u64::from(range);
    if range < 2 * PARTS {
        return range;
    }
    let power = (range / PARTS - 1).min(59);
    let part = range % PARTS + PARTS;
    let first = part << power;
    first + (1 << power) / 2
}

/// Returns what half, and 95 of a hundred, do not exceed, of the numbers of durations by range; nothing if there is none.
pub(super) fn percentiles(ranges: &[(u16, u64)]) -> (Option<u64>, Option<u64>) {
    let count: u64 = ranges.iter().map(|(_, count)| count).sum();
    let at = |percent: u64| {
        let place = (count * percent).div_ceil(100).max(1);
        let mut before = 0;
        let found = ranges.iter().find(|(_, count)| {
            before += count;
            before >= place
        });
        found.map(|(range, _)| middle(*range))
    };
    (at(50), at(95))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{middle, percentiles, range_of};

    fn of(durations: &[u64]) -> (Option<u64>, Option<u64>) {
        let mut ranges = BTreeMap::new();
        for duration in durations {
            *ranges.entry(range_of(*duration)).or_default() += 1;
        }
        percentiles(&ranges.into_iter().collect::<Vec<_>>())
    }

    #[test]
    fn percentiles_of_short_durations_are_exact() {
        assert_eq!(of(&[]), (None, None));
        assert_eq!(of(&[7]), (Some(7), Some(7)));
        assert_eq!(of(&[9, 1]), (Some(1), Some(9)));
        assert_eq!(of(&[0, 0, 31]), (Some(0), Some(31)));
    }

    #[test]
    fn the_middle_of_a_range_is_near_each_of_its_durations() {
        let near = |duration: u64| {
            let middle = middle(range_of(duration));
            assert!(middle.abs_diff(duration) * 32 <= duration, "{duration}: {middle}");
        };
        let mut last = 0;
        for duration in 0..10_000 {
            near(duration);
            let range = range_of(duration);
            assert!(range == last || range == last + 1, "{duration}");
            last = range;
        }
        for power in 14..54 {
            near((1 << power) + power);
        }
        assert!(range_of(u64::MAX) > range_of(u64::MAX / 2));
        assert!(middle(u16::MAX) > 0);
    }
}
