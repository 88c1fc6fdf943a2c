//! The functions of expressions.

use std::rc::Rc;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Zoned};

use crate::expression::fault::{Fault, Steps};
use crate::expression::glob::GlobOf;
use crate::expression::types::Type;
use crate::expression::value::{List, Value};
use crate::expression::{host, money};

/// A function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Size,
    Contains,
    StartsWith,
    EndsWith,
    LowerAscii,
    UpperAscii,
    Int,
    Uint,
    Double,
    String,
    Bool,
    Timestamp,
    Duration,
    Part(Part),
    Host,
    Amount,
    Path,
    Split,
    GlobOf,
}

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

/// How a function is called.
pub(crate) struct Signature {
    pub(crate) name: &'static str,
    pub(crate) function: Function,
    pub(crate) form: Form,
    /// The types of the arguments, that of a method's value first.
    pub(crate) takes: &'static [&'static [Type]],
    /// How many of them may be left out.
    pub(crate) optional: usize,
    pub(crate) returns: Type,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Function,
    Method,
    Both,
}

const TEXT: &[Type] = &[Type::Text];
const TIME: &[Type] = &[Type::Time];
const TIME_OR_SPAN: &[Type] = &[Type::Time, Type::Span];

const fn signature(
    name: &'static str,
    function: Function,
    form: Form,
    takes: &'static [&'static [Type]],
    returns: Type,
) -> Signature {
    Signature { name, function, form, takes, optional: 0, returns }
}

/// A method of times that takes a zone.
const fn part(name: &'static str, part: Part, of: &'static [&'static [Type]]) -> Signature {
    let (function, form) = (Function::Part(part), Form::Method);
    Signature { name, function, form, takes: of, optional: 1, returns: Type::Int }
}

/// All functions but those that take patterns, and the loops.
pub(crate) const SIGNATURES: [Signature; 27] = {
    use Form::{Both, Function as Global, Method};
    use Type::{Bool, Double, Int, List, Map, Span, Text, Time, Uint};
    [
        signature("size", Function::Size, Both, &[&[Text, List, Map]], Int),
        signature("contains", Function::Contains, Method, &[TEXT, TEXT], Bool),
        signature("startsWith", Function::StartsWith, Method, &[TEXT, TEXT], Bool),
        signature("endsWith", Function::EndsWith, Method, &[TEXT, TEXT], Bool),
        signature("lowerAscii", Function::LowerAscii, Method, &[TEXT], Text),
        signature("upperAscii", Function::UpperAscii, Method, &[TEXT], Text),
        signature("int", Function::Int, Global, &[&[Int, Uint, Double, Text, Time]], Int),
        signature("uint", Function::Uint, Global, &[&[Int, Uint, Double, Text]], Uint),
        signature("double", Function::Double, Global, &[&[Int, Uint, Double, Text]], Double),
        signature(
            "string",
            Function::String,
            Global,
            &[&[Int, Uint, Double, Text, Bool, Time, Span]],
            Text,
        ),
        signature("bool", Function::Bool, Global, &[&[Bool, Text]], Bool),
        signature("timestamp", Function::Timestamp, Global, &[&[Text, Time, Int]], Time),
        signature("duration", Function::Duration, Global, &[&[Text, Span]], Span),
        part("getFullYear", Part::FullYear, &[TIME, TEXT]),
        part("getMonth", Part::Month, &[TIME, TEXT]),
        part("getDate", Part::Date, &[TIME, TEXT]),
        part("getDayOfMonth", Part::DayOfMonth, &[TIME, TEXT]),
        part("getDayOfWeek", Part::DayOfWeek, &[TIME, TEXT]),
        part("getDayOfYear", Part::DayOfYear, &[TIME, TEXT]),
        part("getHours", Part::Hours, &[TIME_OR_SPAN, TEXT]),
        part("getMinutes", Part::Minutes, &[TIME_OR_SPAN, TEXT]),
        part("getSeconds", Part::Seconds, &[TIME_OR_SPAN, TEXT]),
        part("getMilliseconds", Part::Milliseconds, &[TIME_OR_SPAN, TEXT]),
        signature("split", Function::Split, Method, &[TEXT, TEXT], List),
        signature("path", Function::Path, Global, &[TEXT], Text),
        signature("host", Function::Host, Global, &[TEXT], Text),
        signature("amount", Function::Amount, Global, &[&[Text, Int, Uint, Double]], Double),
    ]
};

impl Function {
    /// Calls the function with arguments of any types.
    pub(crate) fn call<'a>(self, args: &[Value<'a>], steps: &Steps) -> Result<Value<'a>, Fault> {
        let size: usize = args.iter().map(Value::size).sum();
        steps.read(size)?;
        match (self, args) {
            (Self::Size, [value]) => size_of(value),
            (Self::Contains, [Value::Text(text), Value::Text(part)]) => {
                Ok(Value::Bool(text.as_str().contains(part.as_str())))
            }
            (Self::StartsWith, [Value::Text(text), Value::Text(part)]) => {
                Ok(Value::Bool(text.as_str().starts_with(part.as_str())))
            }
            (Self::EndsWith, [Value::Text(text), Value::Text(part)]) => {
                Ok(Value::Bool(text.as_str().ends_with(part.as_str())))
            }
            (Self::LowerAscii, [Value::Text(text)]) => {
                steps.copy(size)?;
                Ok(Value::made(text.as_str().to_ascii_lowercase()))
            }
            (Self::UpperAscii, [Value::Text(text)]) => {
                steps.copy(size)?;
                Ok(Value::made(text.as_str().to_ascii_uppercase()))
            }
            (Self::Int, [value]) => int_of(value).map(Value::Int),
            (Self::Uint, [value]) => uint_of(value).map(Value::Uint),
            (Self::String, [value]) => string_of(value),
            (Self::Bool, [Value::Bool(it)]) => Ok(Value::Bool(*it)),
            (Self::Bool, [Value::Text(text)]) => match text.as_str() {
                "true" => Ok(Value::Bool(true)),
                "false" => Ok(Value::Bool(false)),
                _ => Err(Fault::new("`bool` expects `true` or `false`")),
            },
            (Self::Timestamp, [value]) => timestamp_of(value),
            (Self::Duration, [value]) => duration_of(value),
            (Self::Part(part), [value, zone @ ..]) => {
                // A zone is looked up.
                steps.take(zone.len() * 100)?;
                part.of(value, zone.first())
            }
            (Self::Split, [Value::Text(text), Value::Text(separator)]) => {
                steps.copy(size)?;
                let parts = text.as_str().split(separator.as_str()).map(|part| {
                    steps.take(1)?;
                    Ok(Value::made(part))
                });
                let parts: Result<Vec<_>, Fault> = parts.collect();
                parts.map(Value::list)
            }
            (Self::Path, [Value::Text(text)]) => {
                steps.copy(size)?;
                path_of(text.as_str()).map(Value::made)
            }
            (Self::Host, [Value::Text(text)]) => {
                steps.parse(size)?;
                let host = host::host_of(text.as_str()).map(Value::made);
                host.ok_or(Fault::new("`host` expects a URL with a host"))
            }
            (Self::Amount, [Value::Text(text)]) => {
                steps.parse(size)?;
                money::amount_of(text.as_str()).map(Value::Double).map_err(Fault::new)
            }
            (Self::Amount | Self::Double, [value]) => double_of(value).map(Value::Double),
            (Self::GlobOf, [Value::Text(text), Value::Text(pattern)]) => {
                steps.take(GlobOf::STEPS)?;
                steps.parse(size)?;
                GlobOf::is_match(pattern.as_str(), text.as_str()).map(Value::Bool)
            }
            _ => Err(self.no_overload(args)),
        }
    }

    fn no_overload(self, args: &[Value<'_>]) -> Fault {
        let name = SIGNATURES.iter().find(|it| it.function == self).map_or("glob", |it| it.name);
        let types: Vec<_> = args.iter().map(Value::type_name).collect();
        Fault::new(format!("`{name}` does not take {}", types.join(", ")))
    }
}

fn size_of<'a>(value: &Value<'_>) -> Result<Value<'a>, Fault> {
    let size = match value {
        Value::Text(text) => text.as_str().chars().count(),
        Value::List(list) => list.len(),
        Value::Map(map) => map.len(),
        _ => return Err(Function::Size.no_overload(std::slice::from_ref(value))),
    };
    Ok(Value::Int(i64::try_from(size).unwrap_or(i64::MAX)))
}

const OUT_OF_RANGE: Fault = Fault::Failed(std::borrow::Cow::Borrowed("the number is out of range"));

fn int_of(value: &Value<'_>) -> Result<i64, Fault> {
    match value {
        Value::Int(number) => Ok(*number),
        Value::Uint(number) => i64::try_from(*number).map_err(|_| OUT_OF_RANGE),
        Value::Double(number) => {
            // Both are exact as doubles.
            let most = 2.0_f64.powi(63);
            let is_within = *number > -most && *number < most;
            #[expect(clippy::cast_possible_truncation, reason = "it is within the bounds")]
            if is_within { Ok(number.trunc() as i64) } else { Err(OUT_OF_RANGE) }
        }
        Value::Text(text) => {
            let number = text.as_str().parse();
            number.map_err(|_| Fault::new("`int` expects a whole number"))
        }
        Value::Time(time) => Ok(time.timestamp().as_second()),
        _ => Err(Function::Int.no_overload(std::slice::from_ref(value))),
    }
}

fn uint_of(value: &Value<'_>) -> Result<u64, Fault> {
    match value {
        Value::Uint(number) => Ok(*number),
        Value::Int(number) => u64::try_from(*number).map_err(|_| OUT_OF_RANGE),
        Value::Double(number) => {
            let is_within = *number > -1.0 && *number < 18_446_744_073_709_551_615.0;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "it is within the bounds"
            )]
            if is_within { Ok(number.trunc() as u64) } else { Err(OUT_OF_RANGE) }
        }
        Value::Text(text) => {
            let number = text.as_str().parse();
            number.map_err(|_| Fault::new("`uint` expects a whole number from 0"))
        }
        _ => Err(Function::Uint.no_overload(std::slice::from_ref(value))),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a double is what is asked for")]
fn double_of(value: &Value<'_>) -> Result<f64, Fault> {
    match value {
        Value::Double(number) => Ok(*number),
        Value::Int(number) => Ok(*number as f64),
        Value::Uint(number) => Ok(*number as f64),
        Value::Text(text) => {
            let number = text.as_str().parse().ok().filter(|it: &f64| it.is_finite());
            number.ok_or(Fault::new("`double` expects a number"))
        }
        _ => Err(Function::Double.no_overload(std::slice::from_ref(value))),
    }
}

fn string_of<'a>(value: &Value<'a>) -> Result<Value<'a>, Fault> {
    Ok(Value::made(match value {
        Value::Text(_) => return Ok(value.clone()),
        Value::Bool(it) => it.to_string(),
        Value::Int(it) => it.to_string(),
        Value::Uint(it) => it.to_string(),
        Value::Double(it) => it.to_string(),
        Value::Time(it) => it.timestamp().to_string(),
        Value::Span(it) => format!("{}s", it.as_secs_f64()),
        _ => return Err(Function::String.no_overload(std::slice::from_ref(value))),
    }))
}

fn timestamp_of<'a>(value: &Value<'a>) -> Result<Value<'a>, Fault> {
    let time = match value {
        Value::Time(_) => return Ok(value.clone()),
        Value::Int(seconds) => Timestamp::from_second(*seconds).ok(),
        Value::Text(text) => text.as_str().parse().ok(),
        _ => return Err(Function::Timestamp.no_overload(std::slice::from_ref(value))),
    };
    let time =
        time.ok_or(Fault::new("`timestamp` expects a time such as `2030-01-31T08:00:00Z`"))?;
    Ok(Value::Time(Rc::new(time.to_zoned(TimeZone::UTC))))
}

/// Reads durations such as `90s`, `1h30m` and `1.5h`.
pub(crate) fn span_of(text: &str) -> Option<SignedDuration> {
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

fn duration_of<'a>(value: &Value<'a>) -> Result<Value<'a>, Fault> {
    match value {
        Value::Span(_) => Ok(value.clone()),
        Value::Text(text) => span_of(text.as_str())
            .map(Value::Span)
            .ok_or(Fault::new("`duration` expects a time such as `90s` or `1h30m`")),
        _ => Err(Function::Duration.no_overload(std::slice::from_ref(value))),
    }
}

impl Part {
    fn of<'a>(self, value: &Value<'a>, zone: Option<&Value<'a>>) -> Result<Value<'a>, Fault> {
        let part = match (value, zone) {
            (Value::Time(time), None) => self.of_time(time),
            (Value::Time(time), Some(Value::Text(zone))) => {
                let zone =
                    zone_of(zone.as_str()).ok_or(Fault::new("the time zone is not known"))?;
                self.of_time(&time.with_time_zone(zone))
            }
            (Value::Span(span), None) => self.of_span(span),
            _ => return Err(Function::Part(self).no_overload(std::slice::from_ref(value))),
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

/// Returns a path without `.`, `..` and empty names in it. Links are not followed.
fn path_of(text: &str) -> Result<String, Fault> {
    const EXPECTED: &str = "`path` expects a path from the root, such as `/srv/data`";
    let rest = text.strip_prefix('/').ok_or(Fault::new(EXPECTED))?;
    if text.contains(['\\', '\0']) {
        return Err(Fault::new(EXPECTED));
    }
    let mut names = Vec::new();
    for name in rest.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                names.pop().ok_or(Fault::new("the path leads out of the root"))?;
            }
            name => names.push(name),
        }
    }
    Ok(format!("/{}", names.join("/")))
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

/// Returns whether an item is in a list, or a key in a map.
pub(crate) fn is_in(item: &Value<'_>, list: &Value<'_>, steps: &Steps) -> Result<bool, Fault> {
    match list {
        Value::List(List::Json(list)) => {
            // The most common list: texts.
            if let Value::Text(text) = item {
                steps.take(list.len() / 8)?;
                return Ok(list.iter().any(|it| it.as_str() == Some(text.as_str())));
            }
            any(list.iter().map(Value::of_json), item, steps)
        }
        Value::List(List::Made(list)) => any(list.iter().cloned(), item, steps),
        Value::Map(map) => Ok(map.get(item).is_some()),
        _ => Err(Fault::new(format!("`in` does not take {}", list.type_name()))),
    }
}

fn any<'a>(
    mut list: impl Iterator<Item = Value<'a>>,
    item: &Value<'_>,
    steps: &Steps,
) -> Result<bool, Fault> {
    list.try_fold(false, |found, it| Ok(found || it.equals(item, steps)?))
}
