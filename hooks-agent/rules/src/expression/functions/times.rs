//! Times, durations and zones.

use std::rc::Rc;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Zoned};

use crate::expression::values::fault::Fault;
use crate::expression::values::value::Value;

/// A part of a time or of a duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    FullYear,
    Month,
    Date,
    DayOfMonth,
    DayOfWeek,
    DayOfYear,
    Hours,
    Minutes,
    Seconds,
    Milliseconds,
}

pub(crate) fn timestamp_of<'a>(value: &Value<'a>) -> Result<Value<'a>, Fault> {
    let time = match value {
        Value::Time(_) => return Ok(value.clone()),
        Value::Int(seconds) => Timestamp::from_second(*seconds).ok(),
        Value::Text(text) => text.as_str().parse().ok(),
        _ => return Err(value.not_taken_by("timestamp")),
    };
    let time =
        time.ok_or(Fault::new("`timestamp` expects a time such as `2030-01-31T08:00:00Z`"))?;
    Ok(Value::Time(Rc::new(time.to_zoned(TimeZone::UTC))))
}

/// Reads durations such as `90s`, `1h30m` and `1.5h`.
fn span_of(text: &str) -> Option<SignedDuration> {
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text),
    };
    let mut nanoseconds = 0.0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|it: char| !it.is_ascii_digit() && it != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let units = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9), ("m", 6e10), ("h", 3.6e12)];
        let (unit, factor) = units.into_iter().find(|(unit, _)| rest.starts_with(unit))?;
        rest = &rest[unit.len()..];
        nanoseconds += number * factor;
    }
    SignedDuration::try_from_secs_f64(sign * nanoseconds / 1e9).ok()
}

pub(crate) fn duration_of<'a>(value: &Value<'a>) -> Result<Value<'a>, Fault> {
    match value {
        Value::Span(_) => Ok(value.clone()),
        Value::Text(text) => span_of(text.as_str())
            .map(Value::Span)
            .ok_or(Fault::new("`duration` expects a time such as `90s` or `1h30m`")),
        _ => Err(value.not_taken_by("duration")),
    }
}

impl Part {
    pub(crate) fn of<'a>(
        self,
        value: &Value<'a>,
        zone: Option<&Value<'a>>,
    ) -> Result<Value<'a>, Fault> {
        let part = match (value, zone) {
            (Value::Time(time), None) => self.of_time(time),
            (Value::Time(time), Some(Value::Text(zone))) => {
                let zone =
                    zone_of(zone.as_str()).ok_or(Fault::new("the time zone is not known"))?;
                self.of_time(&time.with_time_zone(zone))
            }
            (Value::Span(span), None) => self.of_span(span),
            _ => return Err(value.not_taken_by("a part of a time")),
        };
        Ok(Value::Int(part))
    }

    fn of_time(self, time: &Zoned) -> i64 {
        match self {
            Self::FullYear => time.year().into(),
            Self::Month => i64::from(time.month()) - 1,
            Self::Date => time.day().into(),
            Self::DayOfMonth => i64::from(time.day()) - 1,
            Self::DayOfWeek => time.weekday().to_sunday_zero_offset().into(),
            Self::DayOfYear => i64::from(time.day_of_year()) - 1,
            Self::Hours => time.hour().into(),
            Self::Minutes => time.minute().into(),
            Self::Seconds => time.second().into(),
            Self::Milliseconds => time.millisecond().into(),
        }
    }

    fn of_span(self, span: &SignedDuration) -> i64 {
        match self {
            Self::Hours => span.as_hours(),
            Self::Minutes => span.as_mins(),
            Self::Milliseconds => i64::from(span.subsec_millis()),
            _ => span.as_secs(),
        }
    }
}

/// Returns a time zone by its name or its offset, such as `Europe/Berlin` or `+02:00`.
pub(crate) fn zone_of(name: &str) -> Option<TimeZone> {
    let offset = |text: &str| -> Option<TimeZone> {
        let (sign, rest) = match text.as_bytes().first()? {
            b'-' => (-1, &text[1..]),
            b'+' => (1, &text[1..]),
            _ => (1, text),
        };
        let (hours, minutes) = rest.split_once(':')?;
        let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
        if !(0..24).contains(&hours) || !(0..60).contains(&minutes) {
            return None;
        }
        let seconds = sign * (hours * 3600 + minutes * 60);
        Some(TimeZone::fixed(jiff::tz::Offset::from_seconds(seconds).ok()?))
    };
    offset(name).or_else(|| TimeZone::get(name).ok())
}
