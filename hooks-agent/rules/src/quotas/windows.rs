//! The windows of time of quotas.

use hooks_agent_core::store::Window;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan, Zoned};

use crate::quotas::quota::Within;

/// Returns the window of a quota around now. The clock of a store may be another one than that of the process: it
/// finds its day or month among those around now.
pub(super) fn window_of(within: Within, zone: &TimeZone, now: Timestamp) -> Window {
    let today = now.to_zoned(zone.clone()).date();
    let first = today.first_of_month();
    let begin = |date: Date| date.to_zoned(zone.clone()).and_then(|it| it.start_of_day()).ok();
    let day = |days: i64| begin(today.checked_add(days.days()).ok()?);
    let month = |months: i64| begin(first.checked_add(months.months()).ok()?);
    match within {
        Within::Time(length) => Window::Sliding(length),
        Within::Day => since((-2..=2).filter_map(day)),
        Within::Month => since((-2..=2).filter_map(month)),
    }
}

fn since(starts: impl Iterator<Item = Zoned>) -> Window {
    let millis = |it: Zoned| u64::try_from(it.timestamp().as_millisecond()).ok();
    Window::Since(starts.filter_map(millis).collect())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{TimeZone, Timestamp, Window, Within, window_of};

    fn start(within: Within, zone: &str, now: &str) -> String {
        let zone = TimeZone::get(zone).unwrap();
        let now: Timestamp = now.parse().unwrap();
        let millis = u64::try_from(now.as_millisecond()).unwrap();
        let start = window_of(within, &zone, now).start(millis);
        Timestamp::from_millisecond(i64::try_from(start).unwrap()).unwrap().to_string()
    }

    #[test]
    fn days_and_months_begin_in_their_zone_over_clock_changes() {
        let day = |now| start(Within::Day, "Europe/Berlin", now);
        assert_eq!(day("2030-01-31T22:59:59Z"), "2030-01-30T23:00:00Z");
        assert_eq!(day("2030-01-31T23:00:00Z"), "2030-01-31T23:00:00Z");
        // The clock goes forward on the 31st of March, and back on the 27th of October.
        assert_eq!(day("2030-03-31T21:59:59Z"), "2030-03-30T23:00:00Z");
        assert_eq!(day("2030-03-31T22:00:00Z"), "2030-03-31T22:00:00Z");
        assert_eq!(day("2030-10-27T22:59:59Z"), "2030-10-26T22:00:00Z");
        let month = |now| start(Within::Month, "Europe/Berlin", now);
        assert_eq!(month("2030-03-31T21:59:59Z"), "2030-02-28T23:00:00Z");
        assert_eq!(month("2030-03-31T22:00:00Z"), "2030-03-31T22:00:00Z");
        // A day without midnight begins at one.
        assert_eq!(
            start(Within::Day, "America/Sao_Paulo", "2018-11-04T12:00:00Z"),
            "2018-11-04T03:00:00Z"
        );
        assert_eq!(
            window_of(Within::Time(Duration::from_mins(1)), &TimeZone::UTC, Timestamp::UNIX_EPOCH),
            Window::Sliding(Duration::from_mins(1))
        );
    }
}
